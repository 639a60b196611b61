// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/executor.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/plan/access.h"
#include "paceline/runtime/reducer.h"

namespace paceline::runtime {
namespace {

constexpr std::size_t kMostThreads = 8192;

// Throws UsageError if a plan has accesses with slack (Access::slack) and runs on a device, because
// a device's queue runs ops in the order of enqueuing.
void require_no_slack(const Executor::Components& parts, bool on_device) {
  const plan::Setup& setup = parts.memory.setup();
  for (const plan::Variant variant : plan::variants_of(parts.planner, parts.input)) {
    if (on_device && plan::has_slack(parts.planner.plan(parts.input, setup, variant))) {
      throw UsageError(
          "The strategy mixes what has arrived when it is ready, which the host, running ahead of "
          "a CUDA device, cannot know: use gloo or mpi on the CPU, or neighbor-allreduce.");
    }
  }
}

std::set<plan::BufferId> ever_moved_gradients(const Executor::Components& parts) {
  const plan::Setup& setup = parts.memory.setup();
  std::set<plan::BufferId> moved;
  for (const plan::Variant variant : plan::variants_of(parts.planner, parts.input)) {
    moved.merge(moved_gradients(setup, parts.planner.plan(parts.input, setup, variant)));
  }
  return moved;
}

// Gradients of several parameters may share memory. They are then overwritten within a step and
// cannot be kept until the next one.
void require_kept_gradients(const Executor::Components& parts) {
  const plan::Setup& setup = parts.memory.setup();
  if (parts.traced.network == nullptr || setup.parameters.empty()) {
    return;  // a replay has no gradients to keep
  }
  const auto& [value, gradient] = setup.parameters.front();
  if (setup.buffers[plan::index_of(gradient.buffer)].elements <
      setup.buffers[plan::index_of(value.buffer)].elements) {
    throw UsageError(
        "--as-original adds to the gradients of the step before, which this strategy does not "
        "keep: leave it out, or take the update rule zero-1.");
  }
}

// With one intra-op thread, kernels on the communication thread leave the cores to the training
// thread.
void set_up_communication_thread() {
  at::set_num_threads(1);
  at::GradMode::set_enabled(false);
}

}  // namespace

void require_executable(const plan::Planner& planner, const plan::PlanInput& input,
                        const plan::Setup& setup, bool thread_per_message) {
  for (const plan::Variant variant : plan::variants_of(planner, input)) {
    std::size_t messages = 0;
    for (const plan::Op& op : planner.plan(input, setup, variant).ops) {
      if (const auto* exchange = std::get_if<plan::Exchange>(&op.work)) {
        messages += exchange->sends.size() + exchange->receives.size();
      }
      if (const auto* kernel = std::get_if<plan::Kernel>(&op.work);
          kernel != nullptr && op.performer.empty()) {
        find_kernel(kernel->name);
      }
    }
    if (thread_per_message && messages > kMostThreads) {
      throw UsageError(
          fmt::format("Rank {} would have {} messages in a step, each of which needs a thread on "
                      "this engine; at most {}: take larger partitions.",
                      input.rank, messages, kMostThreads));
    }
  }
}

Executor::Executor(const Components& parts, Options options)
    : traced_(parts.traced),
      memory_(parts.memory),
      reducer_(parts.performer),
      keep_gradients_(options.keep_gradients),
      write_gradient_(std::move(options.write_gradient)),
      torch_device_(parts.device),
      device_(options.streams_of(parts.device)),
      programs_(parts.planner, parts.input, memory_.setup()),
      flat_gradients_(ever_moved_gradients(parts)) {
  require_no_slack(parts, device_ != nullptr);
  if (parts.engine.one_issue_order) {
    plan::require_one_order(parts.planner, parts.input, memory_.setup(), parts.engine.name);
  }
  if (keep_gradients_) {
    require_kept_gradients(parts);
  }
  issuer_ = std::make_unique<ChannelIssuer>(parts.channels, memory_, device_, parts.engine);
  kernels_ = std::make_unique<KernelRunner>(parts.rule, Operands(memory_, flat_gradients_),
                                            std::move(options.kernel_time), options.seed,
                                            options.stretch, options.dispatcher.heartbeat);
  options.dispatcher.on_thread_start = set_up_communication_thread;
  options.dispatcher.device = device_.get();
  options.dispatcher.one_issue_order =
      plan::issues_in_program_order(memory_.setup().communicators, parts.engine.one_issue_order);
  dispatcher_ = std::make_unique<execution::Dispatcher>(
      parts.input, memory_.setup(), *issuer_,
      [this](plan::OpRef ref, const plan::Kernel& kernel) { kernels_->run(ref, kernel); },
      std::move(options.dispatcher));
  issuer_->report_to(dispatcher_.get());
  gates_ = std::make_unique<execution::ModelGates>(*dispatcher_, parts.input);
  hooks_ = std::make_unique<GradientHooks>(traced_.parameters,
                                           [this](plan::ParameterId p) { gradient_ready(p); });
  bound_gates_ = std::make_unique<BoundGates>(traced_.gated, *this);
  for (std::size_t p = 0; p < traced_.parameters.size(); ++p) {
    parameter_ids_[traced_.parameters[p].unsafeGetTensorImpl()] = static_cast<plan::ParameterId>(p);
  }
}

Executor::~Executor() {
  bound_gates_.reset();
  hooks_.reset();
  issuer_->report_to(nullptr);
  dispatcher_.reset();  // must end before the issuer, which waits for its works
}

void Executor::serve_step() {
  // Up to 1 + slack steps may still be open here: arriving messages may be that many steps apart.
  const plan::Step slack = plan::largest_slack_steps(plan_of(next_step_));
  dispatcher_->wait_steps(static_cast<std::size_t>(1 + slack));
  begin_step();
  dispatcher_->end_step();
}

void Executor::begin_step() {
  const plan::Step step = next_step_++;
  if (step == 0) {
    synchronize(torch_device_);  // waits for the writes that filled the buffers
  }
  gates_->begin_step(step, programs_.at(step));
}

void Executor::begin_forward(int micro) {
  gates_->begin_forward(micro);
  if (reducer_ != nullptr) {
    reducer_->before_forward(gates_->is_last_micro());
  }
  // The root module has no gated layer that could call enter() and leave().
  if (traced_.network != nullptr && traced_.gated.front() == nullptr) {
    enter(plan::ModuleId{0});
    leave(plan::ModuleId{0});
  }
}

void Executor::begin_backward() {
  gates_->begin_backward();
  in_backward_ = true;
  slots_taken_.clear();
  // All Forward ops are complete, so the training thread's stream is behind every kernel that reads
  // the gradients that autograd holds: updates come after those kernels, and gates wait for
  // updates. Flat gradients are added to in their slots, when their slots may be written.
  for (std::size_t p = 0; !keep_gradients_ && p < traced_.parameters.size(); ++p) {
    if (writes_gradients() || is_flat(static_cast<plan::ParameterId>(p))) {
      traced_.parameters[p].mutable_grad().reset();
    }
  }
  if (reducer_ != nullptr) {
    reducer_->before_backward(gates_->is_last_micro());
  }
}

void Executor::end_backward() {
  if (reducer_ != nullptr) {
    reducer_->after_backward();
  }
  for (const plan::ParameterId unused : gates_->pending_gradients()) {
    gates_->enter_gradient(unused);
    if (is_flat(unused) && writes_gradients()) {
      memory_.gradient(unused).zero_();
    }
    gates_->leave_gradient(unused);
  }
  in_backward_ = false;
  gates_->end_backward();
}

// Waiting here could deadlock: the op that reads the slot may itself wait for the gradient of the
// same layer's bias, which autograd returns together with this gradient.  The gradient of a second
// use of the parameter needs separate memory.
at::Tensor Executor::gradient_slot(const at::Tensor& parameter) {
  const auto found = parameter_ids_.find(parameter.unsafeGetTensorImpl());
  if (!in_backward_ || found == parameter_ids_.end() || !is_flat(found->second) ||
      !writes_gradients() || parameter.grad().defined() || slots_taken_.contains(found->second) ||
      !gates_->try_enter_gradient(found->second)) {
    return {};
  }
  slots_taken_.insert(found->second);
  // Autograd keeps a gradient without a copy if nobody else references the tensor.
  return memory_.gradient(found->second).detach();
}

void Executor::gradient_ready(plan::ParameterId parameter) {
  if (!in_backward_) {
    throw UsageError(fmt::format(
        "A gradient of {} came outside of a backward pass of its own model: freeze its parameters "
        "by requires_grad_(False) while another model learns from what they compute.",
        traced_.shape.parameters[plan::index_of(parameter)].name));
  }
  if (!gates_->enter_gradient(parameter)) {
    throw UsageError(
        fmt::format("The gradient of {} was final already in this backward pass: a pass that uses "
                    "a parameter in several parts (reentrant checkpoints, several calls of "
                    "backward()) has no moment at which it is final.",
                    traced_.shape.parameters[plan::index_of(parameter)].name));
  }
  if (is_flat(parameter)) {
    const at::Tensor& slot = memory_.gradient(parameter);
    at::Tensor& gradient = memory_.parameter(parameter).mutable_grad();
    if (!gradient.defined()) {
      gradient = slot;
    } else if (gradient.data_ptr() != slot.data_ptr()) {
      if (writes_gradients()) {
        slot.copy_(gradient);
      } else {
        slot.add_(gradient);
      }
      gradient = slot;
    }
    if (write_gradient_) {
      write_gradient_(slot);
    }
  }
  gates_->leave_gradient(parameter);
}

void Executor::show_gradient(plan::ParameterId parameter) {
  if (is_flat(parameter)) {
    memory_.parameter(parameter).mutable_grad() = memory_.gradient(parameter);
  }
}

}  // namespace paceline::runtime
