// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/measured_cases.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/records/samples.h"
#include "paceline/stats/bootstrap.h"
#include "paceline/stats/interval.h"
#include "paceline/stats/quantile.h"
#include "paceline/strategies/strategy.h"

namespace paceline::predict {
namespace {

/// What must be equal in all records, by name.
std::vector<std::pair<std::string, std::string>> traits_of(
    const records::RunRecord& record) {
  const records::Configuration& c = record.configuration;
  const auto source = static_cast<int>(record.source);
  constexpr const char* kSources[] = {
      "measured", "replayed", "predicted", "imported", "external"};
  return {{"source", kSources[source]},
          {"model", c.model},
          {"batch_size", fmt::to_string(c.batch_size)},
          {"image_size", fmt::to_string(c.image_size)},
          {"classes", fmt::to_string(c.classes)},
          {"sequence_length", fmt::to_string(c.sequence_length)},
          {"engine", c.engine},
          {"device", c.device},
          {"dtype", c.dtype},
          {"channels_last", fmt::to_string(c.channels_last)},
          {"accumulate", fmt::to_string(c.accumulate)},
          {"optimizer", c.optimizer},
          {"link", c.link.empty() ? "none" : c.link},
          {"replay", c.replay.empty() ? "none" : c.replay},
          {"stretch", fmt::to_string(c.stretch)}};
}

void check_alike(const records::RunRecord& first,
                 const records::RunRecord& other) {
  const auto expected = traits_of(first), found = traits_of(other);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] != found[i]) {
      throw UsageError(fmt::format(
          "records of {} {} and of {} do not tell of one job: only ranks and "
          "strategy may differ",
          expected[i].first,
          expected[i].second,
          found[i].second));
    }
  }
}

/// Why a record says nothing, or empty.
std::string useless(const records::RunRecord& record) {
  if (record.error) {
    return "it failed";
  }
  if (strategies::strategy_of(record.configuration).external()) {
    return "no plan stands for what it ran";
  }
  if (records::lacks_exchange(record.warnings)) {
    return "its steps lack an exchange of its strategy";
  }
  if (!record.valid()) {
    return "its engine was slower than the link that it should have been "
           "behind";
  }
  if (std::ranges::all_of(record.ranks, [](const records::RankSamples& rank) {
        return rank.step_ns.empty();
      })) {
    return "it has no samples";
  }
  const bool timed =
      std::ranges::all_of(record.ranks, [](const records::RankSamples& rank) {
        return std::ranges::find(rank.step_ns, 0) == rank.step_ns.end();
      });
  return timed ? "" : "a step took no time";
}

MeasuredRun run_of(const records::RunRecord& record) {
  MeasuredRun run{.steps = records::slowest_step_s(record),
                  .compute_only = records::slowest_compute_only_step_s(record)};
  const auto median_of = [&](const char* phase) {
    const auto found = record.ranks.front().phase_ns.find(phase);
    if (found == record.ranks.front().phase_ns.end() || found->second.empty()) {
      return 0.0;
    }
    const std::vector<double> ns(found->second.begin(), found->second.end());
    return stats::median(ns) * 1e-9;
  };
  run.forward = median_of("forward");
  run.backward = median_of("backward");
  return run;
}

double median_of_runs(const std::vector<MeasuredRun>& runs,
                      std::vector<double> MeasuredRun::*series) {
  std::vector<double> medians;
  for (const MeasuredRun& run : runs) {
    if (!(run.*series).empty()) {
      medians.push_back(stats::median(run.*series));
    }
  }
  return medians.empty() ? 0 : stats::median(medians);
}

std::vector<double> drawn_blocks(const std::vector<double>& series,
                                 Random& random) {
  if (series.empty()) {
    return {};
  }
  std::vector<std::size_t> indices;
  stats::resample_blocks(
      series.size(), stats::block_length(series), random, indices);
  std::vector<double> drawn;
  for (const std::size_t index : indices) {
    drawn.push_back(series[index]);
  }
  return drawn;
}

}  // namespace

double MeasuredCase::step() const {
  return median_of_runs(runs, &MeasuredRun::steps);
}

double MeasuredCase::compute_only() const {
  return median_of_runs(runs, &MeasuredRun::compute_only);
}

MeasuredCase MeasuredCase::drawn(Random& random) const {
  MeasuredCase drawn = *this;
  if (runs.size() >= stats::kFewestRuns) {
    for (MeasuredRun& run : drawn.runs) {
      run = runs[random.below(runs.size())];
    }
    return drawn;
  }
  for (MeasuredRun& run : drawn.runs) {
    run.steps = drawn_blocks(run.steps, random);
    run.compute_only = drawn_blocks(run.compute_only, random);
  }
  return drawn;
}

MeasuredJob measured_job_of(std::span<const records::RunRecord> records) {
  MeasuredJob job;
  const records::RunRecord* first = nullptr;
  for (const records::RunRecord& record : records) {
    const records::Configuration& configuration = record.configuration;
    if (const std::string why = useless(record); !why.empty()) {
      job.warnings.push_back(
          {.code = "left-out",
           .seen = fmt::format("the record of '{}' on {} ranks is left out",
                               configuration.strategy,
                               configuration.ranks),
           .why = why,
           .advice = {}});
      continue;
    }
    first = first == nullptr ? &record : first;
    check_alike(*first, record);
    auto& cases = configuration.ranks == 1 ? job.one_rank : job.several_ranks;
    auto found = std::ranges::find_if(cases, [&](const MeasuredCase& it) {
      return it.configuration.key() == configuration.key();
    });
    if (found == cases.end()) {
      found = cases.insert(cases.end(), {configuration, {}, record.planned_by});
    }
    found->runs.push_back(run_of(record));
  }
  if (job.one_rank.empty()) {
    throw UsageError(
        "no record of one rank: what a step costs without communication is "
        "not known; run the same command with --ranks 1 too");
  }
  if (job.several_ranks.empty()) {
    throw UsageError(
        "no record of more than one rank: nothing is known of the link; run "
        "the same command with --ranks 2 and --ranks 4 too");
  }
  std::ranges::stable_sort(job.several_ranks, {}, [](const MeasuredCase& it) {
    return it.configuration.ranks;
  });
  return job;
}

}  // namespace paceline::predict
