// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "paceline/records/store.h"

namespace paceline::measure {

/// "results/quick-20260131T174500Z.jsonl", of the time now; with "-2" where
/// that is there already.
std::string default_records_path(const std::string& experiment);

/// The file that a run writes its records to, which no other run on this
/// machine writes meanwhile.  Where the user names a device or a pipe, of which
/// nothing can be read back, it is a file aside, and records are passed on.
class RecordTarget {
 public:
  /// The file `named`, or a new one of `experiment` in results/ where that is
  /// empty.  Throws UsageError where it cannot be written or another run writes
  /// it.
  RecordTarget(const std::string& named, const std::string& experiment);

  /// Removes the file and the folder that this run made and left empty, and the
  /// file aside.
  ~RecordTarget();
  RecordTarget(const RecordTarget&) = delete;
  RecordTarget& operator=(const RecordTarget&) = delete;

  const std::string& path() const { return path_; }
  bool is_aside() const { return !named_.empty(); }
  /// As the user knows it.
  const std::string& shown() const { return is_aside() ? named_ : path_; }

  /// Writes the record to what the user named, where that is not the file.
  void pass_on(const records::RunRecord& record);

 private:
  std::string path_;
  std::string named_;  // a device or a pipe; empty: the file itself
  bool makes_folder_ = false;
  bool makes_file_ = false;
  records::RecordClaim claim_;
  std::unique_ptr<records::RecordWriter> passed_on_;
};

}  // namespace paceline::measure
