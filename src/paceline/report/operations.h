// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "paceline/records/comm_record.h"
#include "paceline/records/run_record.h"
#include "paceline/report/diff.h"

// Turns operations of engines (`paceline comm`, nccl-tests) and whole commands into cases, so that
// a comparison pairs, tests and shows them like other cases.

namespace paceline::report {

/// The code of the warning for an INVALID record: its times are not those of the emulated link, or
/// its engine moved wrong values.
inline constexpr const char* kInvalidOperation = "invalid-operation";

/// Both sides of a comparison of operations.  Run k of an operation at a size is its k-th record.
/// The time of a range of sizes in a run is the geometric mean of the median times of its sizes.
struct OperationSides {
  /// One external record for each run of each operation and range of sizes; its only step has the
  /// time of the range.
  std::vector<records::RunRecord> base, test;
  std::vector<Difference> differences;  // fields that differ, such as the engine
  /// The operations and sizes that only one side has, one clause each.
  std::vector<std::string> unpaired;
};

/// Pairs operations whose fields are equal.  A field that has a single value on each side, but not
/// the same on both, is a difference instead.  Sizes are compared in ranges that span a factor of
/// 16 and end at 4 KiB, 64 KiB, 1 MiB, 16 MiB, ...; a run that lacks a size of a range is left out
/// of the range.
OperationSides operation_sides(std::span<const records::CommRecord> base,
                               std::span<const records::CommRecord> test);

/// Whether operation_sides() made this record.
bool is_operation(const records::RunRecord& record);

/// Compares the two sides range by range, with the error controlled over all ranges.  `sides` must
/// outlive the result.
Diff diff_operations(const OperationSides& sides, const DiffOptions& options = {});

/// Returns the record of one execution of a whole command, which has only the wall time.
records::RunRecord wall_time_record(const std::string& command, const std::string& started_at,
                                    const records::HostEnvironment& host, std::int64_t wall_ns);

/// Whether wall_time_record() made the record.  Its ranks and steps then have no meaning.
bool is_wall_time(const records::RunRecord& record);

}  // namespace paceline::report
