// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <utility>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/profile.h"
#include "paceline/strategies/plan_words.h"

namespace paceline::strategies {

struct CodedExchange;

/// How long a slice of so many bytes takes to cross, and what transfers take from each other.
class TransferTime {
 public:
  using OfBytes = std::function<Picoseconds(std::int64_t bytes)>;

  /// Slices cross one after the other.
  template <std::invocable<std::int64_t> Alone>
  requires(!std::same_as<std::remove_cvref_t<Alone>, TransferTime>)
      TransferTime(Alone alone)  // NOLINT(google-explicit-constructor)
      : alone_(std::move(alone)) {}

  /// Up to `concurrent_collectives` slices at once, 0: all that are ready; each starts up by
  /// itself, for `start`, then they share the wire.
  TransferTime(OfBytes alone, OfBytes start, std::int32_t concurrent_collectives)
      : alone_(std::move(alone)),
        start_(std::move(start)),
        concurrent_collectives_(concurrent_collectives) {}

  /// Alone on the network.
  Picoseconds operator()(std::int64_t bytes) const { return alone_(bytes); }

  /// The part of it in which no byte flows; only where several cross at once.
  Picoseconds start(std::int64_t bytes) const { return start_(bytes); }

  bool one_by_one() const { return concurrent_collectives_ == 1; }
  std::int32_t concurrent_collectives() const { return concurrent_collectives_; }

 private:
  OfBytes alone_, start_;
  std::int32_t concurrent_collectives_ = 1;
};

/// The duration of a slice's exchange, in the codec's form, by the alpha-beta model of the input;
/// called, it throws UsageError where there is none.  The parts of `transfer` must outlive it.
TransferTime transfer_time(const PlanInput& input, const CodedExchange& transfer);

/// Bytes that count against the credit for each byte of a slice: the codec's forms of all rounds,
/// of all ranks where they are gathered.
double share_on_credit(const PlanInput& input, const CodedExchange& transfer);

}  // namespace paceline::strategies
