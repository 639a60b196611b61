// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/cases.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/report/summary.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

using records::RankSamples;
using records::RunRecord;

/// What is to be said against a run's figures, one comment a line.
std::string comments_on(const RunRecord& run) {
  std::vector<records::Warning> warnings = run.warnings;
  if (run.link_check && !run.link_check->valid()) {
    warnings.push_back(slower_than_link(*run.link_check));
  }
  std::string text;
  for (const records::Warning& one : warnings) {
    text += printable(fmt::format("# {}: {}: {}", one.code, one.seen, one.why));
    text += '\n';
  }
  return text;
}

}  // namespace

std::vector<const RunRecord*> Case::measured() const {
  std::vector<const RunRecord*> good;
  for (const RunRecord* run : runs) {
    const bool has_steps = std::any_of(
        run->ranks.begin(), run->ranks.end(), [](const RankSamples& rank) {
          return !rank.step_ns.empty();
        });
    if (!run->error && has_steps) {
      good.push_back(run);
    }
  }
  return good;
}

std::vector<Case> group_cases(std::span<const RunRecord> records) {
  std::vector<Case> cases;
  std::map<std::tuple<records::Source, std::string, std::string>, std::size_t>
      places;
  for (const RunRecord& record : records) {
    if (record.configuration.discard) {
      continue;
    }
    const auto [place, is_new] = places.try_emplace(
        {record.source, record.experiment, record.configuration.key()},
        cases.size());
    if (is_new) {
      cases.emplace_back();
    }
    cases[place->second].runs.push_back(&record);
  }
  return cases;
}

std::vector<CaseGroup> group_tables(std::span<const RunRecord> records) {
  std::vector<CaseGroup> groups;
  for (Case& one : group_cases(records)) {
    const std::string& model = one.configuration().model;
    const int batch_size = one.configuration().batch_size;
    auto group = std::find_if(
        groups.begin(), groups.end(), [&](const CaseGroup& candidate) {
          return candidate.model == model && candidate.batch_size == batch_size;
        });
    if (group == groups.end()) {
      group = groups.insert(group, {model, batch_size, {}});
    }
    group->cases.push_back(std::move(one));
  }
  return groups;
}

std::optional<strategies::StrategySpec> known_strategy(
    const records::Configuration& c) {
  try {
    return strategies::parse_strategy(c.strategy, {.bucket_mb = c.bucket_mb});
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

std::string foreign_log(
    std::span<const records::RunRecord> records,
    const std::function<std::string(const records::RunRecord&)>& block) {
  std::string text, before;
  for (const RunRecord& run : records) {
    const records::Configuration& c = run.configuration;
    const std::string head = fmt::format(
        "# {} on {}{}{}",
        c.strategy,
        counted(c.ranks, "rank"),
        c.seed == 0 ? "" : fmt::format(", seed {}", c.seed),
        run.source == records::Source::kPredicted ? ", predicted, not measured"
                                                  : "");
    const bool empty = std::ranges::all_of(
        run.ranks, [](const auto& rank) { return rank.step_ns.empty(); });
    if (c.discard) {
      continue;
    }
    if (run.error || empty) {
      text += fmt::format(
          "{} failed: {}\n", head, run.error.value_or("no rank left samples"));
    } else if (c.has_tables()) {
      text += fmt::format(
          "{}: the samples of a step vary; --format trainers counts them\n",
          head);
    } else {
      text +=
          (head == before ? "" : head + "\n") + comments_on(run) + block(run);
    }
    before = head;
  }
  return text;
}

}  // namespace paceline::report
