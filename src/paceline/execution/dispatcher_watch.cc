// SPDX-License-Identifier: Apache-2.0
// The communication thread of a dispatcher runs kernels beside the training thread, polls for ends
// of ops on a device, and checks deadlines.
#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/execution/dispatcher.h"

namespace paceline::execution {
namespace {

constexpr std::chrono::nanoseconds kHeartbeatNs = std::chrono::milliseconds(500);
constexpr std::chrono::nanoseconds kDevicePollNs = std::chrono::microseconds(100);

}  // namespace

// The main function of the communication thread.  An exception fails the run; the thread goes on.
void Dispatcher::communicate() {
  if (options_.device != nullptr) {
    options_.device->enter_thread();
  }
  if (options_.on_thread_start) {
    options_.on_thread_start();
  }
  std::int64_t next_heartbeat_ns = 0;
  Lock lock(mutex_);
  while (!stop_) {
    try {
      communicate_once(next_heartbeat_ns, lock);
    } catch (...) {
      if (!lock.owns_lock()) {
        lock.lock();
      }
      record_failure(std::current_exception());
      communication_wake_.wait_for(lock, kDevicePollNs);  // releases the lock while it waits
    }
  }
}

void Dispatcher::communicate_once(std::int64_t& next_heartbeat_ns, Lock& lock) {
  if (options_.heartbeat && steady_ns() >= next_heartbeat_ns) {
    next_heartbeat_ns = steady_ns() + kHeartbeatNs.count();
    const plan::Step step = step_;
    const std::string op = diagnosis_.current();
    lock.unlock();
    options_.heartbeat(step, op);
    lock.lock();
  }
  if (stop_) {
    return;
  }
  check_deadlines();
  report_stuck(lock);
  const bool done = enqueued_ops_ && !error_.is_set() && complete_finished_ops(lock);
  const bool take = !error_.is_set() && has_kernel_for_communication_thread();
  const bool urgent = !options_.spare_core && !enqueued_ops_;
  if (!done && (!take || !run_one_kernel(lock, urgent))) {
    communication_wake_.wait_for(
        lock, enqueued_ops_ && !enqueued_ops_->empty() ? kDevicePollNs : kHeartbeatNs);
  }
}

// Completes the ops that the device has finished since the last call; returns whether there were
// any.
bool Dispatcher::complete_finished_ops(Lock& lock) {
  const std::vector<EnqueuedOps::Done> all = enqueued_ops_->take_done();
  for (const EnqueuedOps::Done& done : all) {
    if (!done.computes) {
      add_span(done.ref, done.began_ns);
    }
    scheduler_.complete(done.ref);
  }
  if (!all.empty()) {
    advance(lock);
  }
  return !all.empty();
}

// Returns the op that the training thread is working on; nothing if other ranks or the device block
// the thread. The op is model work; or it is the op that the thread waits for, if this op is ready,
// or if the thread runs, or should run, a kernel during the wait. After the last model work of its
// step the thread may still issue ops that became ready. On a device, communication may block the
// thread in any call. Another owner of ops, such as PyTorch's Reducer, may block it once no model
// work is left.
std::optional<plan::OpRef> Dispatcher::current_training_op() const {
  if (enqueued_ops_ && !scheduler_.in_flight().empty()) {
    return std::nullopt;
  }
  if (awaited_ != nullptr) {
    return training_in_kernel_ || (*awaited_)() || scheduler_.ready_kernels() > 0
               ? std::optional(awaited_op_)
               : std::nullopt;
  }
  if (!deadlines_.in_step()) {
    return std::nullopt;
  }
  const plan::Frontier& frontier = scheduler_.frontier();
  const auto next = scheduler_.first_pending_model_op();
  return next || frontier.idle() || scheduler_.first_pending_op_of_other_owner()
             ? next
             : std::optional(frontier.oldest());
}

// Whether the training thread is in a step all of whose ops are complete.
bool Dispatcher::is_past_all_ops() const {
  return awaited_ == nullptr && deadlines_.in_step() && scheduler_.frontier().idle();
}

// A training thread that waits in this dispatcher checks its own deadline, and its error names the
// chain of ops that it waits for. This function checks all other deadlines.
void Dispatcher::check_deadlines() {
  const auto at = current_training_op();
  const bool held = !at && !is_past_all_ops();
  deadlines_.update_clock(steady_ns());
  const auto still = deadlines_.find_hang(held, steady_ns());
  if (error_.is_set()) {
    return;
  }
  if (still) {
    training_hangs_ = true;
    record_failure(
        std::make_exception_ptr(WorldError(diagnosis_.describe_hang(at, step_, *still))));
    return;
  }
  if (training_waits_) {
    return;
  }
  if (const auto late = deadlines_.find_overdue(scheduler_, steady_ns())) {
    record_failure(
        std::make_exception_ptr(PeerTimeout(diagnosis_.overdue(late->op, late->waited))));
  }
}

void Dispatcher::report_stuck(Lock& lock) {
  if (!options_.stuck || !(deadlines_.in_step() || training_hangs_)) {
    return;
  }
  const auto grace = training_hangs_ ? std::chrono::nanoseconds(0) : options_.grace;
  if (const auto why = error_.take_unthrown(steady_ns(), grace)) {
    lock.unlock();
    options_.stuck(why);
    lock.lock();
  }
}

}  // namespace paceline::execution
