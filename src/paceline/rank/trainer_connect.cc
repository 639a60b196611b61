// SPDX-License-Identifier: Apache-2.0
// How a trainer connects to the other ranks, and how it makes the executor of its plan.
#include <algorithm>
#include <cmath>
#include <iterator>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <torch/types.h>

#include "paceline/base/process.h"
#include "paceline/base/scheduling.h"
#include "paceline/case/learning_rate.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/data_traits.h"
#include "paceline/plan/optimizer.h"
#include "paceline/plan/plan_input.h"
#include "paceline/plan/program.h"
#include "paceline/rank/agreement.h"
#include "paceline/rank/embedding_case.h"
#include "paceline/rank/parameter_slices.h"
#include "paceline/rank/trainer.h"

namespace paceline::rank {
namespace {

runtime::OptimizerSettings optimizer_settings_of(const cases::Case& c,
                                                 const plan::ModelShape& model,
                                                 const plan::Setup& setup) {
  runtime::OptimizerSettings rule{
      .name = c.optimizer,
      .momentum = c.momentum,
      .weight_decay = c.weight_decay,
      .rate_of_rows = [c](plan::Step step) { return cases::learning_rate_at(c, step); }};
  const plan::Optimizer& row = plan::optimizer_named(c.optimizer);
  if (row.decays_matrices_alone) {
    runtime::OptimizerSettings matrices = rule;
    matrices.layerwise = row.layerwise;
    const auto is_matrix = [&](std::size_t p) { return plan::is_matrix(model.parameters[p]); };
    matrices.slices =
        row.layerwise ? value_slices(setup, is_matrix) : padded_value_slices(setup, is_matrix);
    rule.weight_decay = 0;
    rule.groups.push_back(std::move(matrices));
  }
  return rule;
}

// Returns a function that fills gradients if no network computes them: with normally distributed
// numbers, which differ between ranks and are the same in each slot.
std::function<void(const at::Tensor& slot)> normal_gradient_writer(at::ScalarType type,
                                                                   at::Device device, int rank) {
  constexpr std::int64_t kNumbers = 1 << 20;
  const at::Tensor numbers =
      at::randn({kNumbers},
                at::make_generator<at::CPUGeneratorImpl>(static_cast<std::uint64_t>(rank) + 1),
                at::TensorOptions().dtype(type))
          .to(device);
  return [numbers](const at::Tensor& slot) {
    const at::NoGradGuard no_grad;
    for (const at::Tensor& part : slot.reshape({-1}).split(kNumbers)) {
      part.copy_(numbers.narrow(0, 0, part.numel()));
    }
  };
}

// Returns the time limit of a replay, in which everything takes `stretch` times as long.
std::chrono::nanoseconds scaled_time_limit(std::chrono::nanoseconds limit, double stretch) {
  return limit == execution::Deadlines::kNoLimit
             ? limit
             : std::chrono::nanoseconds(
                   std::llround(static_cast<double>(limit.count()) * std::max(1.0, stretch)));
}

// Returns whether this rank has a core beside those on which the network computes.
bool has_spare_core() { return std::ssize(allowed_cpus()) > at::get_num_threads(); }

}  // namespace

// Connects this rank to a communicator. Returns null if this rank is not a member.
std::unique_ptr<engines::Channel> Trainer::connect_to(const plan::Communicator& group) {
  return connect_to(group, *ranks_.engine, ranks_.device);
}

std::unique_ptr<engines::Channel> Trainer::connect_to(const plan::Communicator& group,
                                                      engines::Engine& engine, at::Device device) {
  const auto me = group.members.index_of_rank(ranks_.rank);
  if (!me) {
    return nullptr;
  }
  engines::ChannelSpec spec = ranks_.channel_named(group.name);
  spec.rank = static_cast<int>(*me);
  spec.world = static_cast<int>(group.members.size());
  spec.members = group.members;
  spec.device = device;
  spec.largest_operation = largest_operation_;
  return engine.connect(spec);
}

// A pick, the number of the op to issue next, is a value on the host.  So its channel is one of the
// CPU on every device.
std::unique_ptr<engines::Channel> Trainer::connect_for_picks(const plan::Communicator& group) {
  const plan::Communicator picks{.name = group.name + "/picks", .members = group.members};
  if (ranks_.device.is_cpu()) {
    return connect_to(picks);
  }
  if (pick_engine_ == nullptr) {
    pick_engine_ = engines::make_engine(plan::engine_for("cpu").name);
  }
  return connect_to(picks, *pick_engine_, at::kCPU);
}

void Trainer::connect() {
  largest_operation_ = plan::largest_payload(*planner_, input_, setup());
  const ScopedScheduling of_communication_threads(communication_scheduling());
  const std::vector<std::int64_t> digests = plan_digests(*planner_, input_);
  runtime::Channels by_id;
  for (const plan::Communicator& group : setup().communicators) {
    by_id.picks.push_back(nullptr);
    auto channel = connect_to(group);
    by_id.data.push_back(channel.get());
    if (channel == nullptr) {
      continue;
    }
    channel->count_from(configuration_.warmup);
    channels_.push_back(std::move(channel));
    if (group.order == plan::IssueOrder::kPriority) {
      pick_channels_.push_back(connect_for_picks(group));
      by_id.picks.back() = pick_channels_.back().get();
    }
    require_agreement(*channels_.back(), group, digests[by_id.data.size() - 1], ranks_.device,
                      ranks_.peers);
  }
  const auto has_ops_of_other_owners = [&](plan::Variant variant) {
    return plan::has_ops_of_other_owners(planner_->plan(input_, setup(), variant));
  };
  if (std::ranges::any_of(plan::variants_of(*planner_, input_), has_ops_of_other_owners)) {
    make_reducer();
  }
  make_executor(std::move(by_id));
}

void Trainer::make_reducer() {
  std::vector<std::string> names;
  std::vector<at::Tensor> parameters;
  for (std::size_t p = 0; p < traced_.parameters.size(); ++p) {
    if (is_shared(p)) {
      names.push_back(input_.model.parameters[p].name);
      parameters.push_back(traced_.parameters[p]);
    }
  }
  if (options_.dispatcher.record_spans) {
    channels_.front()->record_transfers();
  }
  reducer_ = std::make_unique<runtime::Reducer>(
      parameters, names, *channels_.front(), strategies::reducer_options(strategy_.whole.options));
}

void Trainer::make_executor(runtime::Channels by_id) {
  const double stretch = replay_ == nullptr ? 1 : configuration_.stretch;
  execution::Dispatcher::Options dispatcher = options_.dispatcher;
  dispatcher.timeout = scaled_time_limit(dispatcher.timeout, stretch);
  dispatcher.training_timeout = scaled_time_limit(dispatcher.training_timeout, stretch);
  dispatcher.spare_core = replay_ != nullptr || has_spare_core();
  executor_ = std::make_unique<runtime::Executor>(
      runtime::Executor::Components{
          .planner = *planner_,
          .input = input_,
          .traced = traced_,
          .memory = *memory_,
          .channels = std::move(by_id),
          .rule = options_.rule ? options_.rule(input_.model, setup())
                                : optimizer_settings_of(configuration_, input_.model, setup()),
          .device = ranks_.device,
          .engine = engines::find_engine(ranks_.engine->name()),
          .performer = reducer_.get()},
      runtime::Executor::Options{
          .dispatcher = std::move(dispatcher),
          .keep_gradients = keeps_gradients(configuration_) || replay_ != nullptr,
          .write_gradient = replay_ != nullptr && codes(*planner_, input_)
                                ? normal_gradient_writer(runtime::scalar_type(input_.model.dtype),
                                                         ranks_.device, ranks_.rank)
                                : nullptr,
          .kernel_time =
              [this](const plan::Kernel& kernel) {
                return replay_ == nullptr ? std::nullopt : replay_->kernel_time(kernel);
              },
          .seed = configuration_.seed,
          .stretch = configuration_.stretch});
}

void Trainer::start_from_rank_zero() {
  if (training().size() == 1 || replay_ != nullptr || !trains()) {
    return;  // the ranks of a replay hold equal zeros
  }
  if (channels_.empty() && !options_.rule) {
    return;  // equal seeds made the networks equal, unless the caller gives them
  }
  std::unique_ptr<engines::Channel> own;
  engines::Channel* channel = channels_.empty() ? nullptr : channels_.front().get();
  if (channel == nullptr || setup().communicators.front().members != training()) {
    own = connect_to({.name = "start", .members = training()});
    channel = own.get();
  }
  const at::NoGradGuard no_grad;
  const auto value_buffer = setup().parameters.front().value.buffer;
  const plan::Slice values{value_buffer, 0, setup().buffers[plan::index_of(value_buffer)].elements};
  ranks_.peers.wait_for(channel->broadcast(memory_->view(values), 0));
  memory_->start_from_parameters();
  for (at::Tensor& buffer : network_->buffers()) {
    const at::Tensor dense = buffer.contiguous();
    // Engines cannot send booleans.
    ranks_.peers.wait_for(
        channel->broadcast(dense.scalar_type() == at::kBool ? dense.view(at::kByte) : dense, 0));
    buffer.copy_(dense);
  }
}

}  // namespace paceline::rank
