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

struct ExchangeWithCodec;

/// The predicted time of the transfer of a slice, as a function of its bytes, and the effect of
/// simultaneous transfers.
class TransferTime {
 public:
  using TimeOfBytes = std::function<Picoseconds(std::int64_t bytes)>;

  /// A model in which slices are transferred one after the other.
  template <std::invocable<std::int64_t> Alone>
  requires(!std::same_as<std::remove_cvref_t<Alone>, TransferTime>)
      TransferTime(Alone alone)  // NOLINT(google-explicit-constructor)
      : alone_(std::move(alone)) {}

  /// A model in which up to `concurrent_collectives` slices are transferred at once (0: all that
  /// are ready).  Each first takes its own start-up time `start`; after that, they share the
  /// bandwidth.
  TransferTime(TimeOfBytes alone, TimeOfBytes start, std::int32_t concurrent_collectives)
      : alone_(std::move(alone)),
        start_(std::move(start)),
        concurrent_collectives_(concurrent_collectives) {}

  /// The time of a slice that is alone on the network.
  Picoseconds operator()(std::int64_t bytes) const { return alone_(bytes); }

  /// The start-up part of this time, in which no byte is transferred.  Valid only if several slices
  /// are transferred at once.
  Picoseconds start(std::int64_t bytes) const { return start_(bytes); }

  bool is_one_by_one() const { return concurrent_collectives_ == 1; }
  std::int32_t concurrent_collectives() const { return concurrent_collectives_; }

 private:
  TimeOfBytes alone_, start_;
  std::int32_t concurrent_collectives_ = 1;
};

/// Returns a function that predicts, from a slice's bytes, the time of its exchange in the codec's
/// form, by the alpha-beta model of the input.  The function throws UsageError if the input has no
/// such model.  The parts of `transfer` must outlive it.
TransferTime transfer_time(const PlanInput& input, const ExchangeWithCodec& transfer);

/// Returns how many bytes count against the credit for each byte of a slice. These are the encoded
/// bytes of all rounds; if the forms are gathered, those of all ranks count.
double payload_bytes_per_slice_byte(const PlanInput& input, const ExchangeWithCodec& transfer);

}  // namespace paceline::strategies
