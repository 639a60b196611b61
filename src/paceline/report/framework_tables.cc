// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/framework_tables.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/report/cases.h"

namespace paceline::report {
namespace {

using records::Configuration;
using records::fact_of;
using records::RunRecord;

bool is_imported(const RunRecord& record) { return record.source == records::Source::kImported; }

Devices devices_of(const Configuration& c) {
  if (!c.states("ranks")) {
    return {.nodes = 0, .devices = 0};
  }
  return {.nodes = std::max(1, static_cast<int>(c.ranks_per_host.size())), .devices = c.ranks};
}

std::string framework_of(const RunRecord& record) {
  const Configuration& c = record.configuration;
  if (!c.framework.empty()) {
    return c.framework;
  }
  const std::string label = c.label.empty() ? c.strategy : c.label;
  return c.command.empty() && !is_imported(record) ? "paceline " + label : label;
}

void add_to_cell(const RunRecord& record, FrameworkCell& cell) {
  cell.records.push_back(&record);
  if (rate_of(record)) {
    cell.runs.push_back(&record);
  }
}

void summarize_cell(FrameworkCell& cell) {
  std::vector<std::vector<double>> runs;
  for (const RunRecord* run : cell.runs) {
    runs.push_back({*rate_of(*run)});
  }
  cell.rate = stats::median_of_runs(runs);
}

// What the column is beside its framework; the batch size is the table's
// unless it is another one.
std::string column_title(const RunRecord& record, int usual_batch) {
  const Configuration& c = record.configuration;
  std::string title = framework_of(record);
  // The names of imported tables may say it already.
  const auto add = [&title](const char* words) {
    if (title.find(words) == std::string::npos) {
      title += std::string(" ") + words;
    }
  };
  // A framework that always compiles has its name as its label.
  if (c.compiled && (is_imported(record) || c.label != c.framework)) {
    add(is_imported(record) ? "w/XLA" : "compiled");
  }
  if (fact_of(record.adapter, "clipping") == "off") {
    add("W/O clip");
  }
  if (fact_of(record.adapter, "dali") == "header") {
    add("w/DALI");
  }
  if (!c.python.empty()) {
    title += " " + c.python;
  }
  for (const auto& [name, value] : is_imported(record) ? decltype(c.env){} : c.env) {
    title += fmt::format(" {}={}", name, value);
  }
  if (c.batch_size != usual_batch && c.states("batch_size")) {
    title += fmt::format(" bsz={}", c.batch_size);
  }
  return title;
}

using TableKey = std::tuple<records::Source, std::string, std::string, std::string, int, bool>;

TableKey table_key(const RunRecord& record) {
  const Configuration& c = record.configuration;
  const bool imported = is_imported(record);
  return {imported ? record.source : records::Source::kMeasured,
          record.experiment,
          c.model,
          c.dtype,
          imported || fact_of(record.adapter, "batch_mode") == "max" ? 0 : c.batch_size,
          c.command.empty()};
}

// The batch size that most columns have, the largest of these.
int usual_batch(const std::vector<const RunRecord*>& records) {
  std::map<int, std::map<std::string, int>> columns;
  for (const RunRecord* record : records) {
    ++columns[record->configuration.batch_size][column_title(*record, 0)];
  }
  const auto most =
      std::ranges::max_element(columns, {}, [](const auto& one) { return one.second.size(); });
  return most->first;
}

// Unless they are asked for, a rank has as many threads as cores are left for it: their number
// tells columns apart only where it differs on the same devices.
void keep_asked_threads(const std::vector<const RunRecord*>& records,
                        std::vector<RunRecord>& columns) {
  std::map<std::string, std::map<Devices, std::set<int>>> threads;
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Configuration& asked = records[i]->configuration;
    columns[i].configuration.threads = 0;
    keys.push_back(columns[i].configuration.label + " " + columns[i].configuration.key());
    threads[keys[i]][devices_of(asked)].insert(asked.threads);
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (std::ranges::any_of(threads[keys[i]],
                            [](const auto& row) { return row.second.size() > 1; })) {
      columns[i].configuration.threads = records[i]->configuration.threads;
    }
  }
}

// The title of each record's column.  Where runs of other settings would have the same title, what
// they differ in follows it.
std::vector<std::string> column_titles(const std::vector<const RunRecord*>& records,
                                       int usual_batch) {
  std::vector<RunRecord> columns(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    Configuration& c = columns[i].configuration = records[i]->configuration;
    columns[i].experiment = c.label = column_title(*records[i], usual_batch);
    // Rows of one column differ in these.
    c.ranks = 1;
    c.ranks_per_host.clear();
    c.seed = 0;
    if (is_imported(*records[i])) {
      c.steps = 0;  // as many as the log has
    }
  }
  keep_asked_threads(records, columns);
  const std::vector<Case> cases = group_cases(columns);
  const std::vector<std::string> labels = unique_labels(cases);
  std::vector<std::string> titles(records.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (const RunRecord* run : cases[i].runs) {
      titles[static_cast<std::size_t>(run - columns.data())] = labels[i];
    }
  }
  return titles;
}

bool has_largest_batches(const std::vector<const RunRecord*>& records) {
  return std::ranges::any_of(records, [](const RunRecord* record) {
    return fact_of(record->adapter, "batch_mode") == "max";
  });
}

FrameworkTable table_of(const std::vector<const RunRecord*>& records) {
  const Configuration& first = records.front()->configuration;
  const bool largest = has_largest_batches(records);
  const int batch = largest ? 0 : usual_batch(records);
  FrameworkTable table{.experiment = records.front()->experiment,
                       .model = first.model,
                       .dtype = first.dtype,
                       .batch_size = largest ? std::nullopt : std::optional(batch),
                       .imported = is_imported(*records.front()),
                       .rows = {},
                       .columns = {}};
  const std::vector<std::string> titles = column_titles(records, batch);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const RunRecord* record = records[i];
    const std::string& title = titles[i];
    auto column = std::ranges::find(table.columns, title, &FrameworkColumn::title);
    if (column == table.columns.end()) {
      column = table.columns.insert(column, {.title = title, .cells = {}});
    }
    const Devices devices = devices_of(record->configuration);
    add_to_cell(*record, column->cells[devices]);
    add_once(table.rows, devices);
  }
  for (FrameworkColumn& column : table.columns) {
    for (auto& [devices, cell] : column.cells) {
      summarize_cell(cell);
    }
  }
  std::ranges::sort(table.rows, {}, &Devices::devices);
  return table;
}

}  // namespace

std::optional<double> rate_of(const RunRecord& record) {
  const std::string reported = fact_of(record.adapter, kReportedRate);
  double value = 0;
  if (!reported.empty()) {
    std::from_chars(reported.data(), reported.data() + reported.size(), value);
    return value > 0 ? std::optional(value) : std::nullopt;
  }
  std::size_t steps = 0;
  std::int64_t window_ns = 0;
  for (const records::RankSamples& rank : record.ranks) {
    steps = std::max(steps, rank.step_ns.size());
    window_ns = std::max(window_ns, rank.window_ns);
  }
  const Configuration& c = record.configuration;
  if (record.error || steps == 0 || window_ns == 0 || c.has_tables() || !c.states("batch_size") ||
      !c.states("ranks")) {
    return std::nullopt;
  }
  return static_cast<double>(steps) * c.batch_size * c.ranks * 1e9 / static_cast<double>(window_ns);
}

std::vector<FrameworkTable> framework_tables(std::span<const RunRecord> records) {
  std::vector<std::pair<TableKey, std::vector<const RunRecord*>>> groups;
  for (const RunRecord& record : records) {
    if (record.configuration.discard || record.source == records::Source::kPredicted) {
      continue;
    }
    find_or_add(groups, table_key(record)).push_back(&record);
  }
  std::vector<FrameworkTable> tables;
  for (const auto& [key, members] : groups) {
    tables.push_back(table_of(members));
  }
  return tables;
}

}  // namespace paceline::report
