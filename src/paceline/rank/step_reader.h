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

#include "paceline/launch/output_prefix.h"
#include "paceline/rank/live_reader.h"
#include "paceline/rank/stated_step.h"
#include "paceline/rank/stated_times.h"
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

/// The status where a program contradicts the clock, or its case.
inline constexpr const char* kContradiction = "contradiction";

/// Throws OutsideFailure where there are no samples, or those of more ranks than one and fewer than
/// all.
void check_all_ranks(const records::Configuration& configuration,
                     const std::vector<records::RankSamples>& ranks);

/// Reads the steps in the output of a program outside: JSON lines (docs/adapters.md), what the
/// case's `step_regex` finds, or the lines that
/// `live`, where there is one, knows.
class StepReader {
 public:
  /// `rank` is the rank of steps that name none.
  StepReader(const records::Configuration& configuration, int rank, LiveReader* live = nullptr);

  /// Takes one line, which came at `now_ns`.  Lines that are no event are skipped, and what a
  /// launcher wrote before a line.  Throws OutsideFailure for an event that is wrong or of another
  /// case, a loss that is no finite number, and an `error`.
  void take(const std::string& line, std::int64_t now_ns);

  /// Steps that are done, warm-up included.
  int done() const { return done_; }
  /// Whether steps have begun to come.
  bool moving() const { return done_ > 0; }

  /// Whether neither a step nor an event came, as of a rank that leaves the output to another one.
  bool silent() const { return series_.empty() && !introduced_; }
  /// The samples of the window, by rank: one for each line.  Throws OutsideFailure where they are
  /// not those that the case asks for.
  std::vector<records::RankSamples> samples() const;
  /// Whether the program spoke as an adapter, with `environment` first, and left out the `end` that
  /// an adapter's run has.
  bool ends_early() const { return introduced_ && !ended_; }
  /// What the program said of itself.
  const std::map<std::string, std::string>& adapter() const { return adapter_; }
  /// Bytes of a step, as the program counted them.
  const records::WireBytes& wire() const { return wire_; }
  /// Holds the times of the window against the clock; the program was started at `began_ns`.
  /// Throws OutsideFailure where they contradict each other.
  std::optional<records::Warning> remark_of_clock(std::int64_t began_ns) const;
  /// About steps that came after the window.
  std::optional<records::Warning> surplus() const;
  /// About lines that stand for several steps.
  std::optional<records::Warning> remark_of_means() const;
  /// About lines whose unit is that of --step-regex turned over.
  std::optional<records::Warning> remark_of_units() const;

 private:
  struct Series {
    std::vector<std::int64_t> step_ns;
    std::map<std::string, std::vector<std::int64_t>> phase_ns;
    std::vector<TimedLine> lines;  // as step_ns; empty: timed by arrival
    std::vector<DoneLine> progress;
    std::size_t warmup = 0;          // how many of them are no part of the window
    bool indexed = false;            // they are of the window alone
    bool in_ns = false;              // they are events that say step_ns
    std::int64_t last_match_ns = 0;  // 0: none
    std::optional<std::int64_t> peak_memory_bytes;
    std::optional<std::int64_t> window_ns;
    // Of steps in turn, as in RankSamples.
    std::vector<std::int64_t> paired_step_ns, compute_only_step_ns, pair_of_step;
  };

  void take_events(const std::string& text, std::int64_t now_ns, std::optional<int> rank);
  void take_event(const nlohmann::json& event, std::int64_t now_ns);
  void take_step(const nlohmann::json& event, std::int64_t now_ns);
  void take_end(const nlohmann::json& event);
  void take_exchange(const nlohmann::json& event, Series& series);
  void take_known(const launch::RankLine& line, const std::string& whole, std::int64_t now_ns);
  void check_known(const nlohmann::json& said, const Series& series) const;
  bool reads_events() const;
  void take_match(const launch::RankLine& line, const std::string& whole, std::int64_t now_ns);
  void take_number(Series& series, const std::smatch& match, const std::string& whole, bool turned,
                   std::int64_t now_ns) const;
  void add_line(Series& series, const StatedStep& step, std::int64_t now_ns) const;
  void check_loss(const nlohmann::json& event);
  Series& series_of(const nlohmann::json& event);
  Series& series_of(int rank);
  std::size_t lines_for(int steps) const;
  void check_count(const Series& series, int rank) const;
  std::string advice_on_count(std::size_t lines) const;

  const records::Configuration& configuration_;
  int rank_;
  LiveReader* live_;
  std::optional<std::regex> regex_;
  std::optional<std::regex> turned_;  // with the unit turned over
  int turned_lines_ = 0;
  bool known_ = false;  // a reader knows the lines
  std::map<int, Series> series_;
  std::map<std::string, std::string> adapter_;
  records::WireBytes wire_;
  int done_ = 0;
  bool introduced_ = false, ended_ = false;
};

}  // namespace paceline::rank
