// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include "paceline/base/descriptor.h"
#include "paceline/case/case.h"
#include "paceline/records/run_record.h"

namespace paceline::rank {

/// An external program that failed or reported no usable times: a status of RunRecord, and a
/// sentence.
class ExternalProgramError : public std::runtime_error {
 public:
  ExternalProgramError(std::string status, const std::string& message)
      : std::runtime_error(message), status_(std::move(status)) {}

  const std::string& status() const { return status_; }

 private:
  std::string status_;
};

/// Reads the output of a running external program by the readers of the Python package.  A process
/// of paceline.readers.live is handed each line and answers with the program's progress.  The
/// caller measures when each line came, so no measurement contains the reader's own time.
class LiveReader {
 public:
  /// Starts the process, and waits until it is ready to read what the case's program writes on
  /// `rank`.  Throws ExternalProgramError if it does not get ready.
  LiveReader(const cases::Case& configuration, int rank);
  ~LiveReader();
  LiveReader(const LiveReader&) = delete;
  LiveReader& operator=(const LiveReader&) = delete;

  /// Reads one line, which came `since_start_ns` after the start of the program.  Throws
  /// ExternalProgramError for a line that is wrong or of another case, for a loss that is no finite
  /// number, and for the event `error`.
  void take(const std::string& line, std::int64_t since_start_ns);

  /// Returns the number of steps done, warm-up included.
  int done() const { return done_; }

  /// Returns the record of the window, after the last line: samples of the ranks whose steps were
  /// read, warnings, and what the program said of itself.  Throws ExternalProgramError if the
  /// samples are not those that the case asks for, or contradict the clock.
  records::RunRecord finish();

 private:
  LiveReader() = default;
  nlohmann::json ask(const std::string& line);

  pid_t pid_ = -1;
  Descriptor socket_;
  int done_ = 0;
};

}  // namespace paceline::rank
