// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "paceline/case/case.h"
#include "paceline/records/predicted.h"

namespace paceline::records {

/// The quality of a rank's network after some steps of training on --data.
struct Evaluation {
  std::int64_t step = 0;        // steps trained, including those of the warm-up
  std::int64_t trained_ns = 0;  // wall time of these steps, without evaluations
  std::int64_t sent_bytes = 0;  // bytes that the rank gave the engine in them
  /// Mean loss over the test samples; of a regression, minus the least possible loss.  Absent if it
  /// is not finite.
  std::optional<double> loss;
  std::optional<double> accuracy;  // share of the test samples that are right; only of classifiers

  bool operator==(const Evaluation&) const = default;
};

/// The lookups of a trainer in embedding tables, summed over all measured steps.
struct LookupCounts {
  std::int64_t rows = 0;               // rows looked up, repetitions included
  std::vector<std::int64_t> distinct;  // distinct rows that crossed the network, by server
  std::int64_t id_bytes = 0;           // bytes of ids sent to the servers
  std::int64_t row_bytes = 0;          // bytes of rows received from the servers
  std::int64_t gradient_bytes = 0;     // bytes of gradients sent to the servers

  bool operator==(const LookupCounts&) const = default;
};

/// The measurements of one rank.  Durations are nanoseconds of a monotonic clock; sample k of every
/// vector belongs to measured step k.
struct RankSamples {
  int rank = 0;
  std::string host;
  int local_rank = 0;
  std::string device;                                         // cpu, cuda:0
  std::vector<std::int64_t> step_ns;                          // start of forward k to that of k+1
  std::map<std::string, std::vector<std::int64_t>> phase_ns;  // by phase: forward, backward, wait,
                                                              // update, data
  std::int64_t window_ns = 0;                                 // wall time of all measured steps
  std::optional<std::int64_t> flush_ns;                       // time to finish after the last step
  std::optional<std::int64_t> peak_memory_bytes;
  /// Times of steps without communication, with all ranks computing at once.
  std::vector<std::int64_t> compute_only_step_ns;
  /// Times of steps with communication that were measured in turn with compute_only_step_ns, block
  /// by block; empty if none were measured.  Element k of both belongs to pair `pair_of_step[k]`.
  std::vector<std::int64_t> paired_step_ns;
  std::vector<std::int64_t> pair_of_step;
  /// Element k counts the averages that missed the values of a neighbor's k newest steps, in plans
  /// whose averages use whatever has arrived.  On servers of embedding tables, element k counts the
  /// lookups that missed the updates of k steps.
  std::vector<std::int64_t> averages_by_steps_missed{};
  std::vector<Evaluation> evaluations{};  // in the order of steps
  /// The examples of each step, if they differ from the configuration's batch size.
  std::vector<std::int64_t> examples_of_step;
  std::optional<LookupCounts> lookups{};  // of ranks that look up rows

  bool operator==(const RankSamples&) const = default;
};

/// Bytes per rank and step that were handed to the engine, by operation, counted where they are
/// issued; and the bytes that the plan's cost table states.
struct WireBytes {
  std::optional<std::int64_t> measured_per_step;  // maximum over the ranks
  std::optional<std::int64_t> planned_per_step;
  std::map<std::string, std::int64_t> by_pattern;  // all-reduce, ...
  std::optional<std::int64_t> calls_per_step;

  bool operator==(const WireBytes&) const = default;
};

/// One piece of a cost model: t = alpha + beta * bytes of payload, from `from_bytes` on.
struct CostPiece {
  std::int64_t from_bytes = 0;
  double alpha_s = 0;
  double beta_s_per_byte = 0;

  bool operator==(const CostPiece&) const = default;
};

/// The layer times and collective costs from which the planner made the strategy's plan, if the
/// planner uses any.
struct PlannerTimes {
  std::string profile_origin;             // who measured the profile, and on what
  std::vector<std::int64_t> forward_ps;   // picoseconds by module, in forward order
  std::vector<std::int64_t> backward_ps;  // picoseconds by parameter, as registered
  std::string costs_origin;
  std::map<std::string, std::vector<CostPiece>> costs;  // by pattern
  std::string remark;                                   // of the planner, for people; may be empty

  bool operator==(const PlannerTimes&) const = default;
};

/// Compares, over the measured steps, when operations ended on the engine with when the emulated
/// link would have delivered them.
struct LinkCheck {
  static constexpr double kMaxOverdueFraction = 0.02;  // fraction of window_ns

  std::int64_t operations = 0;  // number of compared operations
  std::int64_t late = 0;        // operations in which the engine was slower than the link
  /// The end of an operation by the emulated link minus its end on the engine, the least over the
  /// operations.  It is negative if the engine was slower.
  std::int64_t slack_ns = 0;
  /// The time in which some operation was overdue: the link would have delivered it, but the engine
  /// had not.  The steps are too long by at most this time.  `window_ns` is the time of all
  /// measured steps.  Both are absent in older records.
  std::optional<std::int64_t> overdue_ns{}, window_ns{};

  /// Returns overdue_ns / window_ns; nothing if these were not recorded.
  std::optional<double> overdue_share() const {
    if (!overdue_ns || !window_ns || *window_ns <= 0) {
      return std::nullopt;
    }
    return static_cast<double>(*overdue_ns) / static_cast<double>(*window_ns);
  }

  bool valid() const {
    const auto share = overdue_share();
    return share ? *share <= kMaxOverdueFraction : late == 0;
  }

  bool operator==(const LinkCheck&) const = default;
};

/// The coding time of the strategy's codec, and the bytes that would be sent without it.
struct CodingCost {
  std::int64_t ns_per_step = 0;           // mean time in its kernels on the slowest rank
  std::int64_t plain_bytes_per_step = 0;  // bytes by the plan without a codec

  bool operator==(const CodingCost&) const = default;
};

/// The result of training after the last measured step.
struct Training {
  double last_loss = 0;  // loss of the last step, mean over ranks

  bool operator==(const Training&) const = default;
};

/// The code of the warning that the measured steps lack an exchange of the strategy.  The record's
/// times and bytes are then not those of the strategy.
inline constexpr const char* kLacksExchange = "lacks-exchange";
/// The code of the warning that the measured steps are no whole number of the strategy's periods,
/// though they lack no exchange.
inline constexpr const char* kNotWholePeriods = "not-whole-periods";

struct Warning {
  std::string code;  // shared-cores, few-samples, hosts-differ, ...
  std::string seen, why, advice;

  bool operator==(const Warning&) const = default;
};

inline bool lacks_exchange(const std::vector<Warning>& warnings) {
  return std::any_of(warnings.begin(), warnings.end(),
                     [](const auto& one) { return one.code == kLacksExchange; });
}

/// Whether the warning says that the program which wrote a log found wrong values itself.  The
/// record is kept, and the exit code is 3.
inline bool is_of_wrong_values(const Warning& warning) { return warning.code == "wrong-values"; }

/// One host on which ranks ran. Unknown fields are empty.
struct HostEnvironment {
  std::string host;
  std::map<std::string, std::string> facts;  // cpu_model, cpu_isa, cores,
                                             // governor, kernel, driver, ...
  std::string topology;                      // nvidia-smi topo -m

  bool operator==(const HostEnvironment&) const = default;
};

struct Environment {
  std::string paceline_version, git_hash, compiler, build_type;
  std::string torch_version, torch_git, cuda_version, nccl_version;
  std::map<std::string, std::string> variables;  // allow-listed names only
  std::vector<HostEnvironment> hosts;

  bool operator==(const Environment&) const = default;
};

/// How a record's numbers were obtained.
enum class Source : std::uint8_t { kMeasured, kReplayed, kPredicted, kImported, kExternal };

/// Returns the fact `name` of a host or a program, or `otherwise` if there is none.
inline std::string fact_of(const std::map<std::string, std::string>& facts, const std::string& name,
                           const char* otherwise = "") {
  const auto found = facts.find(name);
  return found == facts.end() ? otherwise : found->second;
}

/// The record of one run of one case: the unit that is appended to a record file.
struct RunRecord {
  static constexpr int kVersion = 1;

  int version = kVersion;
  Source source = Source::kMeasured;
  std::string experiment;  // its name: quick, ddp, ... or "command line"
  std::string started_at;  // UTC, ISO 8601
  int run = 0;             // which repetition of the case, each in fresh processes
  cases::Case configuration;
  Environment environment;
  std::vector<RankSamples> ranks;
  WireBytes wire;
  std::map<std::string, bool> verified;  // by check: reduced-values, ...
  std::vector<Warning> warnings;
  std::optional<std::string> error;  // why the case failed; samples are those taken before
  /// The kind of failure: rejected, if the ranks found before the first step that the case cannot
  /// run; if a program other than Paceline runs the case: not-installed, unsupported, exit, signal,
  /// timeout, no-samples, wrong-count, not-finite, out-of-memory, bad-output.
  std::string status{};
  /// Facts that the external program of the case reported about itself: versions, layout, recipe.
  std::map<std::string, std::string> adapter{};
  std::optional<PlannerTimes> planned_by{};
  std::optional<LinkCheck> link_check{};         // of cases on an emulated link
  std::optional<CodingCost> coding{};            // only of cases with a codec, on CPUs
  std::optional<Training> training{};            // if parameters were trained
  std::optional<PredictionDetails> predicted{};  // only of predictions: bound and error bar
  /// If ranks may hold different parameters: the root mean square over the ranks of |x - m| / |m|
  /// after the last step, where m is the mean over the ranks.
  std::optional<double> consensus_distance{};

  /// Whether the measurements are valid for the case: its engine was as fast as its emulated link,
  /// and the measured steps contain every exchange of its strategy.
  bool valid() const { return (!link_check || link_check->valid()) && !lacks_exchange(warnings); }

  /// Whether nothing was measured because the case cannot run here, which is no failure.
  bool not_run() const { return status == "not-installed" || status == "unsupported"; }

  bool operator==(const RunRecord&) const = default;
};

}  // namespace paceline::records
