// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include "paceline/base/descriptor.h"

namespace paceline::rank {

/// The readers of the Python package at work on the output of a program that runs: a process of
/// paceline.readers.live, which is handed each line and says at once what it holds. The moment at
/// which a line came is taken before, so that the time of reading is in no figure.
class LiveReader {
 public:
  /// Starts the process and waits until it can read. `name` is one of
  /// --reader; empty: the first one that finds a step. Throws OutsideFailure.
  explicit LiveReader(const std::string& name);
  ~LiveReader();
  LiveReader(const LiveReader&) = delete;
  LiveReader& operator=(const LiveReader&) = delete;

  /// What the line holds: null, or an object as paceline.readers.live tells. Throws OutsideFailure
  /// where the process ended.
  nlohmann::json read(const std::string& line);

 private:
  LiveReader() = default;
  nlohmann::json answer();

  pid_t pid_ = -1;
  Descriptor socket_;
  std::string pending_;
};

}  // namespace paceline::rank
