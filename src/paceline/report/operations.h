// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "paceline/records/comm_record.h"
#include "paceline/records/run_record.h"
#include "paceline/report/diff.h"

// Operations of engines (`paceline comm`, nccl-tests) as cases that a comparison pairs, tests and
// shows like others.

namespace paceline::report {

/// The code of the warning of a record that was INVALID: the emulated link was too slow for it, or
/// its engine moved wrong values.
inline constexpr const char* kInvalidOperation = "invalid-operation";

/// One operation at one size that both sides have.
struct SizeSeries {
  std::string operation;  // "all-reduce in-place"
  std::int64_t bytes = 0;
  std::map<int, double> base_ns, test_ns;  // median iteration by run
};

/// Both sides of a comparison of operations.  Run k of an operation at a size is its k-th record;
/// the time of a range in a run is the geometric mean of its sizes' medians.
struct OperationSides {
  /// One external record for each run of each operation and range of sizes, with that time as its
  /// only step.
  std::vector<records::RunRecord> base, test;
  std::vector<SizeSeries> series;       // by operation, then by size
  std::vector<Difference> differences;  // such as another engine
  /// Operations and sizes of one side alone, a clause each.
  std::vector<std::string> unpaired;
};

/// Operations pair where all that both sides say is equal; what each side has one value of, and
/// another than the other side, is a difference.  Sizes are compared in ranges of a factor of 16
/// with ends at 4 KiB, 64 KiB, 1 MiB, 16 MiB, ..., and a run that lacks a size of a range is left
/// out of it.
OperationSides operation_sides(std::span<const records::CommRecord> base,
                               std::span<const records::CommRecord> test);

/// Whether operation_sides() made the record.
bool is_operation(const records::RunRecord& record);

/// Between which neighboring sizes the ratio of test to base jumps, a sentence each: where one side
/// chooses another algorithm or protocol.  Only operations are looked at in which some range is
/// proven to have changed, so that equals have a jump no more often than a change; over the sizes
/// of all of these the error is controlled by the permutations of the runs' labels (max-T), or, of
/// runs that are looked at after each pair, by their e-values.
std::vector<std::string> jumps_of(const Diff& diff, const OperationSides& sides);

/// Compares the two sides range by range, the error controlled over all of them, and looks for
/// jumps in the operations in which a range has changed.
/// `sides` must outlive the result.
Diff diff_operations(const OperationSides& sides, const DiffOptions& options = {});

}  // namespace paceline::report
