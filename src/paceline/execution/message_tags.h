// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/frontier.h"

namespace paceline::execution {

/// Assigns the tags by which a message's receive finds its send, in whatever order messages are
/// started. A message's tag is its number among the messages from one rank to the other on a
/// communicator, in program order over all steps.
///
/// Numbers count modulo 2^20, because MPI guarantees no larger tags in practice; a pair of ranks
/// never has that many messages in flight at once.
class MessageTags {
 public:
  struct OpTags {
    std::vector<int> sends, receives;  // in the order of the Exchange
  };

  /// Assigns the tags of a step's messages.  Steps must be opened in order.
  void open(plan::Step step, const plan::CommPlan& plan);

  /// Returns the tags of an exchange of an open step; may be called once for each op.
  OpTags take(plan::OpRef ref);

 private:
  using Direction = std::tuple<plan::CommunicatorId, plan::Rank, bool>;

  std::map<Direction, int> next_;
  std::map<plan::OpRef, OpTags> tags_;
};

}  // namespace paceline::execution
