// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/frontier.h"

namespace paceline::execution {

/// The tags by which the messages of two ranks match, whatever the order in which they are started:
/// a message's number among those from the one rank to the other on a communicator, in program
/// order over all steps.
///
/// Numbers count modulo 2^20, because MPI guarantees no larger tags in practice; as many messages
/// of a pair are never in flight at once.
class MessageTags {
 public:
  struct OfOp {
    std::vector<int> sends, receives;  // in the order of the Exchange
  };

  /// The steps are opened in their order.
  void open(plan::Step step, const plan::CommPlan& plan);

  /// The tags of an exchange of an open step; each op is asked for once.
  OfOp take(plan::OpRef ref);

 private:
  using Direction = std::tuple<plan::CommunicatorId, plan::Rank, bool>;

  std::map<Direction, int> next_;
  std::map<plan::OpRef, OfOp> tags_;
};

}  // namespace paceline::execution
