// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "paceline/records/run_record.h"

namespace paceline::records {

/// The same operation in place: its result lies in the buffer of its input.
struct InPlace {
  std::vector<std::int64_t> iteration_ns;
  std::optional<std::int64_t> wrong_elements;

  bool operator==(const InPlace&) const = default;
};

/// One operation of an engine at one size, as `paceline comm` or another program measured it.
struct CommRecord {
  static constexpr int kVersion = 1;

  std::string started_at;  // UTC, ISO 8601
  std::string operation;   // all-reduce, reduce-scatter, all-gather, broadcast,
                           // message
  std::int64_t bytes = 0;  // payload: the longer side of a collective, as in nccl-tests; the size
                           // of a message
  int ranks = 1;
  std::vector<int> ranks_per_host;  // empty: not known
  std::string op;                   // sum, prod, ...; empty: not known, or none
  std::optional<int> root;          // the root rank, if there is one and it is known
  std::string engine, device, dtype, interface;
  std::string link;  // the emulated link; empty: none
  std::optional<int> warmup = 0;
  /// For each iteration, the longest duration of any rank in nanoseconds.
  std::vector<std::int64_t> iteration_ns;
  std::string place{};  // out-of-place, in-place; empty: not known
  /// "cpu": iteration_ns has only the CPU's times to issue the operation, from which no bandwidth
  /// follows.
  std::string clock{};
  /// In a record of another program, `mean_of` is the number of iterations whose mean is the only
  /// value of iteration_ns, and `formula` states how that program computes its figures.  Paceline's
  /// own records have 0 and an empty text.
  int mean_of = 0;
  std::string formula{};
  std::int64_t wire_bytes = 0;  // bytes that one rank sends (plan/wire_bytes.h)
  double line_bytes_per_s = 0;  // rate of the emulated link, or of one plain TCP connection; 0: not
                                // known
  /// The number of wrong elements on the rank that has the most; absent if the values were not
  /// checked.
  std::optional<std::int64_t> wrong_elements = 0;
  std::optional<InPlace> in_place{};          // times of the in-place variant, if it was measured
                                              // too
  std::optional<std::int64_t> link_slack_ns;  // LinkCheck::slack_ns; absent if the emulated link
                                              // was not checked
  /// Whether the median time is at most 2 % above the time that the emulated link allows; absent if
  /// that was not checked.  True without an emulated link.
  std::optional<bool> valid = true;
  std::vector<Warning> warnings;
  Environment environment{};  // empty while `paceline comm` is still measuring

  /// Whether iteration_ns holds a single value, the mean of several iterations, as of a program
  /// that prints no more.
  bool is_mean() const { return !formula.empty() && iteration_ns.size() == 1; }
  /// Whether wrong values were found, by Paceline or by the program that wrote the log.
  bool has_wrong_values() const;

  double quantile_ns(double p) const;
  double median_ns() const { return quantile_ns(0.5); }

  /// Whether the times give bandwidths.  They do not if only the CPU's time to issue was measured.
  bool has_bandwidth() const { return clock != "cpu"; }

  // Bandwidths in bytes per second, computed from the median time.
  double algorithm_bandwidth() const;
  double bus_bandwidth() const;
  double wire_bandwidth() const;
  /// Returns wire_bandwidth() divided by line_bytes_per_s; nothing if that rate is not known.
  std::optional<double> line_rate_fraction() const;
};

/// Returns the factor from algorithm to bus bandwidth: 2(n-1)/n for all-reduce, (n-1)/n for
/// reduce-scatter and all-gather, 1 for broadcast and messages (NVIDIA, nccl-tests,
/// doc/PERFORMANCE.md).
double bus_factor(std::string_view operation, int ranks);

/// Return parts of the JSON form: quantiles of the times, and bandwidths.
nlohmann::ordered_json duration_json(const CommRecord& record);
nlohmann::ordered_json bandwidths_json(const CommRecord& record);

/// Returns the JSON form, whose keys docs/comm.md lists; null stands for what is not known.
nlohmann::ordered_json to_json(CommRecord record, const Environment& environment);

/// Parses the JSON that to_json() wrote. Throws UsageError for anything else.
CommRecord comm_record_from(nlohmann::json json);

/// Reads one line of a file of operations.  Also throws UsageError for text that is not JSON.
CommRecord comm_record_from_line(std::string_view line);

}  // namespace paceline::records
