// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "paceline/records/store.h"

namespace paceline::front {

/// Returns "results/quick-20260131T174500Z.jsonl" for the current time; with "-2", ... if that
/// exists.
std::string default_records_path(const std::string& experiment);

/// The environment variable that names the file of a run's records.
inline constexpr const char* kRecordsVariable = "PACELINE_RECORDS";

/// Returns `flag`, or the value of kRecordsVariable if `flag` is empty.
std::string named_records(const std::string& flag);

/// The file, device or pipe that a run appends its records to.  No other run on this machine writes
/// to it at the same time.
class RecordTarget {
 public:
  /// Opens named_records(named), or a new file of `experiment` in results/ if that is empty. Throws
  /// UsageError if it cannot be written, another run writes it, or it holds another kind of
  /// records.
  RecordTarget(const std::string& named, const std::string& experiment, records::RecordKind kind);

  /// Removes the file and the folder if this run created them and left them empty.
  ~RecordTarget();
  RecordTarget(const RecordTarget&) = delete;
  RecordTarget& operator=(const RecordTarget&) = delete;

  const std::string& path() const { return path_; }

  /// Whether the target is a device or a pipe, from which nothing can be read back.
  bool is_stream() const { return is_stream_; }

  /// Throws WorldError if the record does not reach the disk.
  void append(const std::string& line);

 private:
  std::string path_;
  bool is_stream_ = false;
  bool makes_folder_ = false;
  bool makes_file_ = false;
  std::optional<records::RecordWriter> writer_;  // null for /dev/null
};

}  // namespace paceline::front
