// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "paceline/records/store.h"

namespace paceline::front {

/// "results/quick-20260131T174500Z.jsonl", of the time now; with "-2" where that is there already.
std::string default_records_path(const std::string& experiment);

/// The environment variable that names the file of a run's records.
inline constexpr const char* kRecordsVariable = "PACELINE_RECORDS";

/// `flag`, or what the variable says where that is empty.
std::string named_records(const std::string& flag);

/// The file, device or pipe that a run appends its records to, which no other run on this machine
/// writes meanwhile.
class RecordTarget {
 public:
  /// What is `named`, or a new file of `experiment` in results/ where that is empty.  Throws
  /// UsageError where it cannot be written, another run writes it, or it holds another kind.
  RecordTarget(const std::string& named, const std::string& experiment, records::RecordKind kind);

  /// Removes the file and the folder that this run made and left empty.
  ~RecordTarget();
  RecordTarget(const RecordTarget&) = delete;
  RecordTarget& operator=(const RecordTarget&) = delete;

  const std::string& path() const { return path_; }

  /// Whether it is a device or a pipe, of which nothing can be read back.
  bool is_stream() const { return is_stream_; }

  /// Throws WorldError where the record does not reach the disk.
  void append(const std::string& line);

 private:
  std::string path_;
  bool is_stream_ = false;
  bool makes_folder_ = false;
  bool makes_file_ = false;
  std::optional<records::RecordWriter> writer_;  // null: /dev/null
};

}  // namespace paceline::front
