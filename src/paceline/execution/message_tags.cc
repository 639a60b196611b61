// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/message_tags.h"

#include <utility>
#include <variant>

#include "paceline/base/error.h"

namespace paceline::execution {
namespace {

constexpr int kTags = 1 << 20;

}  // namespace

int MessageTags::next(const Direction& direction) {
  int& next = next_[direction];
  return std::exchange(next, (next + 1) % kTags);
}

void MessageTags::open(plan::Step step, const plan::CommPlan& plan) {
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const auto* exchange = std::get_if<plan::Exchange>(&plan.ops[i].work);
    if (exchange == nullptr) {
      continue;
    }
    OfOp tags;
    for (const plan::Message& message : exchange->sends) {
      tags.sends.push_back(next({exchange->on, message.peer, true}));
    }
    for (const plan::Message& message : exchange->receives) {
      tags.receives.push_back(next({exchange->on, message.peer, false}));
    }
    tags_.emplace(plan::OpRef{step, static_cast<plan::OpIndex>(i)},
                  std::move(tags));
  }
}

MessageTags::OfOp MessageTags::take(plan::OpRef ref) {
  auto found = tags_.extract(ref);
  PACELINE_CHECK(!found.empty());
  return std::move(found.mapped());
}

}  // namespace paceline::execution
