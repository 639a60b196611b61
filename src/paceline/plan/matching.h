// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "paceline/plan/comm_plan.h"

namespace paceline::plan {

/// The communication ops of one rank, in the order in which they are paired with those of other
/// ranks.
///
/// The n-th collective of a communicator on one member matches the n-th on every other member.  The
/// n-th message from one rank to another on a communicator matches the n-th message that the other
/// rank receives from it there.  Both count over all steps in program order.
struct Endpoints {
  /// One end of a message: an op, by its index among all ops of the rank, and the message's index
  /// in the op's sends or receives.
  struct End {
    std::uint32_t item = 0, slot = 0;
  };
  using Peer = std::pair<CommunicatorId, Rank>;

  std::map<CommunicatorId, std::vector<std::uint32_t>> collectives;  // indices of ops among all ops
                                                                     // of the rank
  std::map<Peer, std::vector<End>> sends, receives;

  /// Adds an op, whose index among all ops of the rank is `item`.  Items are added in rising order.
  void add(const Op& op, std::uint32_t item);

  /// The n-th collective of a communicator; null if there is none.
  const std::uint32_t* collective(CommunicatorId on, std::size_t n) const;

  /// The n-th message sent to the peer, or received from it if `sent` is false; null if there is
  /// none.
  const End* message(const Peer& peer, bool sent, std::size_t n) const;
};

/// The properties in which matched collectives must agree: pattern, reduction, root, and the number
/// and type of the elements of input and output.
using CollectiveSignature =
    std::tuple<Pattern, Reduce, Rank, std::int64_t, std::int64_t, DType, DType>;
CollectiveSignature signature_of(const Setup& setup, const Collective& collective);

/// The properties in which the two ends of a message must agree: the number of elements and their
/// type.
using MessageSignature = std::tuple<std::int64_t, DType>;
MessageSignature signature_of(const Setup& setup, const Message& message);

}  // namespace paceline::plan
