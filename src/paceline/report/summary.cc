// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/summary.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/case/same.h"
#include "paceline/records/samples.h"
#include "paceline/report/cases.h"
#include "paceline/report/equal_training.h"
#include "paceline/stats/bootstrap.h"

namespace paceline::report {
namespace {

using records::RunRecord;

RunSeconds step_seconds(const CaseRecords& one) {
  RunSeconds runs;
  for (const RunRecord* run : one.measured()) {
    runs.push_back(slowest_step_s(*run));
  }
  return runs;
}

// Whether `one` is the training of `other` on a single rank.
bool is_one_rank_version(const cases::Case& one, const cases::Case& other) {
  using C = cases::Case;
  return one.states("ranks") && one.ranks == 1 &&
         cases::equal_except(
             one, other,
             {cases::Part::kExchange, &C::ranks, &C::ranks_per_host, &C::trainers, &C::warmup,
              &C::steps,
              // These settings change what is learned, but not how long a step takes.
              &C::seed, &C::start, &C::learning_rate, &C::momentum, &C::weight_decay, &C::lr_warmup,
              &C::lr_decay, &C::average_buffers, &C::split, &C::target, &C::evaluate_every});
}

// Whether two cases have the same source, or `test` is an external command and `base` the same
// training measured by Paceline without a strategy.
bool is_comparable(const CaseRecords& base, const CaseRecords& test) {
  return base.first().source == test.first().source ||
         (test.first().source == records::Source::kExternal &&
          base.first().source == records::Source::kMeasured &&
          base.configuration().strategy == "none");
}

// Returns the index of the scaling baseline: the same training on one rank, preferably without a
// strategy, else with the same one.
std::optional<std::size_t> find_baseline(const CaseRecords& test,
                                         const std::vector<CaseRecords>& cases) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const cases::Case& c = cases[i].configuration();
    if (!is_comparable(cases[i], test) || cases[i].measured().empty() ||
        !is_one_rank_version(c, test.configuration())) {
      continue;
    }
    if (c.strategy == "none") {
      return i;
    }
    if (!best && c.strategy == test.configuration().strategy) {
      best = i;
    }
  }
  return best;
}

// Returns the number of ranks that do model work; the other ranks only serve.
std::int64_t training_ranks(const RunRecord& run) {
  if (run.ranks.size() == 1) {
    return run.configuration.ranks;  // one series of steps stands for all ranks
  }
  return run.predicted ? run.predicted->training_ranks
                       : std::ranges::count_if(run.ranks, [](const records::RankSamples& rank) {
                           return !rank.step_ns.empty();
                         });
}

// Returns the examples of all ranks in a step, as a mean if steps differ; 0 if the source does not
// state them.
double samples_per_step(const RunRecord& run) {
  double counted = 0;
  for (const records::RankSamples& rank : run.ranks) {
    const auto& samples = rank.examples_of_step;
    counted += samples.empty() ? 0
                               : std::accumulate(samples.begin(), samples.end(), 0.0) /
                                     static_cast<double>(samples.size());
  }
  const cases::Case& c = run.configuration;
  if (counted == 0 && c.states("ranks") && c.states("batch_size")) {
    counted = static_cast<double>(training_ranks(run)) * c.batch_size;
  }
  return counted;
}

std::vector<stats::RunWindow> windows_of(const CaseRecords& one) {
  std::vector<stats::RunWindow> windows;
  if (std::ranges::any_of(one.measured(),
                          [](const RunRecord* run) { return samples_per_step(*run) == 0; })) {
    return windows;  // the source does not state how many examples a step has
  }
  for (const RunRecord* run : one.measured()) {
    stats::RunWindow window;
    window.step_ns = step_ns(*run);
    for (const records::RankSamples& rank : run->ranks) {
      window.wall_ns = std::max(window.wall_ns, rank.window_ns);
    }
    window.samples_per_step = samples_per_step(*run);
    windows.push_back(std::move(window));
  }
  return windows;
}

std::optional<stats::Estimate> efficiency(const CaseRecords& base, const CaseRecords& test) {
  if (&base == &test || base.measured().empty() || test.measured().empty() ||
      !test.configuration().states("ranks")) {
    return std::nullopt;
  }
  const auto ranks = [](const CaseRecords& one) {
    return static_cast<double>(training_ranks(*one.measured().front()));
  };
  const auto base_windows = windows_of(base);
  const auto test_windows = windows_of(test);
  return stats::scaling_efficiency({base_windows, ranks(base)}, {test_windows, ranks(test)});
}

// Whether the record states that its ranks sent no bytes.
bool sends_nothing(const RunRecord& run) {
  return run.wire.measured_per_step.value_or(run.wire.planned_per_step.value_or(1)) == 0;
}

// Returns the seconds that communication adds to a step, from the paired blocks of the runs.  For
// runs without such blocks, such as predictions, returns the difference of their steps with and
// without communication.
std::optional<stats::Estimate> exposed(const CaseRecords& one) {
  RunSeconds pairs;
  RunSeconds with;
  RunSeconds without;
  for (const RunRecord* run : one.measured()) {
    std::vector<double> alone = slowest_compute_only_step_s(*run);
    if (alone.empty() || sends_nothing(*run)) {
      continue;
    }
    pairs.push_back(exposed_s_by_pair(*run));
    if (pairs.back().empty()) {
      with.push_back(slowest_step_s(*run));
      without.push_back(std::move(alone));
    }
  }
  return with.empty() ? stats::center_of_pairs(pairs) : stats::paired_difference(with, without);
}

std::optional<stats::Estimate> data_wait(const CaseRecords& one) {
  RunSeconds runs;
  for (const RunRecord* run : one.measured()) {
    if (const auto seconds = longest_data_wait_s(*run)) {
      runs.push_back({*seconds});
    }
  }
  return stats::median_of_runs(runs);
}

template <class Number>
void take_largest(std::optional<Number>& all, const std::optional<Number>& one) {
  if (one) {
    all = std::max(all.value_or(*one), *one);
  }
}

/// Returns how stale the averages of the runs were; nothing if no averages were counted.
std::optional<AverageStaleness> average_staleness_of(
    const std::vector<const records::RunRecord*>& runs) {
  std::int64_t averages = 0, missed = 0, most = 0;
  for (const records::RunRecord* run : runs) {
    if (run->configuration.has_tables()) {
      continue;  // these counts are of embedding lookups
    }
    for (const records::RankSamples& rank : run->ranks) {
      const auto& by_steps = rank.averages_by_steps_missed;
      for (std::size_t i = 0; i < by_steps.size(); ++i) {
        const auto steps = static_cast<std::int64_t>(i);
        averages += by_steps[i];
        missed += steps * by_steps[i];
        most = by_steps[i] > 0 ? std::max(most, steps) : most;
      }
    }
  }
  if (averages == 0) {
    return std::nullopt;
  }
  return AverageStaleness{.mean_steps = static_cast<double>(missed) / static_cast<double>(averages),
                          .most_steps = most};
}

void add_failures(CaseSummary& row, const CaseRecords& one) {
  for (const RunRecord* run : one.runs) {
    for (const records::Warning& warning : run->warnings) {
      add_once(row.warnings, warning);
    }
    if (run->error) {
      ++row.failed_runs;
      row.not_run = run->not_run();
      add_once(row.errors, *run->error);
    }
    for (const auto& [what, holds] : run->verified) {
      if (!holds) {
        add_once(row.warnings,
                 {"verification-failed", what, "the values on the ranks were not what they must be",
                  "do not use these figures"});
      }
    }
  }
}

// Whether the first check is worse than the second: by being INVALID, then by more overdue time,
// then by less slack.
bool is_worse(const records::LinkCheck& left, const records::LinkCheck& right) {
  const auto rank = [](const records::LinkCheck& check) {
    return std::tuple(!check.valid(), check.overdue_share().value_or(0), -check.slack_ns);
  };
  return rank(left) > rank(right);
}

void add_runs(CaseSummary& row, const CaseRecords& one) {
  add_failures(row, one);
  double losses = 0;
  int trained_runs = 0;
  std::vector<std::vector<TrainedPoint>> evaluated;
  for (const RunRecord* run : one.measured()) {
    if (run->coding && (!row.coding || run->coding->ns_per_step > row.coding->ns_per_step)) {
      row.coding = run->coding;
    }
    if (run->training) {
      losses += run->training->last_loss;
      ++trained_runs;
    }
    if (auto points = trained_points(*run); !points.empty()) {
      evaluated.push_back(std::move(points));
    }
    if (run->link_check && (!row.link_check || is_worse(*run->link_check, *row.link_check))) {
      row.link_check = run->link_check;
    }
    if (!row.predicted) {
      row.predicted = run->predicted;
    }
    take_largest(row.consensus_distance, run->consensus_distance);
    take_largest(row.wire_bytes_per_step, run->wire.measured_per_step);
    take_largest(row.planned_wire_bytes_per_step, run->wire.planned_per_step);
    for (const records::RankSamples& rank : run->ranks) {
      take_largest(row.peak_memory_bytes, rank.peak_memory_bytes);
    }
  }
  row.average_staleness = average_staleness_of(one.measured());
  if (trained_runs > 0) {
    row.last_loss = losses / trained_runs;
  }
  if (!evaluated.empty()) {
    row.training_results = training_results(evaluated, row.configuration.target);
  }
}

CaseSummary make_row(const CaseRecords& one) {
  CaseSummary row;
  row.configuration = reported_configuration(one);
  row.source = one.first().source;
  row.experiment = one.first().experiment;
  row.runs = one.runs;
  add_runs(row, one);
  const RunSeconds runs = step_seconds(one);
  row.step_s = stats::summarize_steps(runs);
  row.examples_per_s = stats::aggregate_rate(windows_of(one));
  row.training_ranks = one.measured().empty() ? 0 : training_ranks(*one.measured().front());
  row.exposed_s = exposed(one);
  row.data_wait_s = data_wait(one);
  for (const records::Warning& warning : sample_warnings(row, runs)) {
    add_once(row.warnings, warning);
  }
  return row;
}

using Reasons = std::map<const RunRecord*, std::string>;

std::optional<std::string> reason_of(const CaseRecords& one, const Reasons& reasons) {
  for (const RunRecord* run : one.runs) {
    if (const auto found = reasons.find(run); found != reasons.end()) {
      return found->second;
    }
  }
  return std::nullopt;
}

// Adds the reason as a warning.  The label gets a mark too, so that the mark appears wherever the
// measurements do.
void mark_not_comparable(const std::string& reason, CaseSummary& row) {
  row.not_comparable = reason;
  add_once(row.warnings, {"not-comparable", reason, "the programs do not train the same",
                          "do not compare these figures with the others"});
}

GroupSummary make_table(const CaseGroup& group, const Reasons& reasons) {
  GroupSummary table{group.model, group.batch_size, {}};
  std::vector<std::string> labels = unique_labels(group.rows);
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    if (reason_of(group.rows[i], reasons)) {
      labels[i] += " (not comparable)";
    }
  }
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    const CaseRecords& one = group.rows[i];
    CaseSummary& row = table.rows.emplace_back(make_row(one));
    row.label = labels[i];
    if (const auto reason = reason_of(one, reasons)) {
      mark_not_comparable(*reason, row);
    }
    const auto base = find_baseline(one, group.rows);
    if (base && !row.failed()) {
      row.baseline = labels[*base];
      row.efficiency = efficiency(group.rows[*base], one);
    }
  }
  return table;
}

}  // namespace

std::optional<double> CaseSummary::examples_per_s_per_rank() const {
  if (!examples_per_s || !configuration.states("ranks")) {
    return std::nullopt;
  }
  return examples_per_s->value / static_cast<double>(training_ranks);
}

std::vector<GroupSummary> summarize(std::span<const RunRecord> records) {
  std::vector<GroupSummary> tables;
  const Reasons reasons = not_comparable(records);
  for (const CaseGroup& group : group_tables(records)) {
    tables.push_back(make_table(group, reasons));
  }
  return tables;
}

}  // namespace paceline::report
