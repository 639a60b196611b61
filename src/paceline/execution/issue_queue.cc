// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/issue_queue.h"

#include <algorithm>

#include "paceline/base/error.h"

namespace paceline::execution {

void IssueQueue::push(plan::OpRef ref, bool collective, std::int32_t priority, std::int64_t bytes) {
  rule_.add(collective, priority, bytes);
  waiting_.push_back({.ref = ref});
}

/// Reports to the rule which ops have become ready.  In program order only the first op matters.
void IssueQueue::find_ready(const IsReady& is_ready) {
  const std::size_t count =
      reorders() ? waiting_.size() : std::min<std::size_t>(waiting_.size(), 1);
  for (std::size_t i = 0; i < count; ++i) {
    if (!waiting_[i].ready && is_ready(waiting_[i].ref)) {
      waiting_[i].ready = true;
      rule_.ready(rule_.first() + static_cast<std::int64_t>(i));
    }
  }
}

std::optional<plan::OpRef> IssueQueue::next(const IsReady& is_ready) {
  find_ready(is_ready);
  const auto number = rule_.next();
  return number ? std::optional(at(*number).ref) : std::nullopt;
}

plan::OpRef IssueQueue::issue() {
  const auto number = rule_.next();
  PACELINE_CHECK(number.has_value());
  const plan::OpRef ref = at(*number).ref;
  const auto first = rule_.first();
  last_pick_ = rule_.collective_number(*number);
  rule_.issue(*number);
  waiting_.erase(waiting_.begin(), waiting_.begin() + (rule_.first() - first));
  return ref;
}

bool IssueQueue::request_pick() {
  if (!rule_.follows() || requesting_ || requested_ == rule_.collectives()) {
    return false;
  }
  requesting_ = true;
  ++requested_;
  return true;
}

void IssueQueue::follow(Pick pick) {
  rule_.follow(pick);
  requesting_ = false;
}

}  // namespace paceline::execution
