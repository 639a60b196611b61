// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/planner_input.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <variant>
#include <vector>

#include <torch/types.h>

#include "paceline/base/clock.h"
#include "paceline/cluster/link_spec.h"
#include "paceline/cluster/profile_file.h"
#include "paceline/measure/embedding_case.h"
#include "paceline/measure/statistics.h"
#include "paceline/networks/batch.h"
#include "paceline/networks/network.h"
#include "paceline/networks/precision.h"
#include "paceline/runtime/shape.h"
#include "paceline/stats/line_fit.h"

namespace paceline::measure {
namespace {

constexpr int kWarmupRounds = 2, kRounds = 5;

using Works = std::vector<engines::Channel::Work>;

/// The median over the rounds of the slowest rank's time, seconds.
double seconds_of(engines::Channel& channel,
                  at::Device device,
                  const engines::PeerWait& peers,
                  const std::function<Works()>& run) {
  std::vector<double> seconds;
  for (int round = 0; round < kWarmupRounds + kRounds; ++round) {
    peers.wait_for(channel.barrier());
    const std::int64_t began = steady_ns();
    for (const engines::Channel::Work& work : run()) {
      peers.wait_for(work);
    }
    if (!device.is_cpu()) {
      c10::impl::VirtualGuardImpl(device.type())
          .synchronizeDevice(device.index());
    }
    if (round >= kWarmupRounds) {
      seconds.push_back(static_cast<double>(steady_ns() - began) * 1e-9);
    }
  }
  at::Tensor all = at::tensor(seconds, at::kDouble).to(device);
  peers.wait_for(channel.all_reduce(all, plan::Reduce::kMax));
  all = all.cpu();
  return all.median().item<double>();
}

plan::AlphaBetaLine line_through(const std::vector<stats::SizedTime>& points) {
  plan::AlphaBetaLine line;
  for (const stats::LinePiece& piece : stats::fit_line(points).pieces) {
    line.pieces.push_back(
        {.from_bytes = static_cast<std::int64_t>(piece.from_bytes),
         .alpha = plan::picoseconds_of(piece.alpha_s),
         .beta_ps_per_byte = piece.beta_s_per_byte * 1e12});
  }
  return line;
}

}  // namespace

plan::AlphaBeta measure_alpha_beta(engines::Channel& channel,
                                   at::Device device,
                                   std::int64_t largest_bytes,
                                   const std::string& origin,
                                   const engines::PeerWait& peers) {
  const auto world = static_cast<std::int64_t>(channel.world());
  const int next = static_cast<int>((channel.rank() + 1) % world);
  const int previous = static_cast<int>((channel.rank() + world - 1) % world);
  std::vector<stats::SizedTime> reduce, scatter, gather, message;
  constexpr std::int64_t kSmallest = 4'096;
  for (std::int64_t bytes = kSmallest;; bytes *= 8) {
    const std::int64_t size =
        std::min(bytes, std::max(largest_bytes, 2 * kSmallest));
    const std::int64_t shard = (size / 4 + world - 1) / world;
    const at::Tensor whole =
        at::zeros({shard * world}, at::TensorOptions(device));
    const at::Tensor own = at::zeros({shard}, at::TensorOptions(device));
    const auto payload = static_cast<double>(whole.numel() * 4);
    reduce.push_back({payload, seconds_of(channel, device, peers, [&] {
                        return Works{
                            channel.all_reduce(whole, plan::Reduce::kSum)};
                      })});
    scatter.push_back(
        {payload, seconds_of(channel, device, peers, [&] {
           return Works{channel.reduce_scatter(whole, own, plan::Reduce::kSum)};
         })});
    gather.push_back({payload, seconds_of(channel, device, peers, [&] {
                        return Works{channel.all_gather(own, whole)};
                      })});
    const at::Tensor received = at::empty_like(whole);
    message.push_back(
        {payload, seconds_of(channel, device, peers, [&] {
           return channel.exchange({{whole, next}}, {{received, previous}});
         })});
    if (size < bytes || size >= largest_bytes) {
      break;
    }
  }
  return {.origin = origin,
          .world = static_cast<plan::Rank>(world),
          .all_reduce = line_through(reduce),
          .reduce_scatter = line_through(scatter),
          .all_gather = line_through(gather),
          .message = line_through(message)};
}

plan::LayerProfile share_profile(engines::Channel& channel,
                                 plan::LayerProfile profile,
                                 at::Device device,
                                 const engines::PeerWait& peers) {
  for (std::vector<plan::Picoseconds>* times :
       {&profile.forward, &profile.backward}) {
    const at::Tensor mine = at::tensor(*times, at::kLong).to(device);
    peers.wait_for(channel.broadcast(mine, 0));
    const at::Tensor shared = mine.cpu();
    const auto* begin = shared.const_data_ptr<std::int64_t>();
    times->assign(begin, begin + shared.numel());
  }
  return profile;
}

namespace {

runtime::TracedNetwork traced_for(const records::Configuration& configuration) {
  const auto& info = networks::find_network(configuration.model);
  const networks::NetworkOptions options = network_options(configuration);
  const auto dtype =
      networks::parameter_dtype(networks::parse_precision(configuration.dtype));
  auto network = networks::make_network(info, options, configuration.seed);
  networks::cast_network(*network, dtype);
  network->train();
  const networks::Batch two =
      embedding_job_of(configuration)
          ? networks::Batch{.input = at::zeros(
                                {2,
                                 std::get<networks::ImageSample>(info.sample)
                                     .channels},
                                dtype),
                            .target = at::zeros({2}, at::kLong)}
          : networks::make_batch(
                info, {.batch_size = 2, .dtype = dtype, .network = options});
  return runtime::trace(std::move(network), configuration.model, two);
}

}  // namespace

plan::ModelShape shape_of(const records::Configuration& configuration) {
  return configuration.replay.empty()
             ? traced_for(configuration).shape
             : cluster::read_profile(configuration.replay).model;
}

std::unique_ptr<plan::Planner> with_statistics_of(
    const records::Configuration& configuration,
    std::unique_ptr<plan::Planner> parameters) {
  return configuration.average_buffers == 0
             ? std::move(parameters)
             : with_statistics(configuration,
                               traced_for(configuration),
                               std::move(parameters));
}

plan::PlanInput plan_input_of(const records::Configuration& configuration,
                              plan::ModelShape shape) {
  const at::Device device(configuration.device);
  return {.model = std::move(shape),
          .optimizer = predict::optimizer_of(configuration),
          .world = configuration.ranks,
          .local_world = configuration.ranks_per_host,
          .micro_batches = configuration.accumulate,
          .loss_scaling = configuration.replay.empty() &&
                          networks::needs_loss_scaling(
                              networks::parse_precision(configuration.dtype),
                              device.type()),
          .clip_norm = configuration.clip_norm};
}

void add_known_times(const records::Configuration& configuration,
                     plan::PlanInput& input) {
  if (!input.profile && !configuration.replay.empty()) {
    input.profile = cluster::read_profile(configuration.replay).profile;
  }
  if (!input.alpha_beta && !configuration.link.empty()) {
    input.alpha_beta = cluster::alpha_beta_of(
        cluster::parse_link("--link", configuration.link), input.world);
  }
}

}  // namespace paceline::measure
