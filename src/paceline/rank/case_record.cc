// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/case_record.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/clock.h"
#include "paceline/rank/external.h"
#include "paceline/rank/link_check.h"
#include "paceline/rank/trace.h"
#include "paceline/records/json.h"

namespace paceline::rank {
namespace {

using std::chrono::milliseconds;

// The key of the parameter digest in what an adapter reports.  The digest is equal on all ranks.
constexpr const char* kDigestKey = "parameters_digest";
constexpr const char* kPartialEnvironmentKey = "so_far/environment";
constexpr const char* kEqualParameters = "ranks_hold_equal_parameters";

void merge(const records::RunRecord& part, records::RunRecord& whole) {
  whole.ranks.insert(whole.ranks.end(), part.ranks.begin(), part.ranks.end());
  if (part.error) {  // equal on all ranks
    whole.error = part.error;
    whole.status = part.status;
  }
  const auto digest = part.adapter.find(kDigestKey);
  const auto first = whole.adapter.find(kDigestKey);
  if (digest != part.adapter.end() && first != whole.adapter.end()) {
    const auto held = whole.verified.emplace(kEqualParameters, true).first;
    held->second = held->second && digest->second == first->second;
  }
  whole.adapter.insert(part.adapter.begin(), part.adapter.end());
  if (!whole.wire.measured_per_step ||
      part.wire.measured_per_step.value_or(0) > *whole.wire.measured_per_step) {
    whole.wire = part.wire;
  }
  if (part.planned_by) {  // equal on all ranks
    whole.planned_by = part.planned_by;
  }
  if (part.consensus_distance) {  // equal on all ranks
    whole.consensus_distance = part.consensus_distance;
  }
  if (part.coding) {
    records::CodingCost& most = whole.coding.emplace(whole.coding.value_or(records::CodingCost{}));
    most.ns_per_step = std::max(most.ns_per_step, part.coding->ns_per_step);
    most.plain_bytes_per_step =
        std::max(most.plain_bytes_per_step, part.coding->plain_bytes_per_step);
  }
  for (const auto& [check, held] : part.verified) {
    const auto [entry, fresh] = whole.verified.emplace(check, held);
    entry->second = entry->second && held;
  }
  whole.warnings.insert(whole.warnings.end(), part.warnings.begin(), part.warnings.end());
}

std::string partial_samples_key(int rank) { return fmt::format("so_far/{}", rank); }

void cut_to_steps(records::RankSamples& samples, std::size_t steps) {
  samples.step_ns.resize(steps);
  for (auto& [phase, times] : samples.phase_ns) {
    times.resize(std::min(times.size(), steps));
  }
  samples.examples_of_step.resize(std::min(samples.examples_of_step.size(), steps));
  samples.window_ns =
      std::accumulate(samples.step_ns.begin(), samples.step_ns.end(), std::int64_t{0});
}

}  // namespace

void post_partial_samples(launch::KeyValueStore& store, records::RankSamples samples) {
  if (samples.step_ns.empty()) {
    return;
  }
  records::RunRecord part;
  const std::string key = partial_samples_key(samples.rank);
  part.ranks = {std::move(samples)};
  store.set(key, records::to_line(part));
}

void post_environment(launch::KeyValueStore& store, const records::Environment& environment) {
  records::RunRecord part;
  part.environment = environment;
  store.set(kPartialEnvironmentKey, records::to_line(part));
}

PartialSamples gather_partial_samples(launch::KeyValueStore& store, int ranks) {
  PartialSamples so_far;
  if (const auto line = store.get(kPartialEnvironmentKey)) {
    so_far.environment = records::from_line(*line).environment;
  }
  std::vector<records::RankSamples>& all = so_far.ranks;
  for (int rank = 0; rank < ranks; ++rank) {
    if (const auto line = store.get(partial_samples_key(rank))) {
      all.push_back(records::from_line(*line).ranks.front());
    }
  }
  std::size_t steps = std::numeric_limits<std::size_t>::max();
  for (const records::RankSamples& samples : all) {
    steps = std::min(steps, samples.step_ns.size());
  }
  for (records::RankSamples& samples : all) {
    cut_to_steps(samples, steps);
  }
  return so_far;
}

namespace {

constexpr const char* kCompleted = "completed";

std::string finished_key(int run, std::size_t index) {
  return fmt::format("session/{}/finished/{}", run, index);
}

}  // namespace

void post_finished_record(launch::KeyValueStore& store, int run, std::size_t index,
                          const std::string& line) {
  store.set(finished_key(run, index), line);
}

std::optional<std::string> finished_record_line(launch::KeyValueStore& store, int run,
                                                std::size_t index) {
  return store.get(finished_key(run, index));
}

void post_completed_cases(launch::KeyValueStore& store, const CompletedCases& completed) {
  store.set(kCompleted, nlohmann::json(completed).dump());
}

CompletedCases completed_cases(launch::KeyValueStore& store) {
  return nlohmann::json::parse(store.get(kCompleted).value()).get<CompletedCases>();
}

records::Source source_of(const cases::Case& configuration) {
  return is_external(configuration)      ? records::Source::kExternal
         : !configuration.replay.empty() ? records::Source::kReplayed
                                         : records::Source::kMeasured;
}

records::RunRecord failed_record(const std::string& experiment, const cases::Case& configuration,
                                 int run, const std::string& why, PartialSamples so_far) {
  records::RunRecord failed;
  failed.source = source_of(configuration);
  failed.experiment = experiment;
  failed.started_at = utc_now();
  failed.run = run;
  failed.configuration = configuration;
  failed.error = why;
  failed.environment = std::move(so_far.environment);
  failed.ranks = std::move(so_far.ranks);
  return failed;
}

void post_part(launch::PrefixStore& store, int rank, const records::RunRecord& part) {
  store.set(fmt::format("result/{}", rank), records::to_line(part));
}

void post_result(launch::PrefixStore& store, int rank, const RankResult& result, bool one_clock) {
  auto part = static_cast<const records::RunRecord&>(result);
  part.ranks = {result.samples};
  post_part(store, rank, part);
  store.set(fmt::format("spans/{}", rank), to_text(result.spans));
  store.set(fmt::format("link/{}", rank),
            to_text(result.linked, one_clock ? 0 : result.started_ns));
}

records::LinkCheck gather_link_check(launch::PrefixStore& store, const records::RunRecord& whole) {
  std::vector<std::vector<engines::LinkedOperation>> by_rank;
  for (int rank = 0; rank < whole.configuration.ranks; ++rank) {
    by_rank.push_back(linked_operations_from(store.wait(fmt::format("link/{}", rank))));
  }
  records::LinkCheck check = check_link(by_rank, whole.configuration.stretch);
  std::int64_t window_ns = 0;
  for (const records::RankSamples& rank : whole.ranks) {
    window_ns = std::max(window_ns, rank.window_ns + rank.flush_ns.value_or(0));
  }
  check.window_ns = window_ns;
  return check;
}

records::RunRecord gather_results(launch::PrefixStore& store, int ranks) {
  records::RunRecord whole;
  double loss = 0;
  int trained = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const records::RunRecord part = records::from_line(store.wait(fmt::format("result/{}", rank)));
    merge(part, whole);
    if (part.training) {
      loss += part.training->last_loss;
      ++trained;
    }
  }
  if (trained > 0) {
    whole.training = {.last_loss = loss / trained};
  }
  if (whole.error) {
    whole.ranks.clear();
  }
  return whole;
}

std::vector<records::Span> gather_spans(launch::PrefixStore& store, int ranks,
                                        std::int64_t shift_ns) {
  std::vector<records::Span> spans;
  for (int rank = 0; rank < ranks; ++rank) {
    for (records::Span& span : spans_from(store.wait(fmt::format("spans/{}", rank)))) {
      span.start_ns += shift_ns;
      spans.push_back(std::move(span));
    }
  }
  return spans;
}

}  // namespace paceline::rank
