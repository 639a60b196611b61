// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/message_tags.h"

#include <cstdint>
#include <utility>
#include <variant>

#include "paceline/base/error.h"
#include "paceline/plan/matching.h"

namespace paceline::execution {
namespace {

constexpr int kTags = 1 << 20;

}  // namespace

void MessageTags::open(plan::Step step, const plan::CommPlan& plan) {
  plan::Endpoints ends;
  for (std::uint32_t i = 0; i < plan.ops.size(); ++i) {
    if (const auto* exchange = std::get_if<plan::Exchange>(&plan.ops[i].work)) {
      ends.add(plan.ops[i], i);
      tags_[{step, static_cast<plan::OpIndex>(i)}] = {
          .sends = std::vector<int>(exchange->sends.size()),
          .receives = std::vector<int>(exchange->receives.size())};
    }
  }
  for (const bool sent : {true, false}) {
    for (const auto& [peer, of_peer] : sent ? ends.sends : ends.receives) {
      int& next = next_[{peer.first, peer.second, sent}];
      for (const plan::Endpoints::End& end : of_peer) {
        OpTags& tags = tags_[{step, static_cast<plan::OpIndex>(end.item)}];
        (sent ? tags.sends : tags.receives)[end.slot] = std::exchange(next, (next + 1) % kTags);
      }
    }
  }
}

MessageTags::OpTags MessageTags::take(plan::OpRef ref) {
  auto found = tags_.extract(ref);
  PACELINE_CHECK(!found.empty());
  return std::move(found.mapped());
}

}  // namespace paceline::execution
