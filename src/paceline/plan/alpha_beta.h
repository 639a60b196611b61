// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/profile.h"

namespace paceline::plan {

/// One piece of a piecewise linear time function: t = alpha + beta * bytes from `from_bytes` on.
struct AlphaBetaPiece {
  std::int64_t from_bytes = 0;
  Picoseconds alpha = 0;        // start-up time of an operation
  double beta_ps_per_byte = 0;  // picoseconds per byte of payload
};

/// The time of one operation as a function of its payload.  Each piece is valid from its
/// `from_bytes` to those of the next piece.  Without pieces the time is unknown.
struct AlphaBetaTime {
  std::vector<AlphaBetaPiece> pieces;

  bool known() const { return !pieces.empty(); }

  /// The time of a payload, rounded to the nearest picosecond; 0 for 0 bytes.  Payloads below the
  /// first piece use the first piece.  There must be at least one piece.
  Picoseconds time(std::int64_t bytes) const;
};

/// The alpha-beta models of all operations in a world of one size, as planners use them.  Each time
/// is that of an operation that is alone on the network.  The payload of a collective is the longer
/// of its two sides, as in wire_bytes().
struct AlphaBeta {
  std::string origin;  // who measured the times on which hardware, for messages
  Rank world = 0;      // number of ranks for which the times are valid
  AlphaBetaTime all_reduce{}, reduce_scatter{}, all_gather{}, broadcast{};
  AlphaBetaTime message{};  // of one message between two ranks

  /// The number of collectives of one communicator that the engine performs at the same time; 0: no
  /// limit.  Each has its own start-up time; after that, they share the bandwidth.
  std::int32_t concurrent_collectives = 1;

  const AlphaBetaTime& of(Pattern pattern) const;

  /// The time of a collective or of a message.  Throws UsageError, which names the operation, if
  /// its time is unknown.
  Picoseconds time(Pattern pattern, std::int64_t bytes) const;
  Picoseconds message_time(std::int64_t bytes) const;
};

/// Returns the model with every beta set to 0, so that all times are start-up times.
AlphaBeta start_up_model_of(AlphaBeta model);

/// Returns a model of one piece, from alpha in seconds and beta in seconds per byte.
AlphaBetaTime alpha_beta_time_of(double alpha_seconds, double beta_seconds_per_byte);

/// Converts pieces with the fields `from_bytes`, `alpha_s` and `beta_s_per_byte`, which fits and
/// records have.
template <class Piece>
AlphaBetaTime alpha_beta_time_of(const std::vector<Piece>& pieces) {
  AlphaBetaTime line;
  for (const Piece& piece : pieces) {
    line.pieces.push_back({.from_bytes = static_cast<std::int64_t>(piece.from_bytes),
                           .alpha = picoseconds_of(piece.alpha_s),
                           .beta_ps_per_byte = piece.beta_s_per_byte * 1e12});
  }
  return line;
}

/// Throws UsageError, whose text begins with `what`, unless the pieces start at rising sizes and no
/// alpha or beta is negative or infinite.
void check_alpha_beta(const AlphaBetaTime& line, std::string_view what);

}  // namespace paceline::plan
