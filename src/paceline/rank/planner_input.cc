// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/planner_input.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <torch/types.h>

#include "paceline/cluster/link_spec.h"
#include "paceline/cluster/profile_file.h"
#include "paceline/networks/precision.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/rank/comm_case.h"
#include "paceline/rank/embedding_case.h"
#include "paceline/rank/statistics.h"
#include "paceline/runtime/shape.h"
#include "paceline/stats/line_fit.h"

namespace paceline::rank {
namespace {

/// Returns the time of an operation of `bytes` bytes: in each of several rounds that of the slowest
/// rank, and of these the median.
stats::SizedTime median_time_of(engines::Channel& channel, std::string_view operation,
                                std::int64_t bytes, at::Device device,
                                const engines::PeerWait& peers) {
  const CommSamples samples = measure_operation(
      channel, operation, bytes,
      {.warmup = 2, .measured = 5, .device = device.str(), .peers = &peers, .checks = false});
  at::Tensor all = at::tensor(samples.duration_ns, at::kDouble).to(device);
  peers.wait_for(channel.all_reduce(all, plan::Reduce::kMax));
  all = all.cpu();
  return {.bytes = static_cast<double>(samples.bytes),
          .seconds = all.median().item<double>() * 1e-9};
}

}  // namespace

plan::AlphaBeta measure_alpha_beta(engines::Channel& channel, at::Device device,
                                   std::int64_t largest_bytes, const std::string& origin,
                                   const engines::PeerWait& peers) {
  const auto line = [&](std::string_view operation) {
    constexpr std::int64_t kSmallest = 4'096;
    const std::int64_t last = std::max(largest_bytes, 2 * kSmallest);
    std::vector<stats::SizedTime> points;
    for (std::int64_t bytes = kSmallest;; bytes *= 8) {
      const std::int64_t size = std::min(bytes, last);
      points.push_back(median_time_of(channel, operation, size, device, peers));
      if (size == last) {
        return plan::alpha_beta_time_of(stats::fit_line(points).pieces);
      }
    }
  };
  return {.origin = origin,
          .world = channel.world(),
          .all_reduce = line(plan::name_of(plan::Pattern::kAllReduce)),
          .reduce_scatter = line(plan::name_of(plan::Pattern::kReduceScatter)),
          .all_gather = line(plan::name_of(plan::Pattern::kAllGather)),
          .message = line(plan::kMessageOperation)};
}

plan::LayerProfile share_profile(engines::Channel& channel, plan::LayerProfile profile,
                                 at::Device device, const engines::PeerWait& peers) {
  for (std::vector<plan::Picoseconds>* times : {&profile.forward, &profile.backward}) {
    const at::Tensor mine = at::tensor(*times, at::kLong).to(device);
    peers.wait_for(channel.broadcast(mine, 0));
    const at::Tensor shared = mine.cpu();
    const auto* begin = shared.const_data_ptr<std::int64_t>();
    times->assign(begin, begin + shared.numel());
  }
  return profile;
}

std::shared_ptr<networks::Network> built_network(const cases::Case& configuration,
                                                 at::Device device) {
  auto network = networks::make_network(networks::find_network(configuration.model),
                                        network_options(configuration), configuration.seed);
  network->to(device);
  networks::cast_network(*network,
                         networks::parameter_dtype(networks::parse_precision(configuration.dtype)));
  if (configuration.channels_last) {
    networks::to_channels_last(*network);
  }
  network->train();
  return network;
}

namespace {

runtime::TracedNetwork traced_for(const cases::Case& configuration) {
  const auto& info = networks::find_network(configuration.model);
  const networks::NetworkOptions options = network_options(configuration);
  const auto dtype = networks::parameter_dtype(networks::parse_precision(configuration.dtype));
  const auto network = built_network(configuration, at::kCPU);
  const networks::Batch two =
      embedding_job_of(configuration)
          ? networks::Batch{.input = at::zeros(
                                {2, std::get<networks::ImageSample>(info.sample).channels}, dtype),
                            .target = at::zeros({2}, at::kLong)}
          : networks::make_batch(info, {.batch_size = 2, .dtype = dtype, .network = options});
  return runtime::trace(network, configuration.model, two);
}

}  // namespace

networks::Batch two_sample_batch(const networks::Batch& whole) {
  const auto twice = [](const at::Tensor& all) {
    return at::cat({all.narrow(0, 0, 1), all.narrow(0, 0, 1)});
  };
  return {twice(whole.input), twice(whole.target)};
}

plan::ModelShape shape_of(const cases::Case& configuration) {
  return configuration.replay.empty() ? traced_for(configuration).shape
                                      : cluster::read_profile(configuration.replay).model;
}

std::unique_ptr<plan::Planner> add_traced_statistics_averaging(
    const cases::Case& configuration, std::unique_ptr<plan::Planner> parameters) {
  return configuration.average_buffers == 0
             ? std::move(parameters)
             : add_statistics_averaging(configuration, traced_for(configuration),
                                        std::move(parameters));
}

plan::PlanInput plan_input_of(const cases::Case& configuration, plan::ModelShape shape) {
  const at::Device device(configuration.device);
  return {.model = std::move(shape),
          .optimizer = cases::optimizer_of(configuration),
          .world = configuration.ranks,
          .local_world = configuration.ranks_per_host,
          .micro_batches = configuration.accumulate,
          .loss_scaling = configuration.replay.empty() &&
                          networks::needs_loss_scaling(
                              networks::parse_precision(configuration.dtype), device.type()),
          .clip_norm = configuration.clip_norm};
}

void add_configured_times(const cases::Case& configuration, plan::PlanInput& input) {
  if (!input.profile && !configuration.replay.empty()) {
    input.profile = cluster::read_profile(configuration.replay).profile;
  }
  if (!input.alpha_beta && !configuration.link.empty()) {
    input.alpha_beta =
        cluster::alpha_beta_of(cluster::parse_link("--link", configuration.link), input.world);
  }
}

}  // namespace paceline::rank
