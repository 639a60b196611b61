// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// Both sides of a comparison of operations.  Run k of an operation at a size is its k-th record;
/// the time of a range in a run is the geometric mean of its sizes' medians.
struct OperationSides {
  /// One external record for each run of each operation and range of sizes, with that time as its
  /// only step.
  std::vector<records::RunRecord> base, test;
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

/// Compares the two sides range by range, the error controlled over all of them.  `sides` must
/// outlive the result.
Diff diff_operations(const OperationSides& sides, const DiffOptions& options = {});

}  // namespace paceline::report
