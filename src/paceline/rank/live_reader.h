// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include "paceline/base/descriptor.h"
#include "paceline/records/configuration.h"
#include "paceline/records/run_record.h"

namespace paceline::rank {

/// Why a program outside gave no figure: a status of RunRecord, and a sentence.
class OutsideFailure : public std::runtime_error {
 public:
  OutsideFailure(std::string status, const std::string& message)
      : std::runtime_error(message), status_(std::move(status)) {}

  const std::string& status() const { return status_; }

 private:
  std::string status_;
};

/// The readers of the Python package at work on the output of a program that runs: a process of
/// paceline.readers.live, which is handed each line and says at once how far the program is. The
/// moment at which a line came is taken before, so that the time of reading is in no figure.
class LiveReader {
 public:
  /// Starts the process and waits until it can read the output of the case's program as `rank`.
  /// Throws OutsideFailure.
  LiveReader(const records::Configuration& configuration, int rank);
  ~LiveReader();
  LiveReader(const LiveReader&) = delete;
  LiveReader& operator=(const LiveReader&) = delete;

  /// Takes one line, which came `since_start_ns` after the start of the program.  Throws
  /// OutsideFailure for a line that is wrong or of another case, a loss that is no finite number,
  /// and the event `error`.
  void take(const std::string& line, std::int64_t since_start_ns);

  /// Steps that are done, warm-up included.
  int done() const { return done_; }

  /// The record of the window, after the last line: samples of the ranks that told steps, warnings,
  /// and what the program said of itself.  Throws OutsideFailure where the samples are not those
  /// that the case asks for, or contradict the clock.
  records::RunRecord finish();

 private:
  LiveReader() = default;
  nlohmann::json ask(const std::string& line);

  pid_t pid_ = -1;
  Descriptor socket_;
  int done_ = 0;
};

}  // namespace paceline::rank
