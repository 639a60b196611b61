// SPDX-License-Identifier: Apache-2.0
// The waiting side of the executor: gates, deadlines, the first failure.
#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <torch/torch.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/plan/describe.h"
#include "paceline/runtime/executor.h"

namespace paceline::runtime {

void Executor::wait_until_ready(plan::OpRef ref, Lock& lock) {
  if (!frontier_.is_ready(ref)) {
    wait_until([&] { return frontier_.is_ready(ref); }, ref, lock);
  }
}

void Executor::wait_until(const std::function<bool()>& done,
                          plan::OpRef ref,
                          Lock& lock) {
  const std::int64_t began = steady_ns();
  std::int64_t helped = 0;
  while (!done()) {
    check_failure();
    const std::int64_t kernel_began = steady_ns();
    if (run_one_kernel(lock)) {
      helped += steady_ns() - kernel_began;
      continue;
    }
    const std::chrono::nanoseconds waited(steady_ns() - began);
    if (waited >= patience()) {
      give_up(ref, waited, lock);
    }
    at_gate_ = true;
    gate_wake_.wait_for(lock,
                        std::min<std::chrono::nanoseconds>(
                            patience() - waited, std::chrono::seconds(1)));
    at_gate_ = false;
  }
  check_failure();
  const std::int64_t stood = steady_ns() - began;
  waited_ns_ += stood - helped;
  stood_ns_ += stood;
  add_span(ref, began, OpSpan::Kind::kWait);
  if (!kernels_.empty()) {
    communication_wake_.notify_one();
  }
}

std::chrono::nanoseconds Executor::patience() const {
  return std::max<std::chrono::nanoseconds>(
      options_.timeout, std::chrono::nanoseconds(10 * slowest_step_ns_));
}

void Executor::give_up(plan::OpRef ref,
                       std::chrono::nanoseconds waited,
                       Lock& lock) {
  std::string text = fmt::format("step {}: {} waited {:.1f} s",
                                 ref.step,
                                 describe(ref),
                                 std::chrono::duration<double>(waited).count());
  const std::vector<plan::OpRef> chain = frontier_.chain(ref);
  for (std::size_t i = 1; i < chain.size(); ++i) {
    text +=
        fmt::format(" behind {} of step {}", describe(chain[i]), chain[i].step);
  }
  const plan::OpRef last = chain.back();
  text += in_flight_.contains(last) ? ", which is in flight"
                                    : ", which has not been issued";
  fail(std::make_exception_ptr(WorldError(text)), lock);
  failure_told_ = true;
  std::rethrow_exception(failure_);
}

// The first collective of this step that a performer issues; op -1 where none
// is open.
plan::OpRef Executor::first_of_performer() const {
  const auto& ops = program_->plan->ops;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const plan::OpRef ref{step_, static_cast<plan::OpIndex>(i)};
    if (!ops[i].performer.empty() &&
        std::holds_alternative<plan::Collective>(ops[i].work) &&
        !frontier_.is_complete(ref)) {
      return ref;
    }
  }
  return {step_, -1};
}

void Executor::check_deadlines(Lock& lock) {
  if (failure_ != nullptr || at_gate_) {  // a gate names the chain as well
    return;
  }
  const std::int64_t now = steady_ns();
  const auto overdue = [&](plan::OpRef ref, std::int64_t since) {
    if (now - since < patience().count()) {
      return false;
    }
    fail(std::make_exception_ptr(
             WorldError(fmt::format("step {}: {} is not done after {:.1f} s",
                                    ref.step,
                                    describe(ref),
                                    static_cast<double>(now - since) * 1e-9))),
         lock);
    return true;
  };
  for (const auto& [ref, since] : in_flight_) {
    if (overdue(ref, since)) {
      return;
    }
  }
  if (in_step_ && parts_.performer != nullptr) {
    if (const plan::OpRef ref = first_of_performer(); ref.op >= 0) {
      overdue(ref, progress_ns_);
    }
  }
}

void Executor::report_stuck(Lock& lock) {
  if (failure_ == nullptr || failure_told_ || !in_step_ || !options_.stuck ||
      std::chrono::nanoseconds(steady_ns() - failed_ns_) < options_.grace) {
    return;
  }
  failure_told_ = true;
  std::string why;
  try {
    std::rethrow_exception(failure_);
  } catch (const std::exception& e) {
    why = e.what();
  }
  lock.unlock();
  options_.stuck(why);
  lock.lock();
}

void Executor::fail(const std::exception_ptr& error, Lock& /*lock*/) {
  if (failure_ == nullptr) {
    failure_ = error;
    failed_ns_ = steady_ns();
  }
  gate_wake_.notify_all();
  communication_wake_.notify_all();
}

void Executor::fail_op(plan::OpRef ref,
                       std::string_view what,
                       const std::exception_ptr& error,
                       Lock& lock) {
  const auto text = [&](const std::exception& why) {
    return fmt::format(
        "step {}: {} {}: {}", ref.step, describe(ref), what, why.what());
  };
  try {
    std::rethrow_exception(error);
  } catch (const UsageError& why) {
    fail(std::make_exception_ptr(UsageError(text(why))), lock);
  } catch (const std::exception& why) {
    fail(std::make_exception_ptr(WorldError(text(why))), lock);
  }
}

void Executor::check_failure() {
  if (failure_ != nullptr) {
    failure_told_ = true;
    std::rethrow_exception(failure_);
  }
}

std::string Executor::describe(plan::OpRef ref) const {
  return plan::describe(
      frontier_.op(ref), parts_.input.model, parts_.memory.setup());
}

std::string Executor::current_op() const {
  if (!in_flight_.empty()) {
    return describe(in_flight_.begin()->first);
  }
  return frontier_.idle() ? "between steps" : describe(frontier_.oldest());
}

}  // namespace paceline::runtime
