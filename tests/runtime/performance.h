// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <torch/types.h>

#include "engines/engine_conformance.h"
#include "paceline/runtime/executor.h"
#include "paceline/runtime/reducer.h"
#include "plan/interpret_as_run.h"
#include "runtime/tensor_machine.h"

namespace paceline::testing {

/// One rank of a plan's job, which computes whole numbers instead of a network.
class Performance {
 public:
  struct Options {
    std::function<std::unique_ptr<execution::Device>(at::Device)> streams_of = runtime::make_device;
    /// Of PyTorch's Reducer, where it performs a part of the plan.
    std::optional<strategies::ReducerOptions> reducer{};
  };

  Performance(const std::string& name, const plan::Planner& planner, const plan::PlanInput& input,
              const plan::Setup& setup)
      : Performance(name, planner, input, setup, Options()) {}

  Performance(const std::string& name, const plan::Planner& planner, const plan::PlanInput& input,
              const plan::Setup& setup, const Options& options)
      : input_(input),
        numbers_(input.world, /*salted=*/-1, device()),
        trains_(input.rank < planner.training_ranks(input)),
        engine_(engines::make_engine(engine())) {
    traced_.shape = input.model;
    traced_.gated.resize(trains_ ? input.model.modules.size() : 0);
    if (trains_) {
      traced_.parameters = numbers_.start(input.model);
    }
    memory_ = start_memory(setup, traced_.parameters, device());
    runtime::Channels channels = connect_all(name, setup);
    if (options.reducer) {
      make_reducer(*options.reducer);
    }
    executor_ = std::make_unique<runtime::Executor>(
        runtime::Executor::Components{.planner = planner,
                                      .input = input_,
                                      .traced = traced_,
                                      .memory = *memory_,
                                      .channels = std::move(channels),
                                      .rule = dyadic_rule(),
                                      .device = device(),
                                      .engine = engines::find_engine(engine()),
                                      .performer = reducer_.get()},
        runtime::Executor::Options{
            .dispatcher = {.timeout = std::chrono::seconds(20), .record_spans = true},
            .streams_of = options.streams_of});
  }

  /// Takes so many steps, and waits until all of them are complete.
  void run(plan::Step steps) {
    for (const plan::Step end = next_step_ + steps; next_step_ < end; ++next_step_) {
      if (trains_) {
        train(next_step_);
      } else {
        executor_->serve_step();
      }
    }
    executor_->drain();
  }

  /// In the order in which they ended.
  plan::KernelOrder take_kernels() {
    plan::KernelOrder kernels;
    for (const execution::OpSpan& span : executor_->take_spans()) {
      const plan::Op& op =
          executor_->plan_of(span.ref.step).ops[static_cast<std::size_t>(span.ref.op)];
      if (span.kind == execution::OpSpan::Kind::kWork &&
          std::holds_alternative<plan::Kernel>(op.work)) {
        kernels.push_back(span.ref);
      }
    }
    return kernels;
  }

  const runtime::FlatMemory& memory() const { return *memory_; }

 private:
  void train(plan::Step step) {
    executor_->begin_step();
    executor_->begin_forward(0);
    for (std::size_t m = 0; m < input_.model.modules.size(); ++m) {
      executor_->enter(static_cast<plan::ModuleId>(m));
      executor_->leave(static_cast<plan::ModuleId>(m));
    }
    executor_->begin_backward();
    if (reducer_ != nullptr) {
      loss(step).backward();  // its hooks call gradient_ready
    } else {
      write_gradients(step);
    }
    executor_->end_backward();
  }

  void write_gradients(plan::Step step) {
    for (const plan::ParameterId p : input_.model.ready_order) {
      const auto module = input_.model.parameters[plan::index_of(p)].module;
      if (executor_->gates_backward(module)) {
        executor_->enter_backward(module);
      }
      if (!device().is_cpu()) {
        delay_stream();
      }
      const at::Tensor& parameter = memory_->parameter(p);
      parameter.mutable_grad() = numbers_.gradient(input_.rank, step, p, parameter);
      executor_->gradient_ready(p);
    }
  }

  // Its gradients are the whole numbers.  The Reducer hears of gradients from autograd alone.
  at::Tensor loss(plan::Step step) const {
    std::vector<at::Tensor> terms;
    for (const plan::ParameterId p : input_.model.ready_order) {
      const at::Tensor& parameter = memory_->parameter(p);
      const at::Tensor gradient = numbers_.gradient(input_.rank, step, p, parameter);
      terms.push_back((parameter * gradient).sum());
    }
    return at::stack(terms).sum();
  }

  void make_reducer(const strategies::ReducerOptions& options) {
    std::vector<std::string> names;
    for (const plan::ParameterShape& shape : input_.model.parameters) {
      names.push_back(shape.name);
    }
    reducer_ = std::make_unique<runtime::Reducer>(memory_->parameters(), names, *channels_.front(),
                                                  options);
  }

  // Gradients come long after the host has said so: whatever waits for the host alone, and not for
  // the stream, reads what was there before.
  void delay_stream() {
    const at::NoGradGuard no_grad;
    at::Tensor some = at::ones({2048, 2048}, device());
    for (auto i = random_() % 8; i > 0; --i) {
      some = at::mm(some, some);
    }
  }

  runtime::Channels connect_all(const std::string& name, const plan::Setup& setup) {
    runtime::Channels by_id;
    for (const plan::Communicator& group : setup.communicators) {
      const bool picks = group.order == plan::IssueOrder::kPriority;
      by_id.data.push_back(connect_to(name + "/" + group.name, group));
      by_id.picks.push_back(picks ? connect_to(name + "/" + group.name + "/picks", group)
                                  : nullptr);
    }
    return by_id;
  }

  /// Null where this rank is no member.
  engines::Channel* connect_to(const std::string& name, const plan::Communicator& group) {
    const auto me = group.members.index_of_rank(input_.rank);
    if (!me) {
      return nullptr;
    }
    auto spec = spec_of(name);
    spec.members = group.members;
    spec.rank = static_cast<int>(*me);
    spec.world = static_cast<int>(group.members.size());
    channels_.push_back(engine_->connect(spec));
    return channels_.back().get();
  }

  plan::PlanInput input_;
  std::minstd_rand random_{static_cast<unsigned>(context().world.self.rank) + 1};
  WholeNumbers numbers_;
  bool trains_;
  std::unique_ptr<engines::Engine> engine_;
  std::vector<std::unique_ptr<engines::Channel>> channels_;
  runtime::TracedNetwork traced_;
  std::unique_ptr<runtime::FlatMemory> memory_;
  std::unique_ptr<runtime::Reducer> reducer_;
  std::unique_ptr<runtime::Executor> executor_;
  plan::Step next_step_ = 0;
};

}  // namespace paceline::testing
