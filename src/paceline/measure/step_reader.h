// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "paceline/records/configuration.h"
#include "paceline/records/run_record.h"

namespace paceline::measure {

/// Why a program outside gave no figure: a status of RunRecord, and a sentence.
class OutsideFailure : public std::runtime_error {
 public:
  OutsideFailure(std::string status, const std::string& message)
      : std::runtime_error(message), status_(std::move(status)) {}

  const std::string& status() const { return status_; }

 private:
  std::string status_;
};

/// Reads the steps in the output of a program outside: JSON lines
/// (docs/adapters.md), or what the case's `step_regex` finds.
class StepReader {
 public:
  /// `rank` is the rank of steps that name none.
  StepReader(const records::Configuration& configuration, int rank);

  /// Takes one line, which came at `now_ns`.  Lines that are no event are
  /// skipped.  Throws OutsideFailure for an event that is wrong, a loss that is
  /// no finite number, and an `error`.
  void take(const std::string& line, std::int64_t now_ns);

  /// Steps that are done, warm-up included.
  int done() const { return done_; }
  /// Whether steps have begun to come.
  bool moving() const { return done_ > 0; }

  /// The samples of the window, by rank.  Throws OutsideFailure where they are
  /// not those that the case asks for.
  std::vector<records::RankSamples> samples() const;
  /// Whether the program spoke as an adapter, with `environment` first, and
  /// left out the `end` that an adapter's run has.
  bool ends_early() const { return introduced_ && !ended_; }
  /// What the program said of itself.
  const std::map<std::string, std::string>& adapter() const { return adapter_; }
  /// About steps that came after the window.
  std::optional<records::Warning> surplus() const;

 private:
  struct Series {
    std::vector<std::int64_t> step_ns;
    std::map<std::string, std::vector<std::int64_t>> phase_ns;
    std::size_t warmup = 0;  // how many of them are no part of the window
    std::optional<std::int64_t> peak_memory_bytes;
    std::optional<std::int64_t> window_ns;
  };

  void take_event(const nlohmann::json& event);
  void take_step(const nlohmann::json& event);
  void take_end(const nlohmann::json& event);
  void take_match(const std::string& line, std::int64_t now_ns);
  void check_loss(const nlohmann::json& event);
  std::int64_t step_ns_of(double found) const;
  Series& series_of(const nlohmann::json& event);

  const records::Configuration& configuration_;
  int rank_;
  std::optional<std::regex> regex_;
  std::map<int, Series> series_;
  std::map<std::string, std::string> adapter_;
  std::int64_t last_match_ns_ = 0;  // 0: none
  int done_ = 0;
  bool introduced_ = false, ended_ = false;
};

}  // namespace paceline::measure
