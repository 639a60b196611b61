// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/deadlines.h"

#include <algorithm>

namespace paceline::execution {

void Deadlines::update_clock(std::int64_t now_ns) {
  constexpr std::int64_t kLongestGapNs = 2'000'000'000;
  const std::int64_t gap = last_check_ns_ < 0 ? 0 : now_ns - last_check_ns_;
  last_check_ns_ = now_ns;
  if (gap > kLongestGapNs) {
    resumed_ns_ = now_ns;
    step_began_ns_ += step_began_ns_ < 0 ? 0 : gap;
  }
}

void Deadlines::begin_step(std::int64_t now_ns) {
  if (step_began_ns_ >= 0) {
    slowest_step_ns_ = std::max(
        {now_ns - step_began_ns_, first_step_ns_, slowest_step_ns_ - slowest_step_ns_ / 32});
  }
  step_began_ns_ = now_ns;
  progress(now_ns);
  in_step_ = true;
}

std::chrono::nanoseconds Deadlines::limit() const {
  const std::chrono::nanoseconds slowest(slowest_step_ns_);
  return std::max(timeout_ + slowest, 10 * slowest);
}

std::optional<std::chrono::nanoseconds> Deadlines::find_hang(bool held, std::int64_t now_ns) {
  if (held) {
    last_moved_ns_ = now_ns;
  }
  const std::chrono::nanoseconds still = waited(last_moved_ns_, now_ns);
  const auto limit = std::max(training_timeout_, std::chrono::nanoseconds(6 * slowest_step_ns_));
  return still >= limit ? std::optional(still) : std::nullopt;
}

std::optional<OverdueOp> Deadlines::find_overdue(const Scheduler& scheduler,
                                                 std::int64_t now_ns) const {
  for (const auto& [op, since] : scheduler.in_flight()) {
    if (waited(since, now_ns) >= limit()) {
      return OverdueOp{op, waited(since, now_ns)};
    }
  }
  if (in_step_ && waited(last_progress_ns_, now_ns) >= limit()) {
    if (const auto op = scheduler.first_pending_op_of_other_owner()) {
      return OverdueOp{*op, waited(last_progress_ns_, now_ns)};
    }
  }
  return std::nullopt;
}

void FirstError::set(const std::exception_ptr& error, std::int64_t now_ns) {
  if (error_ == nullptr) {
    error_ = error;
    at_ns_ = now_ns;
  }
}

void FirstError::rethrow_if_set() {
  if (error_ != nullptr) {
    thrown_ = true;
    std::rethrow_exception(error_);
  }
}

std::exception_ptr FirstError::take_unthrown(std::int64_t now_ns, std::chrono::nanoseconds grace) {
  if (error_ == nullptr || thrown_ || now_ns - at_ns_ < grace.count()) {
    return nullptr;
  }
  thrown_ = true;
  return error_;
}

}  // namespace paceline::execution
