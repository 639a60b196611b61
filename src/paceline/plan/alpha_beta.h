// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/profile.h"

namespace paceline::plan {

/// t = alpha + beta * bytes from `from_bytes` on.
struct AlphaBetaPiece {
  std::int64_t from_bytes = 0;
  Picoseconds alpha = 0;        // start-up
  double beta_ps_per_byte = 0;  // picoseconds a byte of payload
};

/// The time of one operation by its payload: lines, each valid from its first byte to the next
/// one's.  No pieces: unknown.
struct AlphaBetaLine {
  std::vector<AlphaBetaPiece> pieces;

  bool known() const { return !pieces.empty(); }

  /// Nothing for no bytes; rounded to the nearest picosecond.  Below the first piece that one
  /// holds.  An unknown line is a bug.
  Picoseconds time(std::int64_t bytes) const;
};

/// What communication of one world costs, as planners know it: every pattern alone on the network.
/// The payload is the longer side of a collective, as
/// in wire_bytes().
struct AlphaBeta {
  std::string origin;  // who measured it, on what; for people
  Rank world = 0;      // ranks for which it holds
  AlphaBetaLine all_reduce{}, reduce_scatter{}, all_gather{}, broadcast{};
  AlphaBetaLine message{};  // one message between two ranks

  /// Collectives of a communicator that the engine carries at once: each waits for its own alpha,
  /// then they share the wire.  0: all.
  std::int32_t concurrent_collectives = 1;

  const AlphaBetaLine& of(Pattern pattern) const;

  /// The time of a collective or of a message.  Throws UsageError, which names it, where it is
  /// unknown.
  Picoseconds time(Pattern pattern, std::int64_t bytes) const;
  Picoseconds message_time(std::int64_t bytes) const;
};

/// The start-ups alone: alpha without beta.
AlphaBeta start_ups_of(AlphaBeta model);

/// A single line: alpha and beta in seconds and seconds a byte.
AlphaBetaLine line_of(double alpha_seconds, double beta_seconds_per_byte);

/// Of pieces with `from_bytes`, `alpha_s` and `beta_s_per_byte`, as fits and records have them.
template <class Piece>
AlphaBetaLine line_of(const std::vector<Piece>& pieces) {
  AlphaBetaLine line;
  for (const Piece& piece : pieces) {
    line.pieces.push_back({.from_bytes = static_cast<std::int64_t>(piece.from_bytes),
                           .alpha = picoseconds_of(piece.alpha_s),
                           .beta_ps_per_byte = piece.beta_s_per_byte * 1e12});
  }
  return line;
}

/// Throws UsageError, which begins with `what`, unless the pieces start at rising sizes and neither
/// alpha nor beta is negative or infinite.
void check_line(const AlphaBetaLine& line, std::string_view what);

}  // namespace paceline::plan
