// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/cases.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/cluster/link_spec.h"

namespace paceline::report {
namespace {

using records::RankSamples;
using records::RunRecord;

/// Groups records of equal key, source and experiment; `experiment_of` gives a record's experiment.
template <class ExperimentOf>
std::vector<CaseRecords> group_records(std::span<const RunRecord> records,
                                       ExperimentOf experiment_of) {
  std::vector<CaseRecords> cases;
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

std::vector<const RunRecord*> CaseRecords::measured() const {
  std::vector<const RunRecord*> good;
  for (const RunRecord* run : runs) {
    if (!run->error && has_steps(*run)) {
      good.push_back(run);
    }
  }
  return good;
}

cases::Case reported_configuration(const CaseRecords& one) {
  cases::Case c = one.configuration();
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

std::vector<CaseRecords> group_cases(std::span<const RunRecord> records) {
  return group_records(records, [](const RunRecord& record) { return record.experiment; });
}

std::vector<CaseRecords> group_across_experiments(std::span<const RunRecord> records) {
  return group_records(records, [](const RunRecord&) { return std::string(); });
}

std::vector<CaseGroup> group_tables(std::span<const RunRecord> records) {
  std::vector<CaseGroup> groups;
  for (const CaseRecords& one : group_cases(records)) {
    add_to_table(groups, one.configuration(), one);
  }
  return groups;
}

std::optional<strategies::StrategySpec> known_strategy(const cases::Case& c) {
  try {
    return strategies::strategy_of(c);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

std::optional<double> link_bytes_per_s(const cases::Case& c) {
  try {
    return c.link.empty() ? std::nullopt
                          : std::optional(cluster::parse_link("link", c.link).bytes_per_s);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

std::string table_job_text(const cases::Case& c) {
  const cases::Case usual;
  std::string text =
      fmt::format("{}, {}, {} of {} in each table, {}", counted(c.trainers, "trainer"),
                  c.servers > 0 ? counted(c.servers, "server") : "which hold the tables",
                  counted(c.embeddings, "row"), c.embedding_dim, c.engine);
  const auto add = [&text](const char* what, const auto& value, const auto& default_value) {
    text += value == default_value ? "" : fmt::format(", {} {}", what, value);
  };
  add("placement", c.placement, usual.placement);
  add("pooling", c.pooling, usual.pooling);
  add("row optimizer", c.row_optimizer, usual.row_optimizer);
  add("row dtype", c.row_dtype, usual.row_dtype);
  add("zipf", c.zipf, usual.zipf);
  add("staleness", c.staleness, usual.staleness);
  return text + (c.as_original ? ", as the original" : "");
}

std::string model_and_batch(const std::string& model, int batch_size) {
  return fmt::format("{}, batch {} per rank", model.empty() ? "-" : model,
                     batch_size == 0 ? "-" : fmt::to_string(batch_size));
}

}  // namespace paceline::report
