// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/profile.h"

namespace paceline::plan {

/// One piece of a piecewise linear time: t = alpha + beta * bytes from `from_bytes` on.
struct AlphaBetaPiece {
  std::int64_t from_bytes = 0;
  Picoseconds alpha = 0;        // start-up time
  double beta_ps_per_byte = 0;  // picoseconds per byte of payload
};

/// The time of one operation as a function of its payload.  Each piece is valid from its
/// `from_bytes` to those of the next piece.  Without pieces the time is unknown.
struct AlphaBetaLine {
  std::vector<AlphaBetaPiece> pieces;

  bool known() const { return !pieces.empty(); }

  /// The time of a payload, rounded to the nearest picosecond; 0 for 0 bytes.  Payloads below the
  /// first piece use the first piece.  The line must be known.
  Picoseconds time(std::int64_t bytes) const;
};

/// The communication times of one world that planners use.  Each operation is timed alone on the
/// network.  The payload of a collective is the longer of its two sides, as in wire_bytes().
struct AlphaBeta {
  std::string origin;  // who measured it and on what, for messages
  Rank world = 0;      // number of ranks for which the times are valid
  AlphaBetaLine all_reduce{}, reduce_scatter{}, all_gather{}, broadcast{};
  AlphaBetaLine message{};  // of one message between two ranks

  /// The number of collectives of a communicator that the engine carries at once; 0: all.  Each
  /// waits for its own alpha; then they share the wire.
  std::int32_t concurrent_collectives = 1;

  const AlphaBetaLine& of(Pattern pattern) const;

  /// The time of a collective or of a message.  Throws UsageError, which names the operation, if
  /// its time is unknown.
  Picoseconds time(Pattern pattern, std::int64_t bytes) const;
  Picoseconds message_time(std::int64_t bytes) const;
};

/// Returns the model with every beta set to 0, which leaves the start-up times alone.
AlphaBeta start_ups_of(AlphaBeta model);

/// Returns a line of one piece, from alpha in seconds and beta in seconds per byte.
AlphaBetaLine line_of(double alpha_seconds, double beta_seconds_per_byte);

/// Converts pieces with `from_bytes`, `alpha_s` and `beta_s_per_byte`, as fits and records have
/// them.
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

/// Throws UsageError, whose text begins with `what`, unless the pieces start at rising sizes and no
/// alpha or beta is negative or infinite.
void check_line(const AlphaBetaLine& line, std::string_view what);

}  // namespace paceline::plan
