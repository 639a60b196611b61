// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/case/same.h"
#include "paceline/predict/measured_figure.h"
#include "paceline/predict/predict.h"
#include "paceline/predict/roofline.h"
#include "paceline/records/samples.h"
#include "paceline/stats/mean.h"
#include "paceline/stats/quantile.h"
#include "paceline/strategies/strategy.h"

namespace paceline::predict {
namespace {

using records::RunRecord;

/// Returns whether the record states what was trained and how.  The record of a user's command does
/// not.
bool states_training_job(const RunRecord& record) {
  return record.configuration.command.empty() && record.configuration.states("model");
}

/// Returns whether Paceline has the plan by which the record's ranks communicated.
bool has_plan(const cases::Case& c) {
  return c.command.empty() && c.states("strategy") && c.framework.empty() &&
         !strategies::strategy_of(c).external();
}

void check_one_job(const RunRecord& first, const RunRecord& other) {
  const cases::Case& a = first.configuration;
  const cases::Case& b = other.configuration;
  const cases::Field* differs = cases::difference_in(
      a, b,
      {cases::Part::kNetwork, &cases::Case::engine, &cases::Case::device, &cases::Case::accumulate,
       &cases::Case::optimizer, &cases::Case::link, &cases::Case::replay, &cases::Case::stretch});
  if (differs != nullptr) {
    const auto text = [&](const cases::Case& c) {
      const std::string value = cases::read_key(*differs, c);
      return value.empty() ? "none" : value;
    };
    throw UsageError(
        fmt::format("--measured: records of {} {} and of {} do not tell of one job: only ranks, "
                    "batch and strategy may differ",
                    differs->name, text(a), text(b)));
  }
}

/// Returns the samples of all ranks in each step, if a log of another program states them; else an
/// empty list.
std::vector<std::int64_t> samples_per_step_of(const RunRecord& record) {
  std::vector<std::int64_t> samples;
  for (const records::RankSamples& rank : record.ranks) {
    samples.resize(std::max(samples.size(), rank.examples_of_step.size()));
    for (std::size_t k = 0; k < rank.examples_of_step.size(); ++k) {
      samples[k] += rank.examples_of_step[k];
    }
  }
  return samples;
}

bool differ(const std::vector<std::int64_t>& numbers) {
  return std::ranges::adjacent_find(numbers, std::not_equal_to<>()) != numbers.end();
}

/// Returns why a record cannot be used; empty if it can.
std::string unusable_reason(const RunRecord& record) {
  if (record.error) {
    return "it failed";
  }
  if (records::lacks_exchange(record.warnings)) {
    return "its steps lack an exchange of its strategy";
  }
  if (!record.valid()) {
    return "its engine was slower than the link that it should have been "
           "behind";
  }
  if (!record.configuration.states("ranks")) {
    return "it does not say the number of its ranks; give --measured \"ranks=N file=FILE\"";
  }
  const auto has_no_step = [](const records::RankSamples& rank) { return rank.step_ns.empty(); };
  if (std::ranges::all_of(record.ranks, has_no_step)) {
    return "it has no samples";
  }
  if (!has_plan(record.configuration) && differ(samples_per_step_of(record))) {
    return "its steps have different numbers of samples";
  }
  const bool timed = std::ranges::all_of(record.ranks, [](const records::RankSamples& rank) {
    return std::ranges::find(rank.step_ns, 0) == rank.step_ns.end();
  });
  return timed ? "" : "a step took no time";
}

/// The runs of one case.  Times are medians of each run, in seconds.
struct RunsOfCase {
  MeasuredFigure figure;
  std::vector<double> steps{}, compute_only{}, forward{}, backward{};  // seconds, one value per run
  double spread_of_one = 0;  // relative standard error of the first run's median
};

double phase_of(const RunRecord& record, const char* phase) {
  const auto& phases = record.ranks.front().phase_ns;
  const auto found = phases.find(phase);
  if (found == phases.end() || found->second.empty()) {
    return 0;
  }
  const std::vector<double> ns(found->second.begin(), found->second.end());
  return stats::median(ns) * 1e-9;
}

/// Returns the standard error of the median of the steps, as a share of the median.
double relative_error_of_median(const std::vector<double>& steps) {
  constexpr double kMedianErrorFactor = 1.2533;  // sqrt(pi / 2), for normal samples
  return steps.size() < 2
             ? 0
             : kMedianErrorFactor * stats::standard_error(steps) / stats::median(steps);
}

MeasuredFigure figure_of(const RunRecord& record) {
  const cases::Case& c = record.configuration;
  MeasuredFigure figure;
  figure.ranks = c.ranks;
  figure.batch_size = c.states("batch_size") ? c.batch_size : 0;
  figure.accumulate = c.states("accumulate") ? c.accumulate : 0;
  if (c.states("ranks_per_host")) {
    figure.ranks_per_host = c.ranks_per_host;
  }
  if (has_plan(c)) {
    figure.strategy = c.strategy;
    figure.bucket_mb = c.bucket_mb;
    figure.planned_by = record.planned_by;
  } else if (const auto samples = samples_per_step_of(record); !samples.empty()) {
    figure.samples_per_step = samples.front();
    if (figure.batch_size == 0 && samples.front() % c.ranks == 0) {
      figure.batch_size = static_cast<int>(samples.front() / c.ranks);
    }
  }
  figure.words =
      fmt::format("{}, {}{}", counted(c.ranks, "rank"),
                  figure.strategy.empty() ? "a program of its own" : figure.strategy,
                  figure.batch_size > 0 ? fmt::format(", batch {}", figure.batch_size) : "");
  return figure;
}

void add_run(const RunRecord& record, RunsOfCase& runs) {
  const std::vector<double> steps = records::slowest_step_s(record);
  if (runs.steps.empty()) {
    runs.spread_of_one = relative_error_of_median(steps);
  }
  runs.steps.push_back(stats::median(steps));
  const auto alone = records::slowest_compute_only_step_s(record);
  if (!alone.empty()) {
    runs.compute_only.push_back(stats::median(alone));
  }
  runs.forward.push_back(phase_of(record, "forward"));
  runs.backward.push_back(phase_of(record, "backward"));
}

MeasuredFigure summed_up(RunsOfCase runs) {
  MeasuredFigure figure = std::move(runs.figure);
  figure.step_s = stats::median(runs.steps);
  constexpr double kLeastSpread = 0.001;
  figure.spread =
      std::max(kLeastSpread,
               runs.steps.size() > 1 ? relative_error_of_median(runs.steps) : runs.spread_of_one);
  if (!runs.compute_only.empty()) {
    figure.compute_only_s = stats::median(runs.compute_only);
  }
  return figure;
}

/// Returns the phases of one rank: of the runs with strategy none if there are any, else of all
/// runs of one rank.
std::optional<SingleRankPhases> single_rank_phases_of(const std::vector<RunsOfCase>& cases) {
  const auto is_bare = [](const RunsOfCase& it) {
    return it.figure.ranks == 1 && it.figure.strategy == "none";
  };
  const bool bare = std::ranges::any_of(cases, is_bare);
  std::vector<double> steps, forward, backward;
  for (const RunsOfCase& it : cases) {
    if (bare ? is_bare(it) : it.figure.ranks == 1) {
      steps.push_back(stats::median(it.steps));
      forward.push_back(stats::median(it.forward));
      backward.push_back(stats::median(it.backward));
    }
  }
  if (steps.empty()) {
    return std::nullopt;
  }
  const SingleRankPhases alone{.step = stats::median(steps),
                               .forward = stats::median(forward),
                               .backward = stats::median(backward)};
  return alone.forward > 0 && alone.backward > 0 ? std::optional(alone) : std::nullopt;
}

void warn_of_left_out_record(const RunRecord& record, const std::string& why,
                             MeasuredRecords& out) {
  const cases::Case& c = record.configuration;
  out.warnings.push_back(
      {.code = "left-out",
       .seen = fmt::format(
           "the record of '{}'{} is left out", c.states("strategy") ? c.strategy : c.label,
           c.states("ranks") ? fmt::format(" on {}", counted(c.ranks, "rank")) : ""),
       .why = why,
       .advice = {}});
}

}  // namespace

MeasuredRecords measured_figures_of(std::span<const RunRecord> records) {
  MeasuredRecords out;
  const RunRecord* first = nullptr;
  std::vector<RunsOfCase> cases;
  for (const RunRecord& record : records) {
    if (const std::string why = unusable_reason(record); !why.empty()) {
      warn_of_left_out_record(record, why, out);
      continue;
    }
    if (states_training_job(record)) {
      first = first == nullptr ? &record : first;
      check_one_job(*first, record);
    }
    MeasuredFigure figure = figure_of(record);
    auto found = std::ranges::find_if(cases, [&](const RunsOfCase& it) {
      return it.figure.words == figure.words && it.figure.ranks_per_host == figure.ranks_per_host;
    });
    if (found == cases.end()) {
      found = cases.insert(cases.end(), RunsOfCase{.figure = std::move(figure)});
    }
    add_run(record, *found);
  }
  if (cases.empty()) {
    throw UsageError(fmt::format(
        "--measured: no record tells of a step{}",
        out.warnings.empty()
            ? ""
            : fmt::format("; {}: {}", out.warnings.front().seen, out.warnings.front().why)));
  }
  if (first != nullptr) {
    out.job = first->configuration;
  }
  out.alone = single_rank_phases_of(cases);
  std::ranges::stable_sort(cases, {}, [](const RunsOfCase& it) { return it.figure.ranks; });
  for (RunsOfCase& it : cases) {
    out.figures.push_back(summed_up(std::move(it)));
  }
  return out;
}

void set_layer_times(const MeasuredRecords& measured, PredictRequest& job) {
  for (const MeasuredFigure& figure : measured.figures) {
    const auto& by = figure.planned_by;
    if (!job.profile && by && !by->forward_ps.empty()) {
      job.profile = plan::LayerProfile{
          .origin = by->profile_origin, .forward = by->forward_ps, .backward = by->backward_ps};
      plan::check_profile(job.network.model, *job.profile);
    }
  }
  if (!measured.alone) {
    return;
  }
  if (!job.profile) {
    job.profile = roofline_profile(
        job.network, batch_size_of(job),
        roofline_of(job.cluster.device, job.cost_table().roofline, job.network.model.dtype));
  }
  const SingleRankPhases& alone = *measured.alone;
  job.profile = profile_scaled_to(*std::move(job.profile), plan::picoseconds_of(alone.forward),
                                  plan::picoseconds_of(alone.backward));
  const double rest = alone.step - alone.forward - alone.backward;
  if (rest > 0) {
    job.update = plan::picoseconds_of(rest);
  }
}

}  // namespace paceline::predict
