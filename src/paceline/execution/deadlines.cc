// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/deadlines.h"

#include <algorithm>

namespace paceline::execution {

void Deadlines::begin_step(std::int64_t now_ns) {
  if (step_began_ns_ >= 0) {
    slowest_step_ns_ = std::max(slowest_step_ns_, now_ns - step_began_ns_);
  }
  step_began_ns_ = now_ns;
  progress(now_ns);
  in_step_ = true;
}

std::chrono::nanoseconds Deadlines::limit() const {
  const std::chrono::nanoseconds slowest(slowest_step_ns_);
  return std::max(timeout_ + slowest, 10 * slowest);
}

std::optional<std::chrono::nanoseconds> Deadlines::find_hang(
    bool held, std::int64_t now_ns) {
  if (held) {
    moved_ns_ = now_ns;
  }
  const std::chrono::nanoseconds still(now_ns - moved_ns_);
  const auto limit = std::max(training_timeout_,
                              std::chrono::nanoseconds(6 * slowest_step_ns_));
  return still >= limit ? std::optional(still) : std::nullopt;
}

std::optional<Overdue> Deadlines::find_overdue(const Scheduler& scheduler,
                                               std::int64_t now_ns) const {
  const std::int64_t latest = now_ns - limit().count();
  const auto overdue = [&](plan::OpRef op, std::int64_t since) {
    return Overdue{op, std::chrono::nanoseconds(now_ns - since)};
  };
  for (const auto& [op, since] : scheduler.in_flight()) {
    if (since <= latest) {
      return overdue(op, since);
    }
  }
  if (in_step_ && progress_ns_ <= latest) {
    if (const auto op = scheduler.first_of_performer()) {
      return overdue(*op, progress_ns_);
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

std::exception_ptr FirstError::take_unthrown(std::int64_t now_ns,
                                             std::chrono::nanoseconds grace) {
  if (error_ == nullptr || thrown_ || now_ns - at_ns_ < grace.count()) {
    return nullptr;
  }
  thrown_ = true;
  return error_;
}

}  // namespace paceline::execution
