// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "paceline/records/run_record.h"
#include "paceline/strategies/strategy.h"

namespace paceline::report {

/// Whether any rank of the run left step samples.
bool has_steps(const records::RunRecord& run);

/// All runs of one case: the records of equal `cases::Case::key()`, source and experiment.
/// Points into the records that the case was made from.
struct CaseRecords {
  std::vector<const records::RunRecord*> runs;  // at least one, in the order of the records

  const records::RunRecord& first() const { return *runs.front(); }
  const cases::Case& configuration() const { return first().configuration; }
  /// Returns the runs that succeeded and left samples.
  std::vector<const records::RunRecord*> measured() const;
};

/// Returns the case's configuration.  Values that the user did not give are those that the external
/// command reported.
cases::Case reported_configuration(const CaseRecords& one);

/// Returns the cases in the order in which they first appear, without discarded warm-up cases.
std::vector<CaseRecords> group_cases(std::span<const records::RunRecord> records);
/// Groups by key and source like group_cases(), but regardless of the experiment.
std::vector<CaseRecords> group_across_experiments(std::span<const records::RunRecord> records);

/// Returns the case's label (its strategy if it has no label), followed by its source if it was not
/// measured.
std::string plain_label(const CaseRecords& one);

/// Returns each case's strategy with only the options that matter: those that differ from the
/// defaults of their part ("ps:placement=apart"), and those in which strategies with the same part
/// differ from each other.
std::vector<std::string> short_strategies(const std::vector<const cases::Case*>& cases);

/// Returns the value of the first option called `name` in the text of a strategy:
/// option_of("fusion:bucket-mb=25", "bucket-mb") is "25".  Returns an empty text if no part has the
/// option.
std::string option_of(const std::string& strategy, std::string_view name);

/// Returns the strategy that `paceline run` understands by `text`: all parts, including the implied
/// ones, in canonical order, with only the options that `text` states.  "ps" gives "bsp+ps".
/// Returns `text` itself if it is no known strategy.
std::string with_implied_parts(std::string_view text);

/// Whether `name`, given by a table or a user, denotes `strategy`: it has all of its parts in the
/// same order, and any of their options ("fusion+ps:placement=apart").
bool matches_strategy(std::string_view name, const std::string& strategy);

/// Returns a name for each case: its label or short strategy.  Cases of the same plain_label() also
/// get parts of their key that distinguish them. "(INVALID)" follows if a run is invalid.
std::vector<std::string> unique_labels(const std::vector<CaseRecords>& cases);

/// Whether all runs of the case are valid (RunRecord::valid()).
bool is_valid(const CaseRecords& one);

/// Returns the label without its "ranks=" part, for a table that has a column of ranks.
std::string without_ranks(std::string label, int ranks);

/// Returns the case's strategy; nothing if this version of Paceline does not have it, as in a newer
/// version's record.
std::optional<strategies::StrategySpec> known_strategy(const cases::Case& c);

/// Returns a function that returns a member of a case's configuration as JSON, or null if the
/// case's source does not state the member.
template <class Member>
auto stated_member(const char* key, Member member) {
  return [key, member](const cases::Case& c) {
    return c.states(key) ? nlohmann::ordered_json(c.*member) : nlohmann::ordered_json();
  };
}

/// Describes a job with embedding tables, and those of its settings that are not the defaults: "2
/// trainers, 1 server, 300 rows of 64 in each table, gloo, zipf 1.1".
std::string table_job_text(const cases::Case& c);

/// Returns "resnet50, batch 32 per rank"; "-" stands for what the source does not state.
std::string model_and_batch(const std::string& model, int batch_size);

/// Returns the rate of the case's emulated link in bytes per second.  Absent if there is no link,
/// or if its text cannot be parsed, as may be in records of other programs.
std::optional<double> link_bytes_per_s(const cases::Case& c);

/// The rows of one table: cases of equal model and batch size.  Batch size 0: the sources do not
/// state it.
template <class Row>
struct TableGroup {
  std::string model;
  int batch_size = 0;
  std::vector<Row> rows;
};

/// Adds a row to the group of its configuration, which is created if it does not exist.
template <class Row>
void add_to_table(std::vector<TableGroup<Row>>& groups, const cases::Case& c, Row row) {
  auto group = std::ranges::find_if(groups, [&](const auto& one) {
    return one.model == c.model && one.batch_size == c.batch_size;
  });
  if (group == groups.end()) {
    group = groups.insert(group, {c.model, c.batch_size, {}});
  }
  group->rows.push_back(std::move(row));
}

using CaseGroup = TableGroup<CaseRecords>;
std::vector<CaseGroup> group_tables(std::span<const records::RunRecord> records);

}  // namespace paceline::report
