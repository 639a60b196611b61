// SPDX-License-Identifier: Apache-2.0
// The working side of the executor: issuing collectives, running kernels.
#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/plan/cost.h"
#include "paceline/runtime/executor.h"
#include "paceline/runtime/mailbox.h"

namespace paceline::runtime {

void Executor::complete(plan::OpRef ref, Lock& lock) {
  frontier_.complete(ref);
  advance(lock);
}

void Executor::enqueue_ready(Lock& /*lock*/) {
  for (const plan::OpRef ref : frontier_.take_ready()) {
    const plan::Op& op = frontier_.op(ref);
    if (std::holds_alternative<plan::Kernel>(op.work) && op.performer.empty()) {
      kernels_.insert({op.priority, ref.step, ref.op});
    }
  }
}

// Issues every collective that may start, in the order of its communicator; a
// run that has failed issues no more.
Executor::Issued Executor::issue_ready(Lock& lock) {
  Issued issued;
  const IssueQueue::IsReady is_ready = [this](plan::OpRef ref) {
    return frontier_.is_ready(ref);
  };
  for (std::size_t on = 0; on < queues_.size(); ++on) {
    while (failure_ == nullptr) {
      const auto ref = queues_[on].pop(is_ready);
      if (!ref.has_value()) {
        break;
      }
      try {
        tell_pick(*ref, on);
        issued.emplace_back(*ref, issue(*ref));
      } catch (...) {
        in_flight_.erase(*ref);
        fail_op(*ref, "could not start", std::current_exception(), lock);
      }
    }
  }
  return issued;
}

// The first member of a communicator by priority says what it issues next.
void Executor::tell_pick(plan::OpRef ref, std::size_t on) {
  if (!queues_[on].picks()) {
    return;
  }
  const at::Tensor pick = at::tensor({ref.step, plan::Step{ref.op}}, at::kLong);
  const engines::Channel::Work work = parts_.picks.at(on)->broadcast(pick, 0);
  // The tensor lives as long as what watches its work; that the others do not
  // hear is seen where the op itself waits for them.
  waiters_->watch([work, pick] { work->wait(); },
                  [](const std::exception_ptr&) {});
}

// The others ask for the picks.
void Executor::ask_for_picks() {
  for (std::size_t on = 0; on < queues_.size(); ++on) {
    if (failure_ != nullptr || !queues_[on].ask()) {
      continue;
    }
    const at::Tensor pick = at::empty({2}, at::kLong);
    const engines::Channel::Work work = parts_.picks.at(on)->broadcast(pick, 0);
    waiters_->watch(
        [work] { work->wait(); },
        [on, pick, mailbox = mailbox_](const std::exception_ptr& error) {
          const std::lock_guard mail(mailbox->mutex);
          if (mailbox->owner != nullptr) {
            const auto* numbers = pick.const_data_ptr<std::int64_t>();
            mailbox->owner->pick_heard(
                on,
                {numbers[0], static_cast<plan::OpIndex>(numbers[1])},
                error);
          }
        });
  }
}

void Executor::pick_heard(std::size_t on,
                          plan::OpRef pick,
                          const std::exception_ptr& error) {
  Lock lock(mutex_);
  if (error != nullptr) {
    fail(error, lock);
    return;
  }
  queues_[on].follow(pick);
  try {
    advance(lock);
  } catch (...) {
    if (!lock.owns_lock()) {
      lock.lock();
    }
    fail(std::current_exception(), lock);
  }
}

// Starts what may start and hands ready kernels out.  Engines may report at
// once and on this very thread, so their works are watched only after the lock
// is open.
void Executor::advance(Lock& lock) {
  ask_for_picks();
  enqueue_ready(lock);
  const Issued issued = issue_ready(lock);
  if (streams_.asynchronous()) {
    for (const auto& [ref, work] : issued) {
      streams_.on_plan([&, w = work] { w->wait(); });
      ended(ref);
      frontier_.complete(ref);
    }
    if (run_one_kernel(lock) || !issued.empty()) {
      advance(lock);
    }
    gate_wake_.notify_all();
    return;
  }
  if (at_gate_) {
    gate_wake_.notify_all();
  }
  if (kernels_.size() > (at_gate_ ? 1U : 0U)) {
    communication_wake_.notify_one();
  }
  if (!issued.empty()) {
    lock.unlock();
    for (const auto& [ref, work] : issued) {
      watch(ref, work);
    }
    lock.lock();
  }
}

engines::Channel::Work Executor::issue(plan::OpRef ref) {
  const auto& c = std::get<plan::Collective>(frontier_.op(ref).work);
  engines::Channel* channel = parts_.channels[plan::index_of(c.on)];
  PACELINE_CHECK(channel != nullptr);
  const at::Tensor in = parts_.memory.view(c.in);
  const at::Tensor out = parts_.memory.view(c.out);
  in_flight_.emplace(ref, steady_ns());
  streams_.plan_follows_compute();
  engines::Channel::Work work;
  streams_.on_plan([&] {
    switch (c.pattern) {
      case plan::Pattern::kAllReduce:
        PACELINE_CHECK(c.in == c.out);
        work = channel->all_reduce(out, c.reduce);
        break;
      case plan::Pattern::kReduceScatter:
        work = channel->reduce_scatter(in, out, c.reduce);
        break;
      case plan::Pattern::kAllGather:
        work = channel->all_gather(in, out);
        break;
      case plan::Pattern::kBroadcast:
        PACELINE_CHECK(c.in == c.out);
        work = channel->broadcast(out, c.root);
        break;
    }
  });
  return work;
}

void Executor::ended(plan::OpRef ref) {
  const plan::Op& op = frontier_.op(ref);
  in_flight_.erase(ref);
  queues_[plan::index_of(*plan::communicator_of(op))].end(
      plan::bytes_on_credit(parts_.memory.setup(), op));
}

void Executor::watch(plan::OpRef ref, const engines::Channel::Work& work) {
  const auto report = [ref, mailbox = mailbox_](const std::exception_ptr& e) {
    const std::lock_guard mail(mailbox->mutex);
    if (mailbox->owner != nullptr) {
      mailbox->owner->collective_done(ref, e);
    }
  };
  const auto future = mailbox_->futures.of(work);
  if (future != nullptr) {
    future->addCallback([report](c10::ivalue::Future& done) {
      report(done.hasError() ? done.exception_ptr() : nullptr);
    });
  } else {
    waiters_->watch([work] { work->wait(); }, report);
  }
}

void Executor::collective_done(plan::OpRef ref,
                               const std::exception_ptr& error) {
  Lock lock(mutex_);
  if (error != nullptr) {
    fail_op(ref, "failed", error, lock);
    return;
  }
  add_span(ref, in_flight_.at(ref));
  ended(ref);
  try {
    complete(ref, lock);
  } catch (...) {
    if (!lock.owns_lock()) {
      lock.lock();
    }
    fail(std::current_exception(), lock);
  }
}

// Runs the ready kernel that comes first; false where none is ready.
bool Executor::run_one_kernel(Lock& lock) {
  if (kernels_.empty()) {
    return false;
  }
  const auto [priority, step, index] = *kernels_.begin();
  kernels_.erase(kernels_.begin());
  const plan::OpRef ref{step, index};
  const auto& work = std::get<plan::Kernel>(frontier_.op(ref).work);
  const std::int64_t began = steady_ns();
  lock.unlock();
  try {
    if (const auto time =
            options_.kernel_time ? options_.kernel_time(work) : std::nullopt) {
      sleep_until_ns(began + time->count());
    } else {
      streams_.plan_follows_compute();
      streams_.on_plan([&] {
        runtime::find_kernel(work.name).run(parts_.rule,
                                            operands_->resolve(work));
      });
    }
    lock.lock();
  } catch (...) {
    lock.lock();
    fail(std::current_exception(), lock);
    return true;
  }
  add_span(ref, began);
  if (streams_.asynchronous()) {
    frontier_.complete(ref);
  } else {
    complete(ref, lock);
  }
  return true;
}

// The communication thread: kernels that the training thread has no time for,
// and the heartbeat.  What goes wrong here fails the run; the thread lives on.
void Executor::communicate() {
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  std::int64_t next_beat = 0;
  Lock lock(mutex_);
  while (!stop_) {
    try {
      communicate_once(next_beat, lock);
    } catch (...) {
      if (!lock.owns_lock()) {
        lock.lock();
      }
      fail(std::current_exception(), lock);
    }
  }
}

void Executor::communicate_once(std::int64_t& next_beat, Lock& lock) {
  if (options_.beat && steady_ns() >= next_beat) {
    next_beat = steady_ns() + 500'000'000;
    const plan::Step step = step_;
    const std::string op = current_op();
    lock.unlock();
    options_.beat(step, op);
    lock.lock();
  }
  if (stop_) {
    return;
  }
  check_deadlines(lock);
  report_stuck(lock);
  // While the training thread stands idle at a gate it runs kernels itself,
  // with its own threads; one is taken from it only if more are ready.
  const bool take = !kernels_.empty() && failure_ == nullptr &&
                    (!at_gate_ || kernels_.size() > 1);
  if (!take || !run_one_kernel(lock)) {
    communication_wake_.wait_for(lock, std::chrono::milliseconds(500));
  }
}

void Executor::add_span(plan::OpRef ref,
                        std::int64_t start_ns,
                        OpSpan::Kind kind) {
  if (options_.record_spans) {
    spans_.push_back({ref, kind, start_ns, steady_ns()});
  }
}

}  // namespace paceline::runtime
