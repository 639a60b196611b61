// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <torch/types.h>

#include "paceline/plan/interpreter.h"
#include "paceline/plan/program.h"
#include "paceline/runtime/kernel_runner.h"
#include "paceline/runtime/memory.h"
#include "paceline/runtime/operands.h"

namespace paceline::testing {

/// Start values and gradients that are whole numbers, so that ranks' sums are exact in any order.
/// A gradient depends on the values of its parameter: values that are read too early or too late
/// change it.
class WholeNumbers {
 public:
  /// Rank `salted`, if there is one, has other gradients.
  explicit WholeNumbers(plan::Rank world, plan::Rank salted = -1, at::Device device = at::kCPU)
      : unit_(world % 3 == 0 ? 27 : 1),
        salted_(salted),
        whole_numbers_(at::TensorOptions(at::kLong).device(device)) {}

  at::Device device() const { return whole_numbers_.device(); }

  std::vector<at::Tensor> start(const plan::ModelShape& model) const {
    std::vector<at::Tensor> values;
    for (const plan::ParameterShape& shape : model.parameters) {
      const at::Tensor places = at::arange(shape.elements, whole_numbers_) * 7 +
                                static_cast<std::int64_t>(3 * values.size());
      values.push_back(
          whole(at::remainder(places, 5) - 2).reshape(shape.sizes).requires_grad_(true));
    }
    return values;
  }

  /// Of a parameter, by its values.
  at::Tensor gradient(plan::Rank rank, plan::Step step, plan::ParameterId parameter,
                      const at::Tensor& values) const {
    const std::int64_t salt = rank * 3 + step * 7 + std::int64_t{11} * plan::index_of(parameter) +
                              (rank == salted_ ? 1 : 0);
    const at::Tensor places = at::arange(values.numel(), whole_numbers_) * 5 + salt;
    return whole(at::remainder(places, 3) - 1).reshape(values.sizes()) +
           at::sign(values.detach()) * unit_;
  }

 private:
  at::Tensor whole(const at::Tensor& small) const { return (small * unit_).to(at::kFloat); }

  std::int64_t unit_;  // divisible by the ranks in every step
  plan::Rank salted_;
  at::TensorOptions whole_numbers_;
};

/// The buffers of one rank.  `parameters` is empty where it only serves.
inline std::unique_ptr<runtime::FlatMemory> start_memory(const plan::Setup& setup,
                                                         const std::vector<at::Tensor>& parameters,
                                                         at::Device device = at::kCPU,
                                                         double learning_rate = 0.5) {
  auto memory = std::make_unique<runtime::FlatMemory>(setup, device);
  if (!parameters.empty()) {
    memory->adopt(parameters);
  }
  if (const at::Tensor* rate = memory->scalar(plan::kLearningRate)) {
    rate->fill_(learning_rate);
  }
  return memory;
}

/// Divides by powers of two alone.
inline runtime::OptimizerSettings dyadic_rule() { return {.momentum = 0.5, .weight_decay = 0}; }

/// What takes the place of the ranks' networks.
struct ModelWork {
  /// The parameters of a rank that trains, with their values at the start.
  std::function<std::vector<at::Tensor>(plan::Rank, const plan::ModelShape&)> start;
  /// Of one parameter in one micro-batch; undefined where it is not used.
  std::function<at::Tensor(plan::Rank, plan::Step, const plan::Backward&)> gradient;
  std::function<runtime::OptimizerSettings(const plan::ModelShape&, const plan::Setup&)> rule;
  double learning_rate = 0.5;
  at::Device device{at::kCPU};
};

/// The interpreter's machine on tensors, with the runtime's kernels.
class TensorMachine final : public plan::Machine {
 public:
  TensorMachine(const plan::Planner& planner, const plan::PlanWorld& world,
                const WholeNumbers& numbers)
      : TensorMachine(
            planner, world,
            {.start = [numbers](plan::Rank,
                                const plan::ModelShape& model) { return numbers.start(model); },
             .gradient =
                 [this, numbers](plan::Rank rank, plan::Step step, const plan::Backward& work) {
                   return numbers.gradient(rank, step, work.parameter,
                                           of(rank).memory->parameter(work.parameter));
                 },
             .rule = [](const plan::ModelShape&, const plan::Setup&) { return dyadic_rule(); },
             .device = numbers.device()}) {}

  TensorMachine(const plan::Planner& planner, const plan::PlanWorld& world, ModelWork model)
      : world_(world), model_(std::move(model)) {
    for (plan::Rank rank = 0; rank < world.ranks(); ++rank) {
      const plan::PlanInput& input = world.input(rank);
      Side& side = sides_.emplace_back();
      const bool trains = rank < planner.training_ranks(input);
      side.memory = start_memory(
          world.setup(rank), trains ? model_.start(rank, input.model) : std::vector<at::Tensor>(),
          model_.device, model_.learning_rate);
      for (const plan::Variant variant : plan::variants_of(planner, input)) {
        side.flat.merge(runtime::moved_gradients(world.setup(rank),
                                                 planner.plan(input, world.setup(rank), variant)));
      }
      side.kernels = std::make_unique<runtime::KernelRunner>(
          model_.rule(input.model, world.setup(rank)), runtime::Operands(*side.memory, side.flat),
          runtime::KernelRunner::Time{});
      for (const plan::PlanWorld::Item& item : world.items(rank)) {
        places_[item.op] = item.index;
      }
    }
  }

  void forward(plan::Rank, plan::Step, const plan::Forward&) override {}

  void backward(plan::Rank rank, plan::Step step, const plan::Backward& work) override {
    const Side& side = of(rank);
    const at::Tensor gradient = model_.gradient(rank, step, work);
    const auto& placement = world_.setup(rank).parameters[plan::index_of(work.parameter)];
    const at::Tensor& parameter = side.memory->parameter(work.parameter);
    const bool is_flat = side.flat.contains(placement.gradient.buffer);
    if (!is_flat && work.micro == 0) {
      parameter.mutable_grad() = gradient;
      return;
    }
    const at::NoGradGuard no_grad;
    const at::Tensor slot = is_flat ? side.memory->gradient(work.parameter) : parameter.grad();
    if (gradient.defined()) {
      work.micro == 0 ? slot.copy_(gradient) : slot.add_(gradient);
    } else if (work.micro == 0) {
      slot.zero_();
    }
  }

  void kernel(plan::Rank rank, plan::Step step, const plan::Kernel& work) override {
    const at::NoGradGuard no_grad;
    const auto place = std::ranges::find_if(places_, [&](const auto& one) {
      return std::get_if<plan::Kernel>(&one.first->work) == &work;
    });
    of(rank).kernels->run({step, place->second}, work);
  }

  void collective(const plan::Communicator& on,
                  const std::vector<const plan::Collective*>& parts) override {
    const at::NoGradGuard no_grad;
    const plan::Collective& first = *parts.front();
    std::vector<at::Tensor> in;
    for (std::size_t m = 0; m < parts.size(); ++m) {
      in.push_back(view(on.members[m], parts[m]->in));
    }
    const bool accesses_by_index = first.pattern == plan::Pattern::kAllGather;
    const bool spreads = first.pattern == plan::Pattern::kBroadcast;
    const at::Tensor all = accesses_by_index ? at::cat(in)
                           : spreads         ? in[*on.members.index_of_rank(first.root)].clone()
                                             : reduced(in, first.reduce);
    for (std::size_t m = 0; m < parts.size(); ++m) {
      const at::Tensor out = view(on.members[m], parts[m]->out);
      out.copy_(first.pattern == plan::Pattern::kReduceScatter
                    ? all.narrow(0, static_cast<std::int64_t>(m) * out.numel(), out.numel())
                    : all);
    }
  }

  void send(plan::Rank from, const plan::Slice& slice, std::size_t message) override {
    messages_[message] = view(from, slice).clone();
  }
  void receive(plan::Rank to, const plan::Slice& slice, std::size_t message) override {
    view(to, slice).copy_(messages_.at(message));
  }

  at::Tensor view(plan::Rank rank, const plan::Slice& slice) const {
    return of(rank).memory->view(slice);
  }
  /// The buffers in which the executor moves the rank's gradients.
  const std::set<plan::BufferId>& flat(plan::Rank rank) const { return of(rank).flat; }
  /// Whether no sum has been rounded, so that the order of ranks is all one.
  bool exact() const { return exact_; }

 private:
  struct Side {
    std::unique_ptr<runtime::FlatMemory> memory;
    std::set<plan::BufferId> flat{};
    std::unique_ptr<runtime::KernelRunner> kernels;
  };

  const Side& of(plan::Rank rank) const { return sides_[static_cast<std::size_t>(rank)]; }

  at::Tensor reduced(const std::vector<at::Tensor>& in, plan::Reduce how) {
    at::Tensor result = in.front().clone();
    at::Tensor sum = result.to(at::kDouble);
    for (std::size_t i = 1; i < in.size(); ++i) {
      if (how == plan::Reduce::kMax) {
        result = at::maximum(result, in[i]);
      } else {
        result.add_(in[i]);
        sum.add_(in[i].to(at::kDouble));
      }
    }
    exact_ =
        exact_ && (how == plan::Reduce::kMax || in.size() < 3 || result.to(at::kDouble).equal(sum));
    return how == plan::Reduce::kMean ? result.div_(static_cast<std::int64_t>(in.size())) : result;
  }

  const plan::PlanWorld& world_;
  ModelWork model_;
  std::vector<Side> sides_;  // by rank
  std::map<const plan::Op*, plan::OpIndex> places_;
  std::map<std::size_t, at::Tensor> messages_;
  bool exact_ = true;
};

}  // namespace paceline::testing
