// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/engines/link.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::engines {
class Channel;
struct PeerWait;
}  // namespace paceline::engines

namespace paceline::rank {

/// Returns the element types that can be measured: fp32, fp64, ...
std::vector<std::string> comm_dtypes();

/// Returns the pattern of one of plan::kOperations that is a collective; nothing for messages.
std::optional<plan::Pattern> pattern_of(std::string_view operation);

/// Returns the bytes of one element.  Throws UsageError for a type that cannot be measured.
std::int64_t element_bytes(std::string_view dtype);

/// The operation and the size of one row of `paceline comm`.
struct CommRow {
  std::string operation;
  std::int64_t bytes = 0;

  friend bool operator==(const CommRow&, const CommRow&) = default;
};

/// Returns `bytes` rounded to whole elements, at least one.  If each of `world` ranks holds a shard
/// in the operation, rounds up to equal shards.
std::int64_t rounded_bytes(std::string_view operation, std::int64_t bytes, std::int64_t element,
                           std::int64_t world);

/// Returns a row for each operation at each size, in order and without repetition.  Sizes are
/// rounded by rounded_bytes().
std::vector<CommRow> comm_rows(const std::vector<std::string>& operations,
                               const std::vector<std::int64_t>& sizes, std::string_view dtype,
                               std::int64_t world);

/// How an operation is measured at one size.
struct CommIterations {
  int warmup = 3;
  int measured = 20;
  std::string device = "cpu";
  std::string dtype = "fp32";  // of comm_dtypes()
  /// Called on every rank before each iteration and after the last one; it may throw.
  std::function<void(int done, int total)> progress{};
  /// How to wait for the other ranks; null: the engine itself waits.
  const engines::PeerWait* peers = nullptr;
  /// Whether one more operation is performed, whose values are checked.
  bool checks = true;
};

/// The measurements of one rank for one operation at one size.
struct CommSamples {
  std::int64_t bytes = 0;  // size of the operation, rounded to whole elements and shards
  std::vector<std::int64_t> duration_ns;  // duration of each measured iteration
  std::int64_t wire_bytes = 0;  // bytes that this rank sends in one operation, as the ledger counts
  std::int64_t wrong_elements = 0;
  /// The operations on the emulated link in the measured iterations; empty if there is no link.
  std::vector<engines::LinkedOperation> linked{};
  std::int64_t began_ns = 0;  // start of the first measured iteration, by this rank's clock
};

/// Measures one of plan::kOperations at one size on `channel`: performs warm-up and measured
/// iterations.  If `iterations.checks` is set, then performs one more on integers that are summed
/// without rounding, and checks every element.  A barrier before each operation keeps late ranks
/// out of its duration.  For messages, every rank sends one to the next rank and at the same time
/// receives one from the rank before, as sendrecv of nccl-tests.  Leaves `linked` empty.
/// Collective.
CommSamples measure_operation(engines::Channel& channel, std::string_view operation,
                              std::int64_t bytes, const CommIterations& iterations);

}  // namespace paceline::rank
