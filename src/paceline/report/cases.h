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

/// Whether a rank left samples of steps.
bool has_steps(const records::RunRecord& run);

/// All runs of one case: records of equal `Configuration::key()`, origin and experiment.  Points
/// into the records that it was made from.
struct Case {
  std::vector<const records::RunRecord*> runs;  // at least one, as they came

  const records::RunRecord& first() const { return *runs.front(); }
  const records::Configuration& configuration() const { return first().configuration; }
  /// The runs that ended well and left samples.
  std::vector<const records::RunRecord*> measured() const;
};

/// The configuration, with what a command said of itself where the user said nothing.
records::Configuration said_configuration(const Case& one);

/// The cases in the order in which they first appear; discarded warm-up cases are left out.
std::vector<Case> group_cases(std::span<const records::RunRecord> records);
/// The same of equal key and origin, whatever experiment they are of.
std::vector<Case> group_across_experiments(std::span<const records::RunRecord> records);

/// Its label (its strategy where it has none), with the origin where it was
/// not measured.
std::string plain_label(const Case& one);

/// Whether a user named the case; else its label says its strategy.
bool has_own_label(const records::Configuration& configuration);

/// The strategies of cases with those options alone that the names do not stand for
/// ("ps:placement=apart"), and in which strategies with the same part differ.
std::vector<std::string> short_strategies(const std::vector<const records::Configuration*>& cases);

/// The value of the first option of this name in the text of a strategy:
/// option_of("fusion:bucket-mb=25", "bucket-mb") is "25"; empty where no part has it.
std::string option_of(const std::string& strategy, std::string_view name);

/// The strategy that `text` means to `paceline run`, its parts in order and those that it implies
/// among them, with the options that `text` says: "ps" is "bsp+ps".  As it is where that is none.
std::string with_implied_parts(std::string_view text);

/// Whether `name` names the strategy, as a table or a user does: all of its parts in order, with
/// some of their options ("fusion+ps:placement=apart").
bool names_strategy(std::string_view name, const std::string& strategy);

/// A name for each case: the label above, with those parts of the key, from the first on, that tell
/// more cases of the same label apart, strategies shortened; INVALID where a run was.
std::vector<std::string> unique_labels(const std::vector<Case>& cases);

/// Whether all of its runs are.
bool is_valid(const Case& one);

/// The label without the part that says its ranks, for a table that has them in a column.
std::string without_ranks(std::string label, int ranks);

/// Nothing where this program does not know it: a newer program's record.
std::optional<strategies::StrategySpec> known_strategy(const records::Configuration& c);

/// A value of the configuration as JSON, null where the source does not say it.
template <class Member>
auto stated(const char* key, Member member) {
  return [key, member](const records::Configuration& c) {
    return c.states(key) ? nlohmann::ordered_json(c.*member) : nlohmann::ordered_json();
  };
}

/// The same as a cell of a table: "-".
std::string ranks_text(const records::Configuration& c);

/// "2 trainers, 1 server, 300 rows of 64 in each table, gloo, zipf 1.1": a job with embedding
/// tables, and what of it is not as usual.
std::string table_job_words(const records::Configuration& c);

/// "resnet50, batch 32 per rank"; "-" for what the source does not say.
std::string model_and_batch(const std::string& model, int batch_size);

/// The rate of the case's emulated link; absent where there is none, or the text, which records of
/// others may hold, is no link.
std::optional<double> link_bytes_per_s(const records::Configuration& c);

/// Rows of one table: equal model and batch size; 0: the sources do not say it.
template <class Row>
struct TableGroup {
  std::string model;
  int batch_size = 0;
  std::vector<Row> rows;
};

/// Adds a row to the group of its configuration.
template <class Row>
void add_to_table(std::vector<TableGroup<Row>>& groups, const records::Configuration& c, Row row) {
  auto group = std::ranges::find_if(groups, [&](const auto& one) {
    return one.model == c.model && one.batch_size == c.batch_size;
  });
  if (group == groups.end()) {
    group = groups.insert(group, {c.model, c.batch_size, {}});
  }
  group->rows.push_back(std::move(row));
}

using CaseGroup = TableGroup<Case>;
std::vector<CaseGroup> group_tables(std::span<const records::RunRecord> records);

}  // namespace paceline::report
