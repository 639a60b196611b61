// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "paceline/execution/deadlines.h"
#include "paceline/execution/device_order.h"
#include "paceline/execution/diagnosis.h"
#include "paceline/execution/issuer.h"
#include "paceline/execution/op_span.h"
#include "paceline/execution/scheduler.h"
#include "paceline/plan/plan_input.h"

namespace paceline::execution {

/// Starts every op of a plan as soon as the scheduler allows it, and lets the training thread wait
/// for ops.
///
/// The thread that makes a collective or an exchange ready issues it, unless another thread is
/// issuing at that time: then that thread does.  The lock is open during calls of the engine.
/// Kernels run on the training thread while it waits, or on the communication thread, which takes
/// only kernels that communication waits for, or all kernels if Options::spare_core is set.
///
/// Note [Devices that run behind].  With Options::device an op is enqueued in a stream, after the
/// events of the ops that it waits for.  It is complete when its own event is; only then does it
/// leave its communicator's credit.  An op that waits for it may be enqueued as soon as it is
/// enqueued itself. So the training thread does not wait at gates: its stream waits for the events
/// of the gate's predecessors.  The thread waits for ops that are not enqueued, and before each
/// step for the step before the last, so that it is at most one step ahead.  If ranks choose what
/// to issue (IssueOrder::kPriority), they choose among ops whose predecessors are complete.  The
/// communication thread polls the events.
///
/// Note [Deadlines]: after Deadlines::limit() a wait ends with a WorldError that names the op and
/// the chain of ops behind it.  The first error ends every wait with that error. If other code,
/// such as PyTorch's Reducer, issues the ops, nothing waits here.  So the communication thread
/// checks twice a second for overdue ops (Deadlines::find_overdue) and for a training thread that
/// hangs although no op holds it (Deadlines::find_hang); such a thread cannot receive an exception.
class Dispatcher final : public IssueListener {
 public:
  struct Options {
    std::chrono::nanoseconds timeout = std::chrono::seconds(60);
    std::chrono::nanoseconds first_step{0};  // expected length of a step; 0: unknown
    std::chrono::nanoseconds training_timeout = Deadlines::kNoLimit;
    /// Whether kernels have a core of their own beside the training thread, so that they need not
    /// wait for it.
    bool spare_core = true;
    /// The device that performs ops asynchronously; null: the host performs them.
    Device* device = nullptr;
    /// Whether all communicators together issue in program order (see Scheduler).
    bool one_issue_order = false;
    bool record_spans = false;
    /// Called once on the communication thread, before anything else.
    std::function<void()> on_thread_start{};
    /// Called about twice a second on the communication thread, with what this rank is doing.
    std::function<void(plan::Step, const std::string& op)> heartbeat{};
    /// Returns an object that exists exactly while the training thread is in a step or a wait, when
    /// this dispatcher checks its deadlines. While no such object exists, another watchdog
    /// (Heartbeat) must check the thread, so the thread is always watched by one of them.
    std::function<std::shared_ptr<void>()> watch{};
    /// Called once on the communication thread with the first error, if the training thread hangs
    /// or is still inside its step `grace` after the error. Such a thread may be inside PyTorch's
    /// Reducer, for example, and cannot be woken, so the process should end.
    std::function<void(const std::exception_ptr& why)> stuck{};
    std::chrono::nanoseconds grace = std::chrono::seconds(5);
  };
  using RunKernel = std::function<void(plan::OpRef, const plan::Kernel&)>;
  using Lock = std::unique_lock<std::mutex>;

  /// `input`, `setup` and `issuer` must outlive the dispatcher.
  Dispatcher(const plan::PlanInput& input, const plan::Setup& setup, Issuer& issuer,
             RunKernel run_kernel, Options options);
  /// The issuer must have stopped reporting to this object before.
  ~Dispatcher() override;
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Only the training thread calls these functions.  They throw the first error.

  void begin_step(plan::Step step, const std::shared_ptr<const plan::CommPlan>& plan);
  /// Reports that all model work of the step is done.
  void end_step();
  /// Waits until at most `most` steps are open.
  void wait_steps(std::size_t most);
  /// Reports that the training thread made progress that is not the completion of an op.
  void progress();
  /// Waits until the op is ready: its hazards are gone.
  void wait_ready(plan::OpRef ref);
  /// Does what wait_ready() does if the op is ready; else returns false at once.
  bool try_wait_ready(plan::OpRef ref);
  /// Waits until every op of every open step is complete.
  void wait_all() { wait_steps(0); }
  /// Reports that model work is done, or an op that another owner than the executor issues. Does
  /// nothing if the op was already complete.
  void complete(plan::OpRef ref);

  // Any thread may call these functions.

  void op_ended(plan::OpRef ref, const std::exception_ptr& error) override;
  void op_enqueued(plan::OpRef ref, EventPtr event) override;
  void pick_arrived(std::size_t on, IssueQueue::Pick pick,
                    const std::exception_ptr& error) override;

  /// Returns the time in ns that the training thread has waited since the last call, without the
  /// time that it spent in kernels during waits.
  std::int64_t take_waited_ns();
  /// Returns the time in ns that it has waited since the dispatcher was made, kernels included.
  std::int64_t total_waited_ns() const;
  std::vector<OpSpan> take_spans();
  /// The same as Scheduler::take_staleness().
  std::map<plan::Step, std::int64_t> take_staleness() {
    const Lock lock(mutex_);
    return scheduler_.take_staleness();
  }

 private:
  void throw_if_failed();
  void wait_in_stream(plan::OpRef ref, Lock& lock);
  void wait_until(const std::function<bool()>& done, plan::OpRef ref, Lock& lock);
  void advance(Lock& lock);
  void issue(Lock& lock);
  void receive_picks(Lock& lock);
  bool may_issue(plan::OpRef ref) const;
  void start(plan::OpRef ref, Lock& lock);
  template <class Call>
  std::exception_ptr call_unlocked(Lock& lock, Call&& call);
  bool run_one_kernel(Lock& lock, bool urgent = false);
  void record_enqueued(plan::OpRef ref, EventPtr event, std::int64_t began_ns, bool computes);
  bool has_kernel_for_communication_thread() const;
  // The functions up to fail() are defined in dispatcher_watch.cc.
  void communicate();
  void communicate_once(std::int64_t& next_heartbeat_ns, Lock& lock);
  bool complete_finished_ops(Lock& lock);
  void check_deadlines();
  std::optional<plan::OpRef> current_training_op() const;
  bool is_past_all_ops() const;
  void report_stuck(Lock& lock);
  void record_failure(const std::exception_ptr& error);
  void add_span(plan::OpRef ref, std::int64_t start_ns, OpSpan::Kind kind = OpSpan::Kind::kWork);

  Issuer& issuer_;
  const RunKernel run_kernel_;
  const Options options_;

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable training_wake_, communication_wake_;
  Scheduler scheduler_;
  std::optional<EnqueuedOps> enqueued_ops_;  // null if the host performs the ops
  Diagnosis diagnosis_;
  Deadlines deadlines_;
  FirstError error_;
  plan::Step step_ = -1;
  std::shared_ptr<void> step_watch_;  // result of Options::watch during a step
  bool training_waits_ = false;       // in wait_until(), without a kernel to run
  bool training_hangs_ = false;
  /// What the training thread waits for, and the op; null: it waits for nothing.
  const std::function<bool()>* awaited_ = nullptr;
  plan::OpRef awaited_op_{};
  bool training_in_kernel_ = false;  // whether the thread runs a kernel while it waits
  bool stop_ = false;
  bool issuing_ = false;      // some thread is in issue(), perhaps with the lock open
  bool issue_again_ = false;  // an op may have become ready meanwhile
  std::int64_t waited_ns_ = 0, total_waited_ns_ = 0;
  std::vector<OpSpan> spans_;

  std::thread communication_;
};

}  // namespace paceline::execution
