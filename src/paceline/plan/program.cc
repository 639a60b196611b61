// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/program.h"

#include <array>
#include <utility>

#include "paceline/base/error.h"

namespace paceline::plan {
namespace {

/// As PyTorch's GradScaler has them: growth factor, backoff factor, interval.
constexpr std::array kScaleRule{2.0, 0.5, 2000.0};

}  // namespace

void Program::compute() {
  const ModelShape& model = input_.model;
  for (int micro = 0; micro < input_.micro_batches; ++micro) {
    for (std::size_t m = 0; m < model.modules.size(); ++m) {
      forward(ModuleId{static_cast<std::int32_t>(m)}, micro);
    }
    for (const ParameterId parameter : model.ready_order) {
      backward(parameter, micro);
    }
  }
}

OpIndex Program::forward(ModuleId module, int micro) {
  return append({.work = Forward{module, micro}});
}

OpIndex Program::backward(ParameterId parameter, int micro) {
  last_backward_ = append({.work = Backward{parameter, micro}});
  return *last_backward_;
}

OpIndex Program::all_reduce(const Slice& slice,
                            CommunicatorId on,
                            Reduce reduce) {
  return append({.work = Collective{.pattern = Pattern::kAllReduce,
                                    .on = on,
                                    .in = slice,
                                    .out = slice,
                                    .reduce = reduce}});
}

OpIndex Program::reduce_scatter(const Slice& in,
                                const Slice& out,
                                CommunicatorId on,
                                Reduce reduce) {
  return append({.work = Collective{.pattern = Pattern::kReduceScatter,
                                    .on = on,
                                    .in = in,
                                    .out = out,
                                    .reduce = reduce}});
}

OpIndex Program::all_gather(const Slice& in,
                            const Slice& out,
                            CommunicatorId on) {
  return append(
      {.work = Collective{
           .pattern = Pattern::kAllGather, .on = on, .in = in, .out = out}});
}

OpIndex Program::exchange(CommunicatorId on,
                          std::vector<Message> sends,
                          std::vector<Message> receives) {
  return append({.work = Exchange{on, std::move(sends), std::move(receives)}});
}

OpIndex Program::kernel(std::string_view name,
                        std::vector<Access> reads,
                        std::vector<Access> writes,
                        std::vector<double> numbers) {
  return append(
      {.work = Kernel{
           name, std::move(reads), std::move(writes), std::move(numbers)}});
}

void Program::judge_gradients() {
  if (!input_.loss_scaling) {
    return;
  }
  PACELINE_CHECK(!judged_);
  judged_ = true;
  const auto all = [&](std::string_view name) {
    return Access{whole(setup_, buffer_named(setup_, name))};
  };
  kernel("check", {all(kGradients)}, {all(kGradients), all(kFoundInf)});
  kernel("rescale",
         {all(kFoundInf), all(kLossScale), all(kGrowth)},
         {all(kLossScale), all(kGrowth), all(kAppliedScale)},
         {kScaleRule.begin(), kScaleRule.end()});
}

OpIndex Program::update(const Unit& unit, double divisor) {
  PACELINE_CHECK_EQ(judged_, input_.loss_scaling);
  const auto count = find_buffer(setup_, kStepCount);
  if (count.has_value() && !counted_) {
    const Slice counter = whole(setup_, *count);
    std::vector<Access> operands{{counter}};
    if (judged_) {
      operands.push_back({whole(setup_, buffer_named(setup_, kFoundInf))});
    }
    kernel("count", std::move(operands), {{counter}});
    counted_ = true;
  }
  std::vector<Access> writes{{unit.values}, {unit.gradients}};
  for (const std::string_view name : state_names(input_.optimizer)) {
    writes.push_back(
        {{buffer_named(setup_, name), unit.values.begin, unit.values.count}});
  }
  std::vector<Access> reads = writes;
  reads.push_back({whole(setup_, buffer_named(setup_, kLearningRate))});
  if (count.has_value()) {
    reads.push_back({whole(setup_, *count)});
  }
  if (judged_) {
    reads.push_back({whole(setup_, buffer_named(setup_, kAppliedScale))});
    reads.push_back({whole(setup_, buffer_named(setup_, kFoundInf))});
  }
  return kernel("update", std::move(reads), std::move(writes), {divisor});
}

void Program::after(OpIndex op, OpIndex earlier) {
  PACELINE_CHECK(earlier < op);
  at(op).after.push_back(earlier);
}

Op& Program::at(OpIndex op) {
  return plan_.ops[static_cast<std::size_t>(op)];
}

OpIndex Program::append(Op op) {
  plan_.ops.push_back(std::move(op));
  return static_cast<OpIndex>(plan_.ops.size() - 1);
}

}  // namespace paceline::plan
