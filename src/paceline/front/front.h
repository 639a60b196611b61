// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "paceline/launch/key_value_store.h"

namespace paceline::front {

/// The front of a job: takes what the ranks have finished, is the only writer of the record file,
/// and prints.
class Front {
 public:
  virtual ~Front() = default;

  /// To be called before the ranks begin repetition `run`, with their store.
  virtual void begin(launch::KeyValueStore& store, int run) = 0;

  /// Takes what the ranks have handed over since the last call.  Throws WorldError where the disk
  /// is full.
  virtual void take(launch::KeyValueStore& store) = 0;

  /// Records that the case which is under way failed, with the samples that the ranks have told.
  /// Returns its key; nothing where there is no such record.
  virtual std::optional<std::string> add_failed(launch::KeyValueStore& store,
                                                const std::string& why) = 0;

  /// Prints the results on stdout and where their records are on stderr.  For a run that ended
  /// early, `ended` is printed first on stderr, followed by how much is finished.
  virtual void show(const std::string& ended) = 0;

  /// Whether there is anything to show, of a failed case too.
  virtual bool has_samples() const = 0;

  /// The file that has records of failed cases; empty where none failed.
  virtual std::string failures_in() const = 0;

  /// Says on stderr what is wrong with the results; the exit code of a run that went to its end.
  virtual int status() = 0;
};

}  // namespace paceline::front
