// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "paceline/records/comm_record.h"
#include "paceline/records/run_record.h"

namespace paceline::cli {

/// Whether both paths refer to the same file.
bool is_same_file(const std::string& a, const std::string& b);

/// Throws UsageError if a file is in the list twice, as its runs would then count as independent
/// ones.
void reject_repeats(const std::vector<std::string>& files);

/// The records of several files, in the order of the files. The files hold either runs or
/// operations, so at least one of `records` and `operations` is empty.
struct FileRecords {
  std::vector<records::RunRecord> records;
  std::vector<std::size_t> file_of;  // for each record, the index of its file
  /// The records of operations, if they are asked for; `records` is then empty.
  std::vector<records::CommRecord> operations{};
};

/// Whether files of operations (`paceline comm`, nccl-tests) may be read too.
enum class Operations : std::uint8_t { kRejected, kRead };

/// Removes repeated records of the same run (records/same_run.h), and prints on stderr how many
/// records are not counted.
void keep_distinct_runs(FileRecords& read);

/// Reads files of records or of other programs, each run once, and prints warnings on stderr.
/// Throws UsageError if a file is in the list twice, and if some of the files have operations and
/// others have runs.
FileRecords read_record_files(const std::vector<std::string>& files,
                              Operations operations = Operations::kRejected);

}  // namespace paceline::cli
