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

/// What a file of records holds: cases that ran, or operations of an engine.  No file holds both,
/// which could not be read back.
enum class RecordKind : std::uint8_t { kRuns, kOperations };

/// Appends records to a JSON Lines file; each line is on the disk before `append`
/// returns, so that a crash loses at most the case in flight.
class RecordWriter {
 public:
  /// Opens or creates `path`, and takes it for this process alone.  An unfinished last line, left
  /// by a crash, is cut off.  Throws `UsageError` when the file cannot be written, another process
  /// is writing it, or it holds records of another kind; without a kind either is taken.
  explicit RecordWriter(std::string path, std::optional<RecordKind> kind = RecordKind::kRuns);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  /// Throws `WorldError` when the disk rejects (full, gone).
  void append(const RunRecord& record);
  /// Of a record of either kind; `line` has no line break.
  void append_line(const std::string& line);

  const std::string& path() const { return path_; }

 private:
  void repair_tail(std::optional<RecordKind> kind);
  void write_all(std::string_view text);

  std::string path_;
  int file_ = -1;
};

/// What to do with a last line that ends before its line break and is no
/// whole record: the trace of a crash.
enum class BrokenTail : std::uint8_t { kReject, kSkip };

struct RecordFile {
  std::vector<RunRecord> records;
  std::vector<std::string> warnings;  // what was skipped, and where
};

/// Reads every record of a JSON Lines file.  Throws `UsageError` that begins with `path:line:` for
/// anything that is not a record.
RecordFile read_records(const std::string& path, BrokenTail tail = BrokenTail::kReject);
/// Reads every record of a text that is already open, as from a file; `path` is for messages.
RecordFile read_records(std::istream& in, const std::string& path,
                        BrokenTail tail = BrokenTail::kReject);

/// Calls `take` with every line of a text of records that is not blank.
/// Returns warnings as RecordFile has them.  Throws UsageError that begins with
/// `path:line:` where `take` throws one.
std::vector<std::string> for_each_record(std::istream& in, const std::string& path, BrokenTail tail,
                                         const std::function<void(const std::string& line)>& take);

/// Removes a regular file that holds nothing and that no RecordWriter has open. Whatever else lies
/// there stays, without a word.
void remove_if_empty(const std::string& path);

/// Case and repetition of every record that `--resume` need not run again: one without an error is
/// named by `Configuration::key()`, one that could not run by its key and the reason, so that it
/// runs where the reason is gone.
std::set<std::pair<std::string, int>> completed(std::span<const RunRecord> records);

}  // namespace paceline::records
