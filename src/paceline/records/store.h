// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "paceline/records/run_record.h"

namespace paceline::records {

/// The content of a record file: runs of cases, or operations of an engine.  No file holds both,
/// since it could not be read back.
enum class RecordKind : std::uint8_t { kRuns, kOperations };

/// Appends records to a JSON Lines file.  Each line is on the disk before `append` returns, so that
/// a crash loses at most the current case.
class RecordWriter {
 public:
  /// Opens or creates `path`, and locks it for this process.  An unfinished last line, which a
  /// crash leaves, is cut off.  Throws `UsageError` if the file cannot be written, another process
  /// is writing it, or it holds records of another kind.  Without a `kind`, either is accepted.
  explicit RecordWriter(std::string path, std::optional<RecordKind> kind = RecordKind::kRuns);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  /// Throws `WorldError` if the disk rejects the record (full, gone).
  void append(const RunRecord& record);
  /// Appends a record of either kind; `line` has no line break.
  void append_line(const std::string& line);

  const std::string& path() const { return path_; }

 private:
  void repair_tail(std::optional<RecordKind> kind);
  void write_all(std::string_view text);

  std::string path_;
  int file_ = -1;
};

/// What to do with a last line that has no line break and is the beginning of a record, as a crash
/// leaves it.
enum class BrokenTail : std::uint8_t { kReject, kSkip };

struct RecordFile {
  std::vector<RunRecord> records;
  std::vector<std::string> warnings;  // what was skipped, and where
};

/// Reads every record of a JSON Lines file.  Throws `UsageError` that begins with `path:line:` for
/// anything that is not a record.
RecordFile read_records(const std::string& path, BrokenTail tail = BrokenTail::kReject);
/// Reads every record of a stream; `path` is only for messages.
RecordFile read_records(std::istream& in, const std::string& path,
                        BrokenTail tail = BrokenTail::kReject);

/// Calls `take` with every line of `in` that is not blank.  Returns the warnings of
/// RecordFile::warnings.  Throws UsageError that begins with `path:line:` if `take` throws one.
std::vector<std::string> for_each_record(std::istream& in, const std::string& path, BrokenTail tail,
                                         const std::function<void(const std::string& line)>& take);

/// Removes a regular file that is empty and that no RecordWriter has open.  Otherwise does nothing
/// and reports nothing.
void remove_if_empty(const std::string& path);

/// Returns key and run number of every record whose run `--resume` need not repeat.  For a record
/// without an error, the key is `cases::Case::key()`.  For a case that could not run, it also
/// contains the reason, so that the case runs once the reason is gone.
std::set<std::pair<std::string, int>> completed_runs(std::span<const RunRecord> records);

}  // namespace paceline::records
