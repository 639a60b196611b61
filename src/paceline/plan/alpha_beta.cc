// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/alpha_beta.h"

#include <cmath>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::plan {
namespace {

Picoseconds checked_time_on(const AlphaBetaTime& line, std::string_view what, std::int64_t bytes) {
  if (!line.known()) {
    throw UsageError(fmt::format(
        "the alpha-beta model says nothing of {}, by whose times the strategy decides", what));
  }
  return line.time(bytes);
}

}  // namespace

void check_alpha_beta(const AlphaBetaTime& line, std::string_view what) {
  std::int64_t last = -1;
  for (const AlphaBetaPiece& piece : line.pieces) {
    if (piece.from_bytes <= last) {
      throw UsageError(fmt::format("{}: a piece from {} bytes follows one from {}; sizes must rise",
                                   what, piece.from_bytes, last));
    }
    last = piece.from_bytes;
    if (piece.alpha < 0 || !std::isfinite(piece.beta_ps_per_byte) || piece.beta_ps_per_byte < 0) {
      throw UsageError(fmt::format("{}: alpha {} ps and beta {} ps a byte; neither may be negative",
                                   what, piece.alpha, piece.beta_ps_per_byte));
    }
  }
}

Picoseconds AlphaBetaTime::time(std::int64_t bytes) const {
  PACELINE_CHECK(known());
  if (bytes == 0) {
    return 0;
  }
  const AlphaBetaPiece* piece = &pieces.front();
  for (const AlphaBetaPiece& next : pieces) {
    if (next.from_bytes <= bytes) {
      piece = &next;
    }
  }
  return piece->alpha + std::llround(piece->beta_ps_per_byte * static_cast<double>(bytes));
}

const AlphaBetaTime& AlphaBeta::of(Pattern pattern) const {
  switch (pattern) {
    case Pattern::kAllReduce:
      return all_reduce;
    case Pattern::kReduceScatter:
      return reduce_scatter;
    case Pattern::kAllGather:
      return all_gather;
    case Pattern::kBroadcast:
      return broadcast;
  }
  PACELINE_CHECK(false);
  return all_reduce;
}

Picoseconds AlphaBeta::time(Pattern pattern, std::int64_t bytes) const {
  return checked_time_on(of(pattern), name_of(pattern), bytes);
}

Picoseconds AlphaBeta::message_time(std::int64_t bytes) const {
  return checked_time_on(message, "messages", bytes);
}

AlphaBeta start_up_model_of(AlphaBeta model) {
  for (AlphaBetaTime* line : {&model.all_reduce, &model.reduce_scatter, &model.all_gather,
                              &model.broadcast, &model.message}) {
    for (AlphaBetaPiece& piece : line->pieces) {
      piece.beta_ps_per_byte = 0;
    }
  }
  return model;
}

AlphaBetaTime alpha_beta_time_of(double alpha_seconds, double beta_seconds_per_byte) {
  return {
      {{.alpha = picoseconds_of(alpha_seconds), .beta_ps_per_byte = beta_seconds_per_byte * 1e12}}};
}

}  // namespace paceline::plan
