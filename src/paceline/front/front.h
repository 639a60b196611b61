// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "paceline/case/settings.h"
#include "paceline/front/record_target.h"
#include "paceline/launch/key_value_store.h"
#include "paceline/records/store.h"

namespace paceline::front {

/// The part of a job that collects results: it reads the results that the ranks have finished, is
/// the only writer of the record file, and prints the results.
class Front {
 public:
  virtual ~Front() = default;
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;

  /// Must be called before the ranks, whose store is `store`, begin repetition `run`.
  virtual void begin(launch::KeyValueStore& store, int run);

  /// Appends the records that the ranks have handed over since the last call to the file.  Throws
  /// WorldError if the disk is full.
  void take(launch::KeyValueStore& store);

  /// Records the running case as failed, with the samples that the ranks have stored.  Returns the
  /// case's key; nothing if no record was made.
  virtual std::optional<std::string> add_failed(launch::KeyValueStore& /*store*/,
                                                const std::string& /*why*/) {
    return std::nullopt;
  }

  /// Prints the results on stdout and the path of their records on stderr.  For a run that ended
  /// early, first prints `ended` on stderr, followed by the number of finished cases.
  virtual void show(const std::string& ended) = 0;

  /// Whether there are samples to show, including those of a failed case.
  virtual bool has_samples() const = 0;

  /// Returns the file that has records of failed cases; empty if no case failed.
  virtual std::string failures_in() const { return ""; }

  /// Prints on stderr what is wrong with the results.  Returns the exit code of a run that
  /// completed.
  virtual int status() = 0;

 protected:
  /// Opens the record file of the settings (RecordTarget).
  Front(const cases::Settings& settings, records::RecordKind kind)
      : settings_(settings), target_(settings.records, settings.name, kind) {}

  cases::Settings settings_;
  RecordTarget target_;
  int run_ = 0;  // number of the current repetition, from 0

 private:
  /// Keeps the record of this line, which is in the file already.
  virtual void keep(const std::string& line) = 0;

  /// Prints the rows of new records if they do not depend on later records.
  virtual void show_rows() {}

  std::size_t records_read_ = 0;  // in the current repetition
};

}  // namespace paceline::front
