// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "paceline/launch/key_value_store.h"

namespace paceline::front {

/// The front of a job: it reads the results that the ranks have finished, is the only writer of the
/// record file, and prints the results.
class Front {
 public:
  virtual ~Front() = default;

  /// Must be called before the ranks, whose store is `store`, begin repetition `run`.
  virtual void begin(launch::KeyValueStore& store, int run) = 0;

  /// Reads the results that the ranks have handed over since the last call.  Throws WorldError if
  /// the disk is full.
  virtual void take(launch::KeyValueStore& store) = 0;

  /// Records the running case as failed, with the samples that the ranks have stored.  Returns the
  /// case's key; nothing if no record was made.
  virtual std::optional<std::string> add_failed(launch::KeyValueStore& store,
                                                const std::string& why) = 0;

  /// Prints the results on stdout and the path of their records on stderr.  For a run that ended
  /// early, first prints `ended` on stderr, followed by the number of finished cases.
  virtual void show(const std::string& ended) = 0;

  /// Whether there are samples to show, including those of a failed case.
  virtual bool has_samples() const = 0;

  /// Returns the file that has records of failed cases; empty if no case failed.
  virtual std::string failures_in() const = 0;

  /// Prints on stderr what is wrong with the results.  Returns the exit code of a run that
  /// completed.
  virtual int status() = 0;
};

}  // namespace paceline::front
