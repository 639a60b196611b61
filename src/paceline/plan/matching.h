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

/// The matching rule, for one rank: which of its ops communicate with other ranks, and in which
/// order.
///
/// The n-th collective of a communicator on one member matches the n-th on every other member.  The
/// n-th message from one rank to another on a communicator matches the n-th that the other receives
/// there.  Both count over all steps in program order.
struct Endpoints {
  /// One end of a message: an op, by its place among all ops of the rank, and the slot in the op's
  /// sends or receives.
  struct End {
    std::uint32_t item = 0, slot = 0;
  };
  using Peer = std::pair<CommunicatorId, Rank>;

  std::map<CommunicatorId, std::vector<std::uint32_t>> collectives;  // items
  std::map<Peer, std::vector<End>> sends, receives;

  /// Adds an op.  Items are added in rising order.
  void add(const Op& op, std::uint32_t item);

  /// The n-th collective of a communicator, or null.
  const std::uint32_t* collective(CommunicatorId on, std::size_t n) const;

  /// The n-th message sent to the peer, or else received from it, or null.
  const End* message(const Peer& peer, bool sent, std::size_t n) const;
};

/// What matched collectives have in common: pattern, reduction, root, elements and element types of
/// the input and of the output.
using CollectiveSignature =
    std::tuple<Pattern, Reduce, Rank, std::int64_t, std::int64_t, DType, DType>;
CollectiveSignature signature_of(const Setup& setup, const Collective& collective);

/// What the two ends of a message have in common: elements and their type.
using MessageSignature = std::tuple<std::int64_t, DType>;
MessageSignature signature_of(const Setup& setup, const Message& message);

}  // namespace paceline::plan
