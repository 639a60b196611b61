// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/executor.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include "paceline/base/error.h"

namespace paceline::runtime {
namespace {

void require_supported_order(const plan::Setup& setup, const Streams& streams) {
  const bool by_priority = std::ranges::any_of(
      setup.communicators,
      [](const auto& group) { return group.order == plan::Order::kPriority; });
  if (by_priority && streams.asynchronous()) {
    throw UsageError(
        "The order of collectives by priority is chosen on the host, which "
        "runs ahead of a CUDA device: use order=program there.");
  }
}

// Kernels on the communication thread leave the cores to the training thread.
void set_up_communication_thread() {
  at::set_num_threads(1);
  at::GradMode::set_enabled(false);
}

}  // namespace

void require_executable(const plan::CommPlan& plan) {
  for (const plan::Op& op : plan.ops) {
    if (std::holds_alternative<plan::Exchange>(op.work)) {
      throw UsageError(
          "The runtime does not execute messages between two ranks yet, of "
          "which the exchanges ps, neighbor-allreduce and "
          "hierarchical-neighbor-allreduce consist: this strategy can be "
          "simulated.");
    }
    if (const auto* kernel = std::get_if<plan::Kernel>(&op.work);
        kernel != nullptr && op.performer.empty()) {
      find_kernel(kernel->name);
    }
  }
}

Executor::Executor(const Parts& parts, Options options)
    : traced_(parts.traced),
      memory_(parts.memory),
      performer_(parts.performer),
      keep_gradients_(options.keep_gradients),
      streams_(parts.device),
      programs_(parts.planner, parts.input, memory_.setup()),
      flat_gradients_(moves_gradients(memory_.setup(), plan_of(0))) {
  require_supported_order(memory_.setup(), streams_);
  issuer_ = std::make_unique<ChannelIssuer>(parts.channels, memory_, streams_);
  kernels_ = std::make_unique<KernelRunner>(parts.rule,
                                            Operands(memory_, flat_gradients_),
                                            streams_,
                                            std::move(options.kernel_time));
  options.dispatcher.on_thread_start = set_up_communication_thread;
  dispatcher_ = std::make_unique<execution::Dispatcher>(
      parts.input,
      memory_.setup(),
      *issuer_,
      [this](const plan::Kernel& kernel) { kernels_->run(kernel); },
      std::move(options.dispatcher));
  issuer_->report_to(dispatcher_.get());
  gates_ = std::make_unique<execution::ModelGates>(*dispatcher_, parts.input);
  hooks_ = std::make_unique<GradientHooks>(
      traced_.parameters, [this](plan::ParameterId p) { gradient_ready(p); });
  bound_gates_ = std::make_unique<BoundGates>(traced_.gated, *this);
}

Executor::~Executor() {
  bound_gates_.reset();
  hooks_.reset();
  issuer_->report_to(nullptr);
  dispatcher_.reset();  // before the issuer, which waits for its works
}

void Executor::begin_step() {
  const plan::Step step = next_step_++;
  gates_->begin_step(step, programs_.at(step));
}

void Executor::begin_forward(int micro) {
  gates_->begin_forward(micro);
  if (performer_ != nullptr) {
    performer_->before_forward(gates_->is_last_micro());
  }
  // The root module has no gated layer of its own.
  if (traced_.network != nullptr && traced_.gated.front() == nullptr) {
    enter(plan::ModuleId{0});
    leave(plan::ModuleId{0});
  }
}

void Executor::begin_backward() {
  gates_->begin_backward();
  if (writes_gradients()) {
    streams_.compute_follows_plan();
    for (const at::Tensor& parameter : traced_.parameters) {
      parameter.mutable_grad().reset();
    }
  }
  if (performer_ != nullptr) {
    performer_->before_backward(gates_->is_last_micro());
  }
}

void Executor::end_backward() {
  if (performer_ != nullptr) {
    performer_->after_backward();
  }
  for (const plan::ParameterId unused : gates_->pending_gradients()) {
    gates_->enter_gradient(unused);
    if (flat_gradients_ && writes_gradients()) {
      memory_.gradient(unused).zero_();
    }
    gates_->leave_gradient(unused);
  }
  gates_->end_backward();
}

void Executor::drain() {
  dispatcher_->wait_all();
  streams_.compute_follows_plan();
  streams_.synchronize();
}

void Executor::enter(plan::ModuleId module) {
  gates_->enter(module);
  streams_.compute_follows_plan();
}

void Executor::leave(plan::ModuleId module) {
  gates_->leave(module);
}

bool Executor::gates_backward(plan::ModuleId module) const {
  return gates_->gates_backward(module);
}

void Executor::enter_backward(plan::ModuleId module) {
  gates_->enter_backward(module);
  streams_.compute_follows_plan();
}

void Executor::gradient_ready(plan::ParameterId parameter) {
  if (!gates_->enter_gradient(parameter)) {
    return;
  }
  if (flat_gradients_) {
    const at::Tensor& slot = memory_.gradient(parameter);
    at::Tensor& gradient = memory_.parameter(parameter).mutable_grad();
    if (!gradient.defined()) {
      gradient = slot;
    } else if (gradient.data_ptr() != slot.data_ptr()) {
      slot.copy_(gradient);
      gradient = slot;
    }
  }
  gates_->leave_gradient(parameter);
}

}  // namespace paceline::runtime
