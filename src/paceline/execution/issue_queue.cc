// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/issue_queue.h"

#include <algorithm>
#include <tuple>

#include "paceline/base/error.h"

namespace paceline::execution {

void IssueQueue::push(plan::OpRef ref,
                      std::int32_t priority,
                      std::int64_t bytes) {
  waiting_.push_back({ref, priority, bytes});
  ++pushed_;
}

std::deque<IssueQueue::Waiting>::iterator IssueQueue::next(
    const IsReady& is_ready) {
  const auto none = waiting_.end();
  if (!by_priority() || !leads_) {
    auto turn = waiting_.begin();
    if (by_priority()) {
      turn = std::find_if(turn, none, [&](const Waiting& waiting) {
        return !picks_.empty() && waiting.ref == picks_.front();
      });
    }
    const bool goes = turn != none && !is_held(*turn) && is_ready(turn->ref);
    return goes ? turn : none;
  }
  auto first = none;
  for (auto it = waiting_.begin(); it != none; ++it) {
    const bool sooner =
        first == none ||
        std::tie(it->priority, it->ref) < std::tie(first->priority, first->ref);
    if (sooner && !is_held(*it) && is_ready(it->ref)) {
      first = it;
    }
  }
  return first;
}

bool IssueQueue::ask() {
  if (!by_priority() || leads_ || asking_ || heard_ == pushed_) {
    return false;
  }
  asking_ = true;
  return true;
}

void IssueQueue::follow(plan::OpRef pick) {
  picks_.push_back(pick);
  ++heard_;
  asking_ = false;
}

std::optional<plan::OpRef> IssueQueue::pop(const IsReady& is_ready) {
  const auto found = next(is_ready);
  if (found == waiting_.end()) {
    return std::nullopt;
  }
  const Waiting issued = *found;
  waiting_.erase(found);
  if (!picks_.empty()) {
    picks_.pop_front();
  }
  under_way_bytes_ += issued.bytes;
  return issued.ref;
}

}  // namespace paceline::execution
