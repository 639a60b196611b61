// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "paceline/engines/engine.h"
#include "paceline/engines/waiters.h"
#include "paceline/networks/layer.h"
#include "paceline/plan/frontier.h"
#include "paceline/runtime/hooks.h"
#include "paceline/runtime/issue_queue.h"
#include "paceline/runtime/kernels/table.h"
#include "paceline/runtime/memory.h"
#include "paceline/runtime/op_span.h"
#include "paceline/runtime/operands.h"
#include "paceline/runtime/performer.h"
#include "paceline/runtime/shape.h"
#include "paceline/runtime/step_program.h"
#include "paceline/runtime/streams.h"

namespace paceline::runtime {

/// Throws UsageError that names what the runtime cannot do of a plan.
void require_executable(const plan::CommPlan& plan);

/// Performs a plan with real tensors on a real engine.
///
/// The training thread opens steps and runs the network; gates hold a layer's
/// forward until its parameters are ready; gradient hooks report what backward
/// has finished.  Whichever thread makes a collective ready issues it, each
/// communicator in its order (runtime/issue_queue.h); kernels run on the
/// communication thread, or on the training thread while it waits at a gate.
///
/// Note [Deadlines]: a wait at a gate ends with a WorldError that names the op
/// and the chain behind it after max(timeout, 10 x the slowest step so far);
/// before there is one, `first_step` stands for it.
/// The first error opens every gate with that error.  Where a performer issues
/// the ops nothing stands at a gate, so the communication thread looks twice a
/// second for what no gate sees: an op in flight for longer, or a training
/// thread that has done nothing for longer while the performer has it.
class Executor final : public networks::Gates {
 public:
  struct Parts {
    const plan::Planner& planner;
    const plan::PlanInput& input;
    TracedNetwork& traced;
    FlatMemory& memory;
    std::vector<engines::Channel*>
        channels;  // by CommunicatorId; null: no member
    /// By CommunicatorId, where the order is kPriority: the same members, over
    /// which the first says what it has picked.
    std::vector<engines::Channel*> picks{};
    runtime::UpdateRule rule;
    at::Device device;
    Performer* performer = nullptr;
  };
  struct Options {
    std::chrono::milliseconds timeout{60'000};
    std::chrono::nanoseconds first_step{0};  // about so long; 0: unknown
    bool keep_gradients = false;  // never zeroed: every backward adds
    bool record_spans = false;
    /// For how long a kernel is slept through instead of run; nothing: it is
    /// run.  Null: all are.
    std::function<std::optional<std::chrono::nanoseconds>(const plan::Kernel&)>
        kernel_time{};
    /// Called about once a second from the communication thread.
    std::function<void(plan::Step, const std::string& op)> beat;
    /// Called once from the communication thread with the failure's text, where
    /// the training thread is still inside its step `grace` after a failure: a
    /// performer that waits cannot be woken, so the process should end.
    std::function<void(const std::string& why)> stuck{};
    std::chrono::milliseconds grace{5'000};
  };

  Executor(const Parts& parts, Options options);
  /// Joins its threads, so it ends after the works that can only be waited for;
  /// the channels could not be closed before either.
  ~Executor() override;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Opens the next step.
  void begin_step();
  void begin_forward(int micro);
  void begin_backward();
  void end_backward();
  /// Waits until every op of every open step is complete.
  void drain();

  /// Time that the training thread has stood at gates or drained, and not
  /// spent in kernels itself, since the last call.
  std::int64_t take_waited_ns();
  /// Time that it has stood at gates or drained since the executor was made,
  /// kernels included.
  std::int64_t stood_ns() const;
  std::vector<OpSpan> take_spans();
  const plan::CommPlan& plan_of(plan::Step step);
  plan::Step steps_begun() const { return next_step_; }

  void enter(plan::ModuleId module) override;
  void leave(plan::ModuleId module) override;
  bool gates_backward(plan::ModuleId module) const override;
  void enter_backward(plan::ModuleId module) override;

  /// A gradient is final in this micro-batch: called by the parameter's hook,
  /// or by who stands for the network; then the gradient is what its slot
  /// holds.
  void gradient_ready(plan::ParameterId parameter);

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Mailbox;  // where engine threads report, alive after the executor
  using Issued = std::vector<std::pair<plan::OpRef, engines::Channel::Work>>;
  using KernelKey = std::tuple<std::int32_t, plan::Step, plan::OpIndex>;

  const StepProgram& program_of(plan::Step step);
  plan::OpRef forward_ref(plan::ModuleId module) const;
  plan::OpRef backward_ref(plan::ParameterId parameter) const;

  bool is_last_micro() const {
    return micro_ + 1 == parts_.input.micro_batches;
  }
  void wait_until_ready(plan::OpRef ref, Lock& lock);
  void wait_until(const std::function<bool()>& done,
                  plan::OpRef ref,
                  Lock& lock);
  void complete(plan::OpRef ref, Lock& lock);
  void advance(Lock& lock);
  Issued issue_ready(Lock& lock);
  engines::Channel::Work issue(plan::OpRef ref);
  void enqueue_ready(Lock& lock);
  void tell_pick(plan::OpRef ref, std::size_t on);
  void ask_for_picks();
  void pick_heard(std::size_t on,
                  plan::OpRef pick,
                  const std::exception_ptr& error);
  void watch(plan::OpRef ref, const engines::Channel::Work& work);
  void ended(plan::OpRef ref);
  void collective_done(plan::OpRef ref, const std::exception_ptr& error);
  bool run_one_kernel(Lock& lock);
  void communicate();
  void communicate_once(std::int64_t& next_beat, Lock& lock);
  void fail(const std::exception_ptr& error, Lock& lock);
  // The same with a sentence that names the op: "step 1: ... failed: why".
  void fail_op(plan::OpRef ref,
               std::string_view what,
               const std::exception_ptr& error,
               Lock& lock);
  void check_failure();
  void check_deadlines(Lock& lock);
  void report_stuck(Lock& lock);
  plan::OpRef first_of_performer() const;
  std::chrono::nanoseconds patience() const;
  [[noreturn]] void give_up(plan::OpRef ref,
                            std::chrono::nanoseconds waited,
                            Lock& lock);
  std::string describe(plan::OpRef ref) const;
  std::string current_op() const;
  void add_span(plan::OpRef ref,
                std::int64_t start_ns,
                OpSpan::Kind kind = OpSpan::Kind::kWork);

  Parts parts_;
  Options options_;
  Streams streams_;
  plan::Frontier frontier_;
  std::map<plan::Variant, StepProgram> programs_;
  std::unique_ptr<Operands> operands_;
  bool flat_gradients_ = false;

  mutable std::mutex mutex_;
  std::condition_variable gate_wake_, communication_wake_;
  std::vector<IssueQueue> queues_;                 // by communicator
  std::set<KernelKey> kernels_;                    // ready to run
  std::map<plan::OpRef, std::int64_t> in_flight_;  // issued at, ns
  std::exception_ptr failure_;
  std::vector<OpSpan> spans_;
  const StepProgram* program_ = nullptr;  // of the current step
  plan::Step next_step_ = 0, step_ = -1;
  int micro_ = 0;
  std::vector<bool> backward_done_;  // by parameter, this micro-batch
  bool at_gate_ = false;  // the training thread stands at a gate, idle
  bool stop_ = false;
  std::int64_t waited_ns_ = 0, stood_ns_ = 0;
  std::int64_t slowest_step_ns_ = 0, step_began_ns_ = 0;
  // The training thread: whether it is between begin_step() and the end of the
  // last backward, and when it last got ahead there.
  bool in_step_ = false;
  std::int64_t progress_ns_ = 0;
  std::int64_t failed_ns_ = 0;
  bool failure_told_ = false;  // to the training thread, or by `stuck`

  std::shared_ptr<Mailbox> mailbox_;
  std::unique_ptr<engines::Waiters> waiters_;
  std::unique_ptr<GradientHooks> hooks_;
  std::thread communication_;
};

}  // namespace paceline::runtime
