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

/// Cases of equal key, origin and experiment, by what that is taken to be.
template <class ExperimentOf>
std::vector<Case> grouped(std::span<const RunRecord> records, ExperimentOf experiment_of) {
  std::vector<Case> cases;
  std::map<std::tuple<records::Source, std::string, std::string>, std::size_t> places;
  for (const RunRecord& record : records) {
    if (record.configuration.discard) {
      continue;
    }
    const auto [place, is_new] = places.try_emplace(
        {record.source, experiment_of(record), record.configuration.key()}, cases.size());
    if (is_new) {
      cases.emplace_back();
    }
    cases[place->second].runs.push_back(&record);
  }
  return cases;
}

}  // namespace

bool has_steps(const RunRecord& run) {
  return std::ranges::any_of(run.ranks,
                             [](const RankSamples& rank) { return !rank.step_ns.empty(); });
}

std::vector<const RunRecord*> Case::measured() const {
  std::vector<const RunRecord*> good;
  for (const RunRecord* run : runs) {
    if (!run->error && has_steps(*run)) {
      good.push_back(run);
    }
  }
  return good;
}

records::Configuration said_configuration(const Case& one) {
  records::Configuration c = one.configuration();
  const auto& adapter = one.first().adapter;
  if (c.command.empty()) {
    return c;
  }
  const auto dtype = adapter.find("dtype");
  if (!c.states("dtype") && dtype != adapter.end()) {
    c.dtype = dtype->second;
    c.unstated.erase("dtype");
  }
  const auto device = adapter.find("device");
  if (device != adapter.end()) {
    c.device = device->second;
    c.unstated.erase("device");
  }
  return c;
}

std::vector<Case> group_cases(std::span<const RunRecord> records) {
  return grouped(records, [](const RunRecord& record) { return record.experiment; });
}

std::vector<Case> group_across_experiments(std::span<const RunRecord> records) {
  return grouped(records, [](const RunRecord&) { return std::string(); });
}

std::vector<CaseGroup> group_tables(std::span<const RunRecord> records) {
  std::vector<CaseGroup> groups;
  for (const Case& one : group_cases(records)) {
    add_to_table(groups, one.configuration(), one);
  }
  return groups;
}

std::optional<strategies::StrategySpec> known_strategy(const records::Configuration& c) {
  try {
    return strategies::strategy_of(c);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

std::string ranks_text(const records::Configuration& c) {
  return c.states("ranks") ? fmt::to_string(c.ranks) : "-";
}

std::string model_and_batch(const std::string& model, int batch_size) {
  return fmt::format("{}, batch {} per rank", model.empty() ? "-" : model,
                     batch_size == 0 ? "-" : fmt::to_string(batch_size));
}

std::string foreign_log(std::span<const records::RunRecord> records,
                        const std::function<std::string(const records::RunRecord&)>& block) {
  std::string text, before;
  for (const RunRecord& run : records) {
    const records::Configuration& c = run.configuration;
    const std::string head =
        fmt::format("# {} on {}{}{}", c.states("strategy") ? c.strategy : c.label,
                    counted(c.ranks, "rank"), c.seed == 0 ? "" : fmt::format(", seed {}", c.seed),
                    run.source == records::Source::kPredicted ? ", predicted, not measured" : "");
    if (c.discard) {
      continue;
    }
    if (run.error || !has_steps(run)) {
      text += fmt::format("{} failed: {}\n", head, run.error.value_or("no rank left samples"));
    } else if (!c.states("batch_size") || !c.states("ranks")) {
      text += fmt::format("{}: its source does not say how many samples a step has\n", head);
    } else if (c.has_tables()) {
      text += fmt::format("{}: the samples of a step vary; --format trainers counts them\n", head);
    } else {
      text += (head == before ? "" : head + "\n") + comments_on(run) + block(run);
    }
    before = head;
  }
  return text;
}

}  // namespace paceline::report
