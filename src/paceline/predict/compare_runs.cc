// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/compare_runs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/case/same.h"
#include "paceline/predict/case_request.h"
#include "paceline/predict/kernel_costs.h"
#include "paceline/predict/predict.h"
#include "paceline/predict/request_profile.h"
#include "paceline/records/samples.h"
#include "paceline/stats/mean.h"
#include "paceline/stats/quantile.h"
#include "paceline/strategies/strategy.h"

namespace paceline::predict {
namespace {

using records::RunRecord;

/// One case with the steps of all its repetitions, in seconds.
struct MeasuredCase {
  cases::Case configuration;
  std::vector<double> steps, compute_only;
  std::vector<double> examples;           // of each step, if the numbers differ between steps
  std::vector<double> coding;             // s per step, one entry per repetition
  std::int64_t operations = 0, late = 0;  // late: slower than the link
  // Whether the steps have no transfers and no coding, so that they are the compute time.
  bool computes_only = false;
  // Whether the engine was as fast as the link, records::LinkCheck::valid().
  bool link_kept_up = true;
};

bool emulates_links(const cases::Case& c) { return !c.replay.empty() && !c.link.empty(); }

/// Throws UsageError if predict() cannot simulate the case as it was run.
void check_predictable(const cases::Case& c, const PredictRequest& request) {
  if (!c.framework.empty() || strategies::strategy_of(c).external()) {
    throw UsageError(fmt::format("{} performs it, which has no plan",
                                 c.framework.empty() ? c.label : c.framework));
  }
  if (c.accumulate > 1) {
    throw UsageError(fmt::format("its step has {} micro-batches; one is predicted", c.accumulate));
  }
  if (c.replay.empty() && (c.dtype != "fp32" || c.image_size != 0 || c.classes != 0)) {
    throw UsageError("networks are predicted in fp32 with their own image size and classes");
  }
  if (c.link.empty() && !c.ranks_per_host.empty() &&
      c.ranks_per_host != cluster::ranks_per_host(request.cluster, c.ranks)) {
    throw UsageError("its ranks are not placed as the cluster's slots are, in their order");
  }
}

PredictRequest request_of_case(const cases::Case& c,
                               const std::optional<cluster::Cluster>& cluster) {
  PredictRequest request = request_of(c, cluster.value_or(cluster::Cluster{}));
  if (emulates_links(c)) {
    request.cluster = {};
    request.cluster.hosts = {{.name = "here", .slots = c.ranks}};
  }
  check_predictable(c, request);
  if (c.has_tables()) {
    request.batch_size = 0;
    set_tables(c, request);
  } else if (c.replay.empty()) {
    request.network = plan::network_shape(c.model, c.sequence_length);
  } else {
    set_profile(cluster::read_profile(c.replay), request);
  }
  return request;
}

/// Returns the measured time of a step: the median.  If steps of a period differ by their plans,
/// the mean over each run's whole periods, which is what is predicted.
double measured_s(const MeasuredCase& it, plan::Step period) {
  const auto steps = static_cast<plan::Step>(it.configuration.steps);
  if (period == 1 || steps < period) {
    return stats::median(it.steps);
  }
  std::vector<double> whole;
  for (std::size_t i = 0; i < it.steps.size(); ++i) {
    if (static_cast<plan::Step>(i) % steps < steps / period * period) {
      whole.push_back(it.steps[i]);
    }
  }
  return stats::mean(whole);
}

ComparedCase compared(const MeasuredCase& it, const std::optional<cluster::Cluster>& cluster) {
  ComparedCase row{.measured_s = stats::median(it.steps)};
  std::vector<std::string> notes;
  try {
    PredictRequest request = request_of_case(it.configuration, cluster);
    const std::vector<double>& compute =
        it.compute_only.empty() && it.computes_only ? it.steps : it.compute_only;
    if (!has_measured_times(request) && !compute.empty()) {
      const double samples =
          it.examples.empty() ? it.configuration.batch_size : stats::mean(it.examples);
      request.batch_size = static_cast<int>(std::lround(samples));
      request.samples_per_s = request.batch_size / stats::median(compute);
      notes.emplace_back("compute as measured without communication");
    }
    const double coding_s = it.coding.empty() ? 0 : stats::mean(it.coding);
    if (coding_s > 0 && !has_coding_times(request)) {
      request.coding_s = coding_s;
      notes.emplace_back("coding as measured");
    }
    const Prediction prediction = predict(request);
    row.predicted_s = plan::seconds_of(prediction.times.step);
    row.measured_s = measured_s(it, prediction.job->period);
  } catch (const UsageError& error) {
    row.note = fmt::format("not predicted: {}", error.what());
    return row;
  }
  row.valid = it.link_kept_up;
  if (!row.valid) {
    notes.push_back(fmt::format("INVALID: {} of {} operations were slower than the link", it.late,
                                it.operations));
  }
  row.note = fmt::format("{}", fmt::join(notes, "; "));
  return row;
}

bool has_network(const cases::Case& c, const std::optional<cluster::Cluster>& cluster) {
  return emulates_links(c) || (cluster && c.link.empty());
}

std::vector<MeasuredCase> cases_of(std::span<const RunRecord> records,
                                   const std::optional<cluster::Cluster>& cluster) {
  std::vector<MeasuredCase> cases;
  for (const RunRecord& record : records) {
    const std::vector<double> steps = records::slowest_step_s(record);
    const cases::Case& c = record.configuration;
    if (record.error || steps.empty() || !has_network(c, cluster)) {
      continue;
    }
    auto known = std::ranges::find_if(cases, [&c](const MeasuredCase& it) {
      return cases::equal_except(it.configuration, c, {});
    });
    if (known == cases.end()) {
      cases.emplace_back().configuration = c;
      known = std::prev(cases.end());
      known->computes_only = record.wire.measured_per_step == 0 && !record.coding;
    }
    const auto alone = records::slowest_compute_only_step_s(record);
    known->steps.insert(known->steps.end(), steps.begin(), steps.end());
    known->compute_only.insert(known->compute_only.end(), alone.begin(), alone.end());
    for (const records::RankSamples& rank : record.ranks) {
      known->examples.insert(known->examples.end(), rank.examples_of_step.begin(),
                             rank.examples_of_step.end());
    }
    if (record.coding) {
      known->coding.push_back(static_cast<double>(record.coding->ns_per_step) * 1e-9);
    }
    if (record.link_check) {
      known->operations += record.link_check->operations;
      known->late += record.link_check->late;
      known->link_kept_up &= record.link_check->valid();
    }
  }
  return cases;
}

std::string conclusion_text(const std::vector<ComparedCase>& cases) {
  double worst = 0;
  std::size_t valid = 0;
  for (const ComparedCase& it : cases) {
    if (it.valid) {
      worst = std::max(worst, std::abs(*it.predicted_s / it.measured_s - 1));
      ++valid;
    }
  }
  if (valid == 0) {
    return "no valid comparison";
  }
  return fmt::format("largest error {:.1f} %{}", worst * 100,
                     valid == cases.size() ? ""
                                           : fmt::format(" in the {} of {} rows that are valid",
                                                         valid, cases.size()));
}

/// Returns strategy and ranks, and also network and link if these differ among `cases`.
std::string name_of(const cases::Case& c, const std::vector<MeasuredCase>& cases) {
  std::string name = fmt::format("{}, {}", c.strategy, counted(c.ranks, "rank"));
  const auto add = [&](auto member, std::string_view word) {
    const bool differs = std::ranges::any_of(
        cases, [&](const MeasuredCase& it) { return it.configuration.*member != c.*member; });
    if (differs && !(c.*member).empty()) {
      name += fmt::format(", {}{}", word, c.*member);
    }
  };
  add(&cases::Case::model, "");
  add(&cases::Case::replay, "");
  add(&cases::Case::link, "link ");
  return name;
}

}  // namespace

std::optional<Comparison> compare_runs(std::span<const RunRecord> records,
                                       const std::optional<cluster::Cluster>& cluster) {
  const std::vector<MeasuredCase> cases = cases_of(records, cluster);
  if (cases.empty()) {
    return std::nullopt;
  }
  const bool emulated = emulates_links(cases.front().configuration);
  Comparison comparison{
      .network = emulated
                     ? "the emulated links alone, without the costs of an engine"
                     : fmt::format("cluster '{}', beside what was measured on it", cluster->name)};
  for (const MeasuredCase& it : cases) {
    comparison.cases.push_back(compared(it, cluster));
    comparison.cases.back().name = name_of(it.configuration, cases);
  }
  comparison.conclusion = conclusion_text(comparison.cases);
  return comparison;
}

}  // namespace paceline::predict
