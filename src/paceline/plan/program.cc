// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/program.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/access.h"
#include "paceline/plan/optimizer.h"

namespace paceline::plan {
namespace {

/// The constants of loss scaling, as PyTorch's GradScaler has them by default: growth factor,
/// backoff factor, growth interval.
constexpr std::array kLossScaleRule{2.0, 0.5, 2000.0};

}  // namespace

void Program::compute() {
  for (int micro = 0; micro < input_.micro_batches; ++micro) {
    forward_pass(micro);
    backward_pass(micro);
  }
}

void Program::forward_pass(int micro) {
  for (std::size_t m = 0; trains() && m < input_.model.modules.size(); ++m) {
    forward(ModuleId{static_cast<std::int32_t>(m)}, micro);
  }
}

void Program::backward_pass(int micro) {
  for (const ParameterId parameter : input_.model.ready_order) {
    if (trains()) {
      backward(parameter, micro);
    }
  }
}

OpIndex Program::forward(ModuleId module, int micro) {
  return append({.work = Forward{module, micro}});
}

OpIndex Program::backward(ParameterId parameter, int micro) {
  backwards_.resize(input_.model.parameters.size(), -1);
  return backwards_[index_of(parameter)] = append({.work = Backward{parameter, micro}});
}

std::optional<OpIndex> Program::last_backward() const {
  return backwards_.empty() ? std::nullopt : std::optional(std::ranges::max(backwards_));
}

std::optional<OpIndex> Program::last_backward(const Bucket& bucket) const {
  OpIndex last = -1;
  for (const ParameterId id : bucket.parameters) {
    last = backwards_.empty() ? last : std::max(last, backwards_[index_of(id)]);
  }
  return last < 0 ? std::nullopt : std::optional(last);
}

OpIndex Program::all_reduce(const Slice& slice, CommunicatorId on, Reduce reduce) {
  return append(
      {.work = Collective{
           .pattern = Pattern::kAllReduce, .on = on, .in = slice, .out = slice, .reduce = reduce}});
}

OpIndex Program::reduce_scatter(const Slice& in, const Slice& out, CommunicatorId on,
                                Reduce reduce) {
  return append(
      {.work = Collective{
           .pattern = Pattern::kReduceScatter, .on = on, .in = in, .out = out, .reduce = reduce}});
}

OpIndex Program::all_gather(const Slice& in, const Slice& out, CommunicatorId on) {
  return append(
      {.work = Collective{.pattern = Pattern::kAllGather, .on = on, .in = in, .out = out}});
}

OpIndex Program::broadcast(const Slice& slice, Rank root, CommunicatorId on) {
  return append(
      {.work = Collective{
           .pattern = Pattern::kBroadcast, .on = on, .in = slice, .out = slice, .root = root}});
}

OpIndex Program::exchange(CommunicatorId on, std::vector<Message> sends,
                          std::vector<Message> receives) {
  const Communicator& group = setup_.communicators[index_of(on)];
  if (!sends.empty() && !receives.empty() && group.order == IssueOrder::kPriority &&
      group.credit_bytes < Communicator{}.credit_bytes) {
    throw UsageError(
        fmt::format("messages on '{}' go both ways at once, so two ranks that choose their order "
                    "themselves (order=priority) could each hold back, for want of credit, what "
                    "the other waits for: choose order=program",
                    group.name));
  }
  messages_ += sends.size() + receives.size();
  if (messages_ > kMostMessages) {
    throw UsageError(
        fmt::format("rank {} of {} would send and receive more than {} messages in a "
                    "step, as one that serves many ranks does: choose fewer ranks, or an "
                    "exchange without servers",
                    input_.rank, input_.world, kMostMessages));
  }
  return append({.work = Exchange{on, std::move(sends), std::move(receives)}});
}

OpIndex Program::kernel(std::string_view name, std::vector<Access> reads,
                        std::vector<Access> writes, std::vector<double> numbers) {
  return append({.work = Kernel{name, std::move(reads), std::move(writes), std::move(numbers)}});
}

void Program::check_gradients() {
  if (!input_.loss_scaling || !trains()) {
    return;
  }
  PACELINE_CHECK(!gradients_checked_);
  gradients_checked_ = true;
  const auto all = [&](std::string_view name) { return Access{whole(setup_, name)}; };
  kernel("check", {all(kGradients)}, {all(kGradients), all(kFoundInf)});
  kernel("rescale", {all(kFoundInf), all(kLossScale), all(kGrowth)},
         {all(kLossScale), all(kGrowth), all(kAppliedScale)},
         {kLossScaleRule.begin(), kLossScaleRule.end()});
}

void Program::clip(std::vector<Access> gradients, double divisor, std::optional<CommunicatorId> on,
                   double copies) {
  if (input_.clip_norm == 0 || !trains()) {
    return;
  }
  PACELINE_CHECK(!clipped_);
  clipped_ = true;
  const Slice squares = whole(setup_, kSquares);
  const Slice scale = whole(setup_, kAppliedScale);
  kernel("square_sum", std::move(gradients), {{squares}});
  if (on) {
    all_reduce(squares, *on);
  }
  std::vector<Access> reads{{squares}};
  if (gradients_checked_) {
    reads.push_back({scale});
  }
  kernel("clip", std::move(reads), {{scale}}, {input_.clip_norm, divisor, copies});
}

void Program::update(const Bucket& bucket, double divisor) {
  update(bucket.values, bucket.gradients, bucket.values.begin, divisor);
}

void Program::require_whole_matrices(const Slice& values) const {
  const Optimizer& optimizer = optimizer_named(input_.optimizer.name);
  for (std::size_t p = 0; optimizer.layerwise && p < setup_.parameters.size(); ++p) {
    const ParameterShape& parameter = input_.model.parameters[p];
    const Slice& own = setup_.parameters[p].value;
    const bool whole =
        own.begin >= values.begin && own.begin + own.count <= values.begin + values.count;
    if (is_matrix(parameter) && !whole && overlap(own, values)) {
      throw UsageError(fmt::format(
          "optimizer '{}' scales the step of '{}' by norms over all of its elements, and strategy "
          "'{}' updates a part of them by itself; take another optimizer, or a strategy that "
          "updates whole tensors, such as fusion or ddp",
          optimizer.name, parameter.name, context_.strategy));
    }
  }
}

void Program::update(const Slice& values, const Slice& gradients, Elements state_begin,
                     double divisor) {
  PACELINE_CHECK_EQ(values.count, gradients.count);
  if (!trains()) {
    return;
  }
  require_whole_matrices(values);
  PACELINE_CHECK_EQ(gradients_checked_, input_.loss_scaling);
  if (!clipped_) {
    clip({{whole(setup_, kGradients)}}, divisor);
  }
  const auto count = find_buffer(setup_, kStepCount);
  if (count.has_value() && !counted_) {
    const Slice counter = whole(setup_, *count);
    std::vector<Access> operands{{counter}};
    if (gradients_checked_) {
      operands.push_back({whole(setup_, kFoundInf)});
    }
    kernel("count", std::move(operands), {{counter}});
    counted_ = true;
  }
  std::vector<Access> writes{{values}, {gradients}};
  for (const std::string_view name : state_names(input_.optimizer)) {
    writes.push_back({{buffer_named(setup_, name), state_begin, values.count}});
  }
  std::vector<Access> reads = writes;
  reads.push_back({whole(setup_, kLearningRate)});
  if (count.has_value()) {
    reads.push_back({whole(setup_, *count)});
  }
  if (gradients_checked_ || clipped_) {
    reads.push_back({whole(setup_, kAppliedScale)});
    reads.push_back({whole(setup_, kFoundInf)});
  }
  kernel("update", std::move(reads), std::move(writes), {divisor});
}

void Program::after(OpIndex op, OpIndex earlier) {
  PACELINE_CHECK(earlier < op);
  at(op).after.push_back(earlier);
}

Op& Program::at(OpIndex op) { return plan_.ops[static_cast<std::size_t>(op)]; }

void Program::set_priority(OpIndex first, std::int32_t priority) {
  for (OpIndex op = first; op < size(); ++op) {
    at(op).priority = priority;
  }
}

std::size_t Program::bucket_at(Elements element) const {
  const auto behind = std::ranges::upper_bound(
      buckets(), element, {}, [](const Bucket& bucket) { return bucket.values.begin; });
  PACELINE_CHECK(behind != buckets().begin());
  return static_cast<std::size_t>(behind - buckets().begin()) - 1;
}

OpIndex Program::append(Op op) {
  plan_.ops.push_back(std::move(op));
  return static_cast<OpIndex>(plan_.ops.size() - 1);
}

}  // namespace paceline::plan
