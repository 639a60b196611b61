// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "paceline/execution/dispatcher.h"
#include "paceline/execution/model_gates.h"
#include "paceline/execution/step_program.h"
#include "paceline/networks/gates.h"
#include "paceline/plan/engine_traits.h"
#include "paceline/runtime/channel_issuer.h"
#include "paceline/runtime/hooks.h"
#include "paceline/runtime/kernel_runner.h"
#include "paceline/runtime/memory.h"
#include "paceline/runtime/shape.h"
#include "paceline/runtime/torch_device.h"

namespace paceline::runtime {

class Reducer;  // runtime/reducer.h

/// Throws UsageError that names what the runtime cannot execute of a rank's plan, in any of the
/// plan's variants.  `thread_per_message`: the field of plan::EngineTraits, of the engine that
/// carries the messages.
void require_executable(const plan::Planner& planner, const plan::PlanInput& input,
                        const plan::Setup& setup, bool thread_per_message);

/// Performs a plan with real tensors on a real engine.
///
/// The training thread opens steps and runs the network.  The network's gates and gradient hooks go
/// to execution::ModelGates, which waits for ops and completes them at the execution::Dispatcher.
/// The dispatcher hands collectives to the ChannelIssuer and kernels to the KernelRunner.
class Executor final : public networks::Gates {
 public:
  struct Components {
    const plan::Planner& planner;
    const plan::PlanInput& input;
    TracedNetwork& traced;
    FlatMemory& memory;
    Channels channels;
    OptimizerSettings rule;
    at::Device device;
    const plan::EngineTraits& engine;
    /// Issues the ops that the executor does not own; null: the plan has no such ops.
    Reducer* performer = nullptr;
  };
  struct Options {
    execution::Dispatcher::Options dispatcher{};
    bool keep_gradients = false;  // gradients are never zeroed: every backward adds
    /// Writes a gradient that is ready into its slot; for ranks without a network, in place of
    /// autograd. If empty, slots keep their contents.
    std::function<void(const at::Tensor& slot)> write_gradient{};
    KernelRunner::Time kernel_time{};
    std::uint64_t seed = 0;  // of the random numbers that kernels draw
    double stretch = 1;      // passed to KernelRunner
    /// Makes the object through which the executor uses streams and events of Components::device.
    std::function<std::unique_ptr<execution::Device>(at::Device)> streams_of = make_device;
  };

  Executor(const Components& parts, Options options);
  ~Executor() override;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Runs the kernels that write the initial contents of memory, which may take longer than a step
  /// may. May be called once, before the first step.
  void start() { kernels_->start(plan_of(0)); }

  // A rank without model work calls serve_step() for each step.  Any other rank calls begin_step(),
  // then for each micro-batch begin_forward(), the forward pass, begin_backward(), the backward
  // pass, end_backward().

  /// Waits until only as many steps are open as the plan's slack allows (one without slack), then
  /// opens the next step, so that its messages are posted before they arrive.
  void serve_step();
  void begin_step();
  void begin_forward(int micro);
  void begin_backward();
  void end_backward();
  /// Sets the constants of the updates of this step and of later steps.  Must be called between
  /// begin_backward() and the backward pass, when no update runs (Note [The learning rate of a
  /// step] in rank/trainer.cc).
  void set_rule(OptimizerSettings rule) { kernels_->set_rule(std::move(rule)); }
  /// Throws the error that has ended the run, if there is one.
  void throw_if_failed() { dispatcher_->progress(); }
  /// Waits until every op of every open step is complete.
  void drain() { dispatcher_->wait_all(); }

  /// The following functions forward to execution::Dispatcher, which describes them.
  std::int64_t take_waited_ns() { return dispatcher_->take_waited_ns(); }
  std::int64_t total_waited_ns() const { return dispatcher_->total_waited_ns(); }
  std::vector<execution::OpSpan> take_spans() { return dispatcher_->take_spans(); }

  std::map<plan::Step, std::int64_t> take_staleness() { return dispatcher_->take_staleness(); }
  /// Forwards to KernelRunner::coding_ns().
  std::int64_t coding_ns() const { return kernels_->coding_ns(); }

  const plan::CommPlan& plan_of(plan::Step step) { return *programs_.at(step).plan; }
  plan::Step steps_begun() const { return next_step_; }

  void enter(plan::ModuleId module) override { gates_->enter(module); }
  void leave(plan::ModuleId module) override { gates_->leave(module); }
  bool gates_backward(plan::ModuleId module) const override {
    return gates_->gates_backward(module);
  }
  void enter_backward(plan::ModuleId module) override { gates_->enter_backward(module); }
  at::Tensor gradient_slot(const at::Tensor& parameter) override;

  /// Reports that a gradient is final in this micro-batch.  The parameter's hook calls this
  /// function; in a replay, which has no network, its caller does, and the gradient is the content
  /// of its slot.
  void gradient_ready(plan::ParameterId parameter);

  /// Makes the flat gradient the parameter's .grad, even if this rank has computed no gradient for
  /// it. No other thread may be writing the flat gradient.
  void show_gradient(plan::ParameterId parameter);

 private:
  // Whether this backward pass writes gradients instead of adding to them.
  bool writes_gradients() const { return gates_->micro() == 0 && !keep_gradients_; }

  bool is_flat(plan::ParameterId parameter) const {
    return flat_gradients_.contains(
        memory_.setup().parameters[plan::index_of(parameter)].gradient.buffer);
  }

  TracedNetwork& traced_;
  FlatMemory& memory_;
  Reducer* reducer_;
  const bool keep_gradients_;
  bool in_backward_ = false;
  const std::function<void(const at::Tensor&)> write_gradient_;
  const at::Device torch_device_;
  std::shared_ptr<execution::Device> device_;  // null on the CPU
  execution::StepPrograms programs_;
  // The gradient buffers whose gradients lie in their flat slots after the backward pass.
  std::set<plan::BufferId> flat_gradients_;
  std::unordered_map<const c10::TensorImpl*, plan::ParameterId> parameter_ids_;
  std::set<plan::ParameterId> slots_taken_;  // by gradients of this backward pass
  plan::Step next_step_ = 0;
  std::unique_ptr<ChannelIssuer> issuer_;
  std::unique_ptr<KernelRunner> kernels_;
  std::unique_ptr<execution::Dispatcher> dispatcher_;
  std::unique_ptr<execution::ModelGates> gates_;
  std::unique_ptr<GradientHooks> hooks_;
  std::unique_ptr<BoundGates> bound_gates_;
};

}  // namespace paceline::runtime
