// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paceline/base/text.h"
#include "paceline/records/json.h"
#include "paceline/records/samples.h"
#include "paceline/report/equal_training.h"
#include "paceline/report/summary_json.h"

namespace paceline::report {
namespace {

using records::RunRecord;

std::int64_t window_ns(const RunRecord& run) {
  std::int64_t longest = 0;
  for (const records::RankSamples& rank : run.ranks) {
    longest = std::max(longest, rank.window_ns);
  }
  return longest;
}

// Returns the time of each step on its slowest rank.
std::vector<std::int64_t> slowest_step_ns(const RunRecord& run) {
  std::vector<std::int64_t> steps;
  for (const double seconds : records::slowest_step_s(run)) {
    steps.push_back(std::llround(seconds * 1e9));
  }
  return steps;
}

// Returns the examples per second of all ranks: the examples of the measured steps divided by the
// wall time of these steps on the slowest rank, or the rate that another program printed. Returns
// nothing if the run failed or has no steps, or if the number of examples is not stated or varies,
// as with embedding tables.
std::optional<double> examples_per_s_of(const RunRecord& run) {
  if (const std::string printed = records::fact_of(run.adapter, "reported_samples_per_s");
      !printed.empty()) {
    double value = 0;
    std::from_chars(printed.data(), printed.data() + printed.size(), value);
    return value > 0 ? std::optional(value) : std::nullopt;
  }
  std::size_t steps = 0;
  for (const records::RankSamples& rank : run.ranks) {
    steps = std::max(steps, rank.step_ns.size());
  }
  const cases::Case& c = run.configuration;
  const std::int64_t window = window_ns(run);
  if (run.error || steps == 0 || window == 0 || c.has_tables() || !c.states("batch_size") ||
      !c.states("ranks")) {
    return std::nullopt;
  }
  return static_cast<double>(steps) * c.batch_size * c.ranks * 1e9 / static_cast<double>(window);
}

}  // namespace

Json runs_json(std::span<const RunRecord> records) {
  const auto reasons = not_comparable(records);
  std::vector<records::Environment> environments;
  Json out{{"runs", Json::array()}, {"environments", Json::array()}};
  for (const RunRecord& run : records) {
    if (add_once(environments, run.environment)) {
      out["environments"].push_back(records::to_json(run.environment));
    }
    const auto place = std::ranges::find(environments, run.environment) - environments.begin();
    const auto reason = reasons.find(&run);
    out["runs"].push_back(
        {{"source", records::name_of(run.source)},
         {"experiment", run.experiment},
         {"started_at", run.started_at},
         {"run", run.run},
         {"configuration", records::to_json(run.configuration)},
         {"environment", place},
         {"step_ns", slowest_step_ns(run)},
         {"window_s", static_cast<double>(window_ns(run)) * 1e-9},
         {"samples_per_s", or_null(examples_per_s_of(run))},
         {"not_comparable", reason == reasons.end() ? Json() : Json(reason->second)},
         {"verified", run.verified},
         {"warnings", records::to_json(run.warnings)},
         {"error", or_null(run.error)},
         {"not_run", run.not_run()},
         {"adapter", run.adapter}});
  }
  return out;
}

}  // namespace paceline::report
