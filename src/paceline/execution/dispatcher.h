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
/// Whichever thread makes a collective or an exchange ready issues it, or the thread that is
/// issuing others just then; the lock is open meanwhile. Kernels run on the training thread while
/// it waits, or on the communication thread: those that communication waits for, and with
/// Options::spare_core all.
///
/// Note [Devices that run behind].  With Options::device an op is enqueued in a
/// stream, behind the events of the ops that it waits for, and is complete when its own event is:
/// then it leaves its communicator's credit.  What waits for an op may be enqueued as soon as the
/// op is.  So the training thread does not wait at gates: its stream waits for the events of the
/// gate's predecessors. It waits for ops that are not enqueued, and before a step for the step
/// before the last, so that it is at most one step ahead.  Where ranks choose what to issue
/// (IssueOrder::kPriority), they choose among ops whose predecessors are complete.  The
/// communication thread asks for events in turn.
///
/// Note [Deadlines]: a wait ends with a WorldError that names the op and the
/// chain behind it after Deadlines::limit().  The first error ends every wait with that error.
/// Where a performer issues the ops nothing waits here, so the communication thread checks twice a
/// second for ops that are overdue (Deadlines::find_overdue) and for a training thread that hangs
/// though no op holds it (Deadlines::find_hang), which cannot receive an exception.
class Dispatcher final : public IssueListener {
 public:
  struct Options {
    std::chrono::nanoseconds timeout = std::chrono::seconds(60);
    std::chrono::nanoseconds first_step{0};  // about so long; 0: unknown
    std::chrono::nanoseconds training_timeout = Deadlines::kNoLimit;
    /// Kernels and model work need not share a core.
    bool spare_core = true;
    /// The device that performs ops asynchronously; null: the host performs them.
    Device* device = nullptr;
    /// As Scheduler's.
    bool one_issue_order = false;
    bool record_spans = false;
    /// Called first on the communication thread.
    std::function<void()> on_thread_start{};
    /// Called about twice a second on the communication thread.
    std::function<void(plan::Step, const std::string& op)> heartbeat{};
    /// What it returns lives exactly while the training thread is in a step or a wait, whose
    /// deadlines are kept here.  Whoever watches the thread else misses no moment in between.
    std::function<std::shared_ptr<void>()> watch{};
    /// Called once on the communication thread with the first error, where the training thread is
    /// still inside its step `grace` after it, or hangs: it cannot be woken, as where a performer
    /// waits, so the process should end.
    std::function<void(const std::exception_ptr& why)> stuck{};
    std::chrono::nanoseconds grace = std::chrono::seconds(5);
  };
  using RunKernel = std::function<void(plan::OpRef, const plan::Kernel&)>;
  using Lock = std::unique_lock<std::mutex>;

  /// `input`, `setup` and `issuer` must outlive the dispatcher.
  Dispatcher(const plan::PlanInput& input, const plan::Setup& setup, Issuer& issuer,
             RunKernel run_kernel, Options options);
  /// The issuer must report no more.
  ~Dispatcher() override;
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // The training thread calls these.  They throw the first error.

  void begin_step(plan::Step step, const std::shared_ptr<const plan::CommPlan>& plan);
  /// All model work of the step is done.
  void end_step();
  /// Waits until no more than `most` steps are open.
  void wait_steps(std::size_t most);
  /// The training thread made progress outside of ops.
  void progress();
  /// Waits until the op's hazards are gone.
  void wait_ready(plan::OpRef ref);
  /// As wait_ready() where that returns at once; else returns false.
  bool pass_if_ready(plan::OpRef ref);
  /// Waits until every op of every open step is complete.
  void wait_all() { wait_steps(0); }
  /// Model work, or a performer's op, is done.  Nothing happens where it was complete before.
  void complete(plan::OpRef ref);

  // Any thread.

  void op_ended(plan::OpRef ref, const std::exception_ptr& error) override;
  void op_enqueued(plan::OpRef ref, EventPtr event) override;
  void pick_arrived(std::size_t on, IssueQueue::Pick pick,
                    const std::exception_ptr& error) override;

  /// Time that the training thread has waited, and not spent in kernels
  /// itself, since the last call.
  std::int64_t take_waited_ns();
  /// Time that it has waited since the dispatcher was made, kernels included.
  std::int64_t waited_in_all_ns() const;
  std::vector<OpSpan> take_spans();
  /// As Scheduler::take_staleness.
  std::map<plan::Step, std::int64_t> take_staleness() {
    const Lock lock(mutex_);
    return scheduler_.take_staleness();
  }

 private:
  void throw_if_failed();
  void follow_on_device(plan::OpRef ref, Lock& lock);
  void wait_until(const std::function<bool()>& done, plan::OpRef ref, Lock& lock);
  void advance(Lock& lock);
  void issue(Lock& lock);
  void receive_picks(Lock& lock);
  bool may_issue(plan::OpRef ref) const;
  void start(plan::OpRef ref, Lock& lock);
  template <class Call>
  std::exception_ptr call_unlocked(Lock& lock, Call&& call);
  bool run_one_kernel(Lock& lock, bool urgent = false);
  void put_on_device(plan::OpRef ref, EventPtr event, std::int64_t began_ns, bool computes);
  bool has_kernel_beside() const;
  // dispatcher_watch.cc
  void communicate();
  void communicate_once(std::int64_t& next_heartbeat_ns, Lock& lock);
  bool complete_done(Lock& lock);
  void check_deadlines();
  std::optional<plan::OpRef> at_work() const;
  bool is_behind_all() const;
  void report_stuck(Lock& lock);
  void fail(const std::exception_ptr& error);
  void add_span(plan::OpRef ref, std::int64_t start_ns, OpSpan::Kind kind = OpSpan::Kind::kWork);

  Issuer& issuer_;
  const RunKernel run_kernel_;
  const Options options_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable training_wake_, communication_wake_;
  Scheduler scheduler_;
  std::optional<DeviceOrder> order_;  // on a device
  Diagnosis diagnosis_;
  Deadlines deadlines_;
  FirstError error_;
  plan::Step step_ = -1;
  std::shared_ptr<void> step_watch_;  // Options::watch's, in a step
  bool training_waits_ = false;       // and has no kernel to run
  bool training_hangs_ = false;
  /// What the training thread waits for, with the op; null: for nothing.
  const std::function<bool()>* awaited_ = nullptr;
  plan::OpRef awaited_op_{};
  bool training_in_kernel_ = false;  // within a wait
  bool stop_ = false;
  bool issuing_ = false;      // some thread is, with the lock open
  bool issue_again_ = false;  // something may have become ready meanwhile
  std::int64_t waited_ns_ = 0, waited_in_all_ns_ = 0;
  std::vector<OpSpan> spans_;

  std::thread communication_;
};

}  // namespace paceline::execution
