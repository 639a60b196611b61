// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "paceline/records/comm_record.h"
#include "paceline/records/run_record.h"

namespace paceline::cli {

/// Whether both paths lead to one file.
bool is_same_file(const std::string& a, const std::string& b);

/// Throws UsageError where a file stands in the list twice: its runs would count twice, and prove
/// what they do not.
void reject_repeats(const std::vector<std::string>& files);

/// Records of several files, in their order.
struct FileRecords {
  std::vector<records::RunRecord> records;
  std::vector<std::size_t> file_of;  // of each record, its file's place
  std::vector<std::size_t> numbers;  // of each record, in its file from 1
  /// Of files of operations, where they are asked for; `records` is then empty.
  std::vector<records::CommRecord> operations{};
};

/// Whether files of operations (`paceline comm`, nccl-tests) are read, too.
enum class Operations : std::uint8_t { kRejected, kRead };

/// Leaves each run once (records/same_run.h), and says on stderr how many records do not count.
void keep_distinct_runs(FileRecords& read);

/// Reads files of records or of other programs, each run once, with warnings on stderr.  Throws
/// UsageError where a file is in the list twice, and where some of the files have operations and
/// some have runs.
FileRecords read_record_files(const std::vector<std::string>& files,
                              Operations operations = Operations::kRejected);

}  // namespace paceline::cli
