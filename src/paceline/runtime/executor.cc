// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/executor.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <torch/torch.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/plan/cost.h"
#include "paceline/runtime/mailbox.h"

namespace paceline::runtime {

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
      runtime::find_kernel(kernel->name);
    }
  }
}

Executor::Executor(const Parts& parts, Options options)
    : parts_(parts),
      options_(std::move(options)),
      streams_(parts.device),
      frontier_(parts.input.model, parts.memory.setup()),
      mailbox_(std::make_shared<Mailbox>()),
      waiters_(std::make_unique<engines::Waiters>()) {
  slowest_step_ns_ = options_.first_step.count();
  mailbox_->owner = this;
  for (const plan::Communicator& group : parts_.memory.setup().communicators) {
    queues_.emplace_back(
        group, group.members.place_of(parts_.input.rank) == std::size_t{0});
    if (queues_.back().by_priority() && streams_.asynchronous()) {
      throw UsageError(
          "The order of collectives by priority is chosen on the host, which "
          "runs ahead of a CUDA device: use order=program there.");
    }
  }
  flat_gradients_ = moves_gradients(parts_.memory.setup(), *program_of(0).plan);
  operands_ = std::make_unique<Operands>(parts_.memory, flat_gradients_);
  hooks_ = std::make_unique<GradientHooks>(
      parts_.traced.parameters,
      [this](plan::ParameterId p) { gradient_ready(p); });
  for (std::size_t m = 0; m < parts_.traced.gated.size(); ++m) {
    if (parts_.traced.gated[m] != nullptr) {
      parts_.traced.gated[m]->bind(this, static_cast<plan::ModuleId>(m));
    }
  }
  communication_ = std::thread([this] { communicate(); });
}

Executor::~Executor() {
  for (networks::Gated* gated : parts_.traced.gated) {
    if (gated != nullptr) {
      gated->bind(nullptr, {});
    }
  }
  hooks_.reset();
  {
    const std::lock_guard mail(mailbox_->mutex);
    mailbox_->owner = nullptr;
  }
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  communication_wake_.notify_all();
  communication_.join();
  waiters_.reset();  // late reports find a mailbox without owner
}

const StepProgram& Executor::program_of(plan::Step step) {
  const plan::Variant variant = parts_.planner.variant(parts_.input, step);
  const auto found = programs_.find(variant);
  if (found != programs_.end()) {
    return found->second;
  }
  const plan::Setup& setup = parts_.memory.setup();
  return programs_
      .emplace(
          variant,
          make_step_program(parts_.planner.plan(parts_.input, setup, variant),
                            parts_.input,
                            setup))
      .first->second;
}

const plan::CommPlan& Executor::plan_of(plan::Step step) {
  return *program_of(step).plan;
}

plan::OpRef Executor::forward_ref(plan::ModuleId module) const {
  return {step_,
          program_->forward[plan::index_of(module)]
                           [static_cast<std::size_t>(micro_)]};
}

plan::OpRef Executor::backward_ref(plan::ParameterId parameter) const {
  return {step_,
          program_->backward[plan::index_of(parameter)]
                            [static_cast<std::size_t>(micro_)]};
}

void Executor::begin_step() {
  const StepProgram& program = program_of(next_step_);
  Lock lock(mutex_);
  check_failure();
  const std::int64_t now = steady_ns();
  if (step_ >= 0) {
    slowest_step_ns_ = std::max(slowest_step_ns_, now - step_began_ns_);
  }
  step_began_ns_ = now;
  progress_ns_ = now;
  in_step_ = true;
  program_ = &program;
  step_ = next_step_++;
  micro_ = 0;
  frontier_.open(step_, program.plan);
  for (std::size_t i = 0; i < program.plan->ops.size(); ++i) {
    const plan::Op& op = program.plan->ops[i];
    if (const auto* c = std::get_if<plan::Collective>(&op.work);
        c != nullptr && op.performer.empty()) {
      queues_[plan::index_of(c->on)].push(
          {step_, static_cast<plan::OpIndex>(i)},
          op.priority,
          plan::bytes_on_credit(parts_.memory.setup(), op));
    }
  }
  advance(lock);
}

void Executor::begin_forward(int micro) {
  {
    const Lock lock(mutex_);
    micro_ = micro;
    progress_ns_ = steady_ns();
    backward_done_.assign(parts_.input.model.parameters.size(), false);
  }
  if (parts_.performer != nullptr) {
    parts_.performer->before_forward(is_last_micro());
  }
  // The root's unit has no gate of its own.
  if (parts_.traced.network != nullptr &&
      parts_.traced.gated.front() == nullptr) {
    enter(plan::ModuleId{0});
    leave(plan::ModuleId{0});
  }
}

void Executor::begin_backward() {
  // A layer that this forward did not reach has read nothing.
  {
    Lock lock(mutex_);
    for (std::size_t m = 0; m < parts_.traced.gated.size(); ++m) {
      const plan::OpRef ref = forward_ref(static_cast<plan::ModuleId>(m));
      if (!frontier_.is_complete(ref)) {
        wait_until_ready(ref, lock);
        complete(ref, lock);
      }
    }
  }
  // Gradients are written, not added to, by the first micro-batch.
  if (micro_ == 0 && !options_.keep_gradients) {
    streams_.compute_follows_plan();
    for (const at::Tensor& parameter : parts_.traced.parameters) {
      parameter.mutable_grad().reset();
    }
  }
  if (parts_.performer != nullptr) {
    parts_.performer->before_backward(is_last_micro());
  }
}

void Executor::end_backward() {
  if (parts_.performer != nullptr) {
    parts_.performer->after_backward();
  }
  Lock lock(mutex_);
  check_failure();
  for (std::size_t p = 0; p < backward_done_.size(); ++p) {
    if (backward_done_[p]) {
      continue;
    }
    const auto id = static_cast<plan::ParameterId>(p);
    const plan::OpRef ref = backward_ref(id);
    wait_until_ready(ref, lock);
    if (flat_gradients_ && micro_ == 0 && !options_.keep_gradients) {
      parts_.memory.gradient(id).zero_();
    }
    complete(ref, lock);
  }
  const auto& ops = program_->plan->ops;
  for (std::size_t i = 0; is_last_micro() && i < ops.size(); ++i) {
    const plan::OpRef ref{step_, static_cast<plan::OpIndex>(i)};
    if (!ops[i].performer.empty()) {
      PACELINE_CHECK(frontier_.is_ready(ref));
      complete(ref, lock);
    }
  }
  in_step_ = !is_last_micro();
}

void Executor::drain() {
  Lock lock(mutex_);
  check_failure();
  while (!frontier_.idle()) {
    const plan::OpRef oldest = frontier_.oldest();
    wait_until([&] { return frontier_.is_complete(oldest); }, oldest, lock);
  }
  lock.unlock();
  streams_.compute_follows_plan();
  streams_.synchronize();
}

void Executor::enter(plan::ModuleId module) {
  Lock lock(mutex_);
  check_failure();
  wait_until_ready(forward_ref(module), lock);
  lock.unlock();
  streams_.compute_follows_plan();
}

void Executor::leave(plan::ModuleId module) {
  Lock lock(mutex_);
  const plan::OpRef ref = forward_ref(module);
  progress_ns_ = steady_ns();
  if (!frontier_.is_complete(ref)) {  // a layer may run twice
    complete(ref, lock);
  }
}

bool Executor::gates_backward(plan::ModuleId module) const {
  return program_->gates_backward[plan::index_of(module)];
}

void Executor::enter_backward(plan::ModuleId module) {
  Lock lock(mutex_);
  const auto& parameters = parts_.input.model.parameters;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (parameters[p].module == module) {
      wait_until_ready(backward_ref(static_cast<plan::ParameterId>(p)), lock);
    }
  }
  lock.unlock();
  streams_.compute_follows_plan();
}

void Executor::gradient_ready(plan::ParameterId parameter) {
  Lock lock(mutex_);
  check_failure();
  const plan::OpRef ref = backward_ref(parameter);
  if (backward_done_[plan::index_of(parameter)]) {
    return;
  }
  if (flat_gradients_) {
    wait_until_ready(ref, lock);
    lock.unlock();
    const at::Tensor& slot = parts_.memory.gradient(parameter);
    at::Tensor& gradient = parts_.memory.parameter(parameter).mutable_grad();
    if (!gradient.defined()) {
      gradient = slot;
    } else if (gradient.data_ptr() != slot.data_ptr()) {
      slot.copy_(gradient);
      gradient = slot;
    }
    lock.lock();
  }
  backward_done_[plan::index_of(parameter)] = true;
  progress_ns_ = steady_ns();
  complete(ref, lock);
}

std::int64_t Executor::take_waited_ns() {
  const Lock lock(mutex_);
  return std::exchange(waited_ns_, 0);
}

std::int64_t Executor::stood_ns() const {
  const Lock lock(mutex_);
  return stood_ns_;
}

std::vector<OpSpan> Executor::take_spans() {
  const Lock lock(mutex_);
  return std::exchange(spans_, {});
}

}  // namespace paceline::runtime
