// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "paceline/records/configuration.h"
#include "paceline/records/predicted.h"

namespace paceline::records {

/// What a rank's network is worth after some steps of training on --data.
struct Evaluation {
  std::int64_t step = 0;        // steps trained, those of the warm-up too
  std::int64_t trained_ns = 0;  // wall time of these steps, evaluations apart
  std::int64_t sent_bytes = 0;  // that the rank gave the engine in them
  /// Mean over the test samples; of a regression, above the least possible. Absent where it is no
  /// number any more.
  std::optional<double> loss;
  std::optional<double> accuracy;  // share of the test samples; of classes

  bool operator==(const Evaluation&) const = default;
};

/// What a trainer looked up in embedding tables in all measured steps.
struct Lookups {
  std::int64_t rows = 0;               // as often as bags name them
  std::vector<std::int64_t> distinct;  // by server: those that crossed
  std::int64_t id_bytes = 0;           // to the servers
  std::int64_t row_bytes = 0;          // from the servers
  std::int64_t gradient_bytes = 0;     // to the servers

  bool operator==(const Lookups&) const = default;
};

/// What one rank measured in one window.  Durations are nanoseconds of a monotonic clock; sample k
/// of every vector belongs to measured step k.
struct RankSamples {
  int rank = 0;
  std::string host;
  int local_rank = 0;
  std::string device;                                         // cpu, cuda:0
  std::vector<std::int64_t> step_ns;                          // start of forward k to that of k+1
  std::map<std::string, std::vector<std::int64_t>> phase_ns;  // forward,
                                                              // backward, wait, update
  std::int64_t window_ns = 0;                                 // wall time of all measured steps
  std::optional<std::int64_t> flush_ns;                       // drain after the last step
  std::optional<std::int64_t> peak_memory_bytes;
  /// Steps without communication while all ranks compute at once.
  std::vector<std::int64_t> compute_only_step_ns;
  /// Steps with communication that were measured in turn with those, block by block; empty where
  /// none were.  Step k of both is of pair
  /// `pair_of_step[k]`.
  std::vector<std::int64_t> paired_step_ns;
  std::vector<std::int64_t> pair_of_step;
  /// Element k counts the averages that missed the values of the k newest steps, in plans whose
  /// averages take what has arrived.  On servers of embedding tables, element k counts the lookups
  /// that missed the updates of k steps.
  std::vector<std::int64_t> averages_by_steps_missed{};
  std::vector<Evaluation> evaluations{};  // by step
  /// Examples of each step, where they are not the configuration's batch.
  std::vector<std::int64_t> examples_of_step;
  std::optional<Lookups> lookups{};  // of ranks that look tables up

  bool operator==(const RankSamples&) const = default;
};

/// Bytes per rank and step that crossed the engine, by pattern, counted where they were issued,
/// beside what the plan's cost table says.
struct WireBytes {
  std::optional<std::int64_t> measured_per_step;  // max over ranks
  std::optional<std::int64_t> planned_per_step;
  std::map<std::string, std::int64_t> by_pattern;  // all-reduce, ...
  std::optional<std::int64_t> calls_per_step;

  bool operator==(const WireBytes&) const = default;
};

/// t = alpha + beta * bytes of payload from `from_bytes` on.
struct CostPiece {
  std::int64_t from_bytes = 0;
  double alpha_s = 0;
  double beta_s_per_byte = 0;

  bool operator==(const CostPiece&) const = default;
};

/// The times by which the strategy's plan was made, where it asks for some.
struct PlannedBy {
  std::string profile_origin;             // who measured it, on what
  std::vector<std::int64_t> forward_ps;   // by module, in forward order
  std::vector<std::int64_t> backward_ps;  // by parameter, as registered
  std::string costs_origin;
  std::map<std::string, std::vector<CostPiece>> costs;  // by pattern
  std::string remark;                                   // the planner's, for people; may be empty

  bool operator==(const PlannedBy&) const = default;
};

/// What an engine left of an emulated link's time in the measured steps.
struct LinkCheck {
  static constexpr double kMostOverdue = 0.02;  // of the window

  std::int64_t operations = 0;  // that were compared
  std::int64_t late = 0;        // where the engine was slower than the link
  /// The link's end minus the engine's, the least over the operations: where
  /// it is negative the engine was slower.
  std::int64_t slack_ns = 0;
  /// For how long of the window some operation was overdue: its link would
  /// have delivered it, and the engine had not.  The steps are too long by no more than that.
  /// Absent in records that do not have it.
  std::optional<std::int64_t> overdue_ns{}, window_ns{};

  /// Nothing where that was not recorded.
  std::optional<double> overdue_share() const {
    if (!overdue_ns || !window_ns || *window_ns <= 0) {
      return std::nullopt;
    }
    return static_cast<double>(*overdue_ns) / static_cast<double>(*window_ns);
  }

  bool valid() const {
    const auto share = overdue_share();
    return share ? *share <= kMostOverdue : late == 0;
  }

  bool operator==(const LinkCheck&) const = default;
};

/// What the strategy's codec costs and saves.
struct Coding {
  std::int64_t ns_per_step = 0;           // in its kernels, mean, the slowest rank's
  std::int64_t plain_bytes_per_step = 0;  // by the plan without a codec

  bool operator==(const Coding&) const = default;
};

/// How far training has come at the end of the window.
struct Training {
  double last_loss = 0;  // of the last step, mean over ranks

  bool operator==(const Training&) const = default;
};

/// The code of the warning that the measured steps lack an exchange of the strategy: the record's
/// figures are not those of the case.
inline constexpr const char* kLacksExchange = "lacks-exchange";
/// That of the warning that they are no whole number of periods of its steps, though they lack no
/// exchange.
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

/// The warning of wrong values that the program which wrote a log found itself: the record stands,
/// and the exit code is 3.
inline bool is_of_wrong_values(const Warning& warning) { return warning.code == "wrong-values"; }

/// One machine of the world, as it was found.  Unknown fields stay empty.
struct HostEnvironment {
  std::string host;
  std::map<std::string, std::string> facts;  // cpu_model, cpu_isa, cores,
                                             // governor, kernel, driver, ...
  std::string topology;                      // nvidia-smi topo -m, or hwloc's

  bool operator==(const HostEnvironment&) const = default;
};

struct Environment {
  std::string paceline_version, git_hash, compiler, build_type;
  std::string torch_version, torch_git, cuda_version, nccl_version;
  std::map<std::string, std::string> variables;  // allow-listed names only
  std::vector<HostEnvironment> hosts;

  bool operator==(const Environment&) const = default;
};

/// Where the numbers come from.
enum class Source : std::uint8_t { kMeasured, kReplayed, kPredicted, kImported, kExternal };

/// What the facts of a host or a program say of `name`.
inline std::string fact_of(const std::map<std::string, std::string>& facts, const std::string& name,
                           const char* otherwise = "") {
  const auto found = facts.find(name);
  return found == facts.end() ? otherwise : found->second;
}

/// One case, once: the unit that is appended to a record file.
struct RunRecord {
  static constexpr int kVersion = 1;

  int version = kVersion;
  Source source = Source::kMeasured;
  std::string experiment;  // quick, ddp, ... or "command line"
  std::string started_at;  // UTC, ISO 8601
  int run = 0;             // which repetition of the case (a fresh process)
  Configuration configuration;
  Environment environment;
  std::vector<RankSamples> ranks;
  WireBytes wire;
  std::map<std::string, bool> verified;  // reduced-values, ...
  std::vector<Warning> warnings;
  std::optional<std::string> error;  // the case failed: why; samples so far
  /// What kind of failure, where a program outside performs the case: not-installed, unsupported,
  /// exit, signal, timeout, no-samples, wrong-count, not-finite, out-of-memory, bad-output.
  std::string status{};
  /// What that program said of itself: versions, layout, recipe.
  std::map<std::string, std::string> adapter{};
  std::optional<PlannedBy> planned_by{};
  std::optional<LinkCheck> link_check{};  // of cases behind an emulated link
  std::optional<Coding> coding{};         // of cases with a codec, on CPUs
  std::optional<Training> training{};     // where parameters were trained
  std::optional<Predicted> predicted{};   // bound and error bar
  /// Where ranks may hold different parameters: the root mean square over the ranks of |x - m| /
  /// |m|, m the mean over the ranks, after the last step.
  std::optional<double> consensus_distance{};

  /// Whether the figures are those of the case: its engine was as fast as the link that it should
  /// have been behind, and the measured steps have what its strategy exchanges.
  bool valid() const { return (!link_check || link_check->valid()) && !lacks_exchange(warnings); }

  /// Whether there is no figure because the case cannot be here, which is no failure.
  bool not_run() const { return status == "not-installed" || status == "unsupported"; }

  bool operator==(const RunRecord&) const = default;
};

}  // namespace paceline::records
