// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "paceline/records/json.h"
#include "paceline/report/diff_formats.h"
#include "paceline/report/machine.h"

namespace paceline::report {
namespace {

using nlohmann::ordered_json;
using MaybeEstimate = std::optional<stats::Estimate>;

template <class T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json value_of(const MaybeEstimate& e) {
  return e ? ordered_json(e->value) : ordered_json();
}

ordered_json low_of(const MaybeEstimate& e) {
  return e && e->interval ? ordered_json(e->interval->low) : ordered_json();
}

ordered_json high_of(const MaybeEstimate& e) {
  return e && e->interval ? ordered_json(e->interval->high) : ordered_json();
}

/// What its interval speaks of.
ordered_json basis_of(const MaybeEstimate& e) {
  if (!e || !e->interval) {
    return nullptr;
  }
  return e->basis == stats::Basis::kRuns ? "runs" : "these runs";
}

struct DiffColumn {
  std::string_view name;
  ordered_json (*value)(const DiffRow& row);
};

// The columns that CSV and JSON share, in order.
constexpr auto kColumns = std::to_array<DiffColumn>({
    {"case", [](const DiffRow& r) -> ordered_json { return r.label; }},
    {"model",
     [](const DiffRow& r) -> ordered_json { return r.configuration().model; }},
    {"batch_size_per_rank",
     [](const DiffRow& r) -> ordered_json {
       return r.configuration().batch_size;
     }},
    {"ranks",
     [](const DiffRow& r) -> ordered_json { return r.configuration().ranks; }},
    {"base_strategy",
     [](const DiffRow& r) -> ordered_json {
       return r.configuration().strategy;
     }},
    {"test_strategy",
     [](const DiffRow& r) -> ordered_json {
       return r.cases.test.configuration().strategy;
     }},
    {"base_runs", [](const DiffRow& r) -> ordered_json { return r.base_runs; }},
    {"test_runs", [](const DiffRow& r) -> ordered_json { return r.test_runs; }},
    {"base_step_median_s", [](const DiffRow& r) { return value_of(r.base_s); }},
    {"base_step_median_low_s",
     [](const DiffRow& r) { return low_of(r.base_s); }},
    {"base_step_median_high_s",
     [](const DiffRow& r) { return high_of(r.base_s); }},
    {"base_interval_speaks_of",
     [](const DiffRow& r) { return basis_of(r.base_s); }},
    {"test_step_median_s", [](const DiffRow& r) { return value_of(r.test_s); }},
    {"test_step_median_low_s",
     [](const DiffRow& r) { return low_of(r.test_s); }},
    {"test_step_median_high_s",
     [](const DiffRow& r) { return high_of(r.test_s); }},
    {"test_interval_speaks_of",
     [](const DiffRow& r) { return basis_of(r.test_s); }},
    {"change", [](const DiffRow& r) { return value_of(r.change); }},
    {"change_low", [](const DiffRow& r) { return low_of(r.change); }},
    {"change_high", [](const DiffRow& r) { return high_of(r.change); }},
    {"change_interval_speaks_of",
     [](const DiffRow& r) { return basis_of(r.change); }},
    {"p", [](const DiffRow& r) { return or_null(r.p); }},
    {"corrected_p", [](const DiffRow& r) { return or_null(r.corrected_p); }},
    {"verdict",
     [](const DiffRow& r) -> ordered_json { return name_of(r.verdict); }},
});

ordered_json to_json(const std::vector<Difference>& differences) {
  ordered_json out = ordered_json::array();
  for (const Difference& d : differences) {
    out.push_back({{"name", d.name}, {"base", d.base}, {"test", d.test}});
  }
  return out;
}

ordered_json to_json(const std::vector<Case>& cases) {
  ordered_json out = ordered_json::array();
  for (const Case& one : cases) {
    out.push_back(records::to_json(one.configuration()));
  }
  return out;
}

std::string_view name_of(Order order) {
  switch (order) {
    case Order::kInterleaved:
      return "interleaved";
    case Order::kApart:
      return "apart";
    case Order::kUnknown:
      return "unknown";
  }
  return "";
}

ordered_json row_json(const DiffRow& row) {
  ordered_json out;
  for (const DiffColumn& column : kColumns) {
    out[std::string(column.name)] = column.value(row);
  }
  out["differences"] = to_json(row.cases.differences);
  return out;
}

std::string csv_value(const ordered_json& value) {
  if (value.is_null()) {
    return "";
  }
  return csv_field(value.is_string() ? value.get<std::string>() : value.dump());
}

void add_line(std::string& text, const std::vector<std::string>& cells) {
  text += fmt::format("{}\n", fmt::join(cells, ","));
}

void add_unpaired(std::string& text,
                  const std::vector<Case>& cases,
                  std::string_view side) {
  for (const Case& one : cases) {
    const records::Configuration& c = one.configuration();
    std::vector<std::string> cells(kColumns.size() + 1);
    const bool base = side == "base";
    cells[0] = csv_field(c.label.empty() ? c.strategy : c.label);
    cells[1] = csv_field(c.model);
    cells[2] = fmt::to_string(c.batch_size);
    cells[3] = fmt::to_string(c.ranks);
    cells[base ? 4 : 5] = csv_field(c.strategy);
    cells[base ? 6 : 7] = fmt::to_string(one.measured().size());
    cells[kColumns.size() - 1] = fmt::format("only in the {}", side);
    add_line(text, cells);
  }
}

}  // namespace

std::string render_diff_json(const Diff& diff) {
  ordered_json out{
      {"version", 1},
      {"base", diff.base_name},
      {"test", diff.test_name},
      {"compared", diff.wall_times ? "wall time of commands" : "step time"},
      {"threshold", diff.options.threshold},
      {"significance", diff.options.significance},
      {"regression", diff.regression()},
      {"order", name_of(diff.order)},
      {"exact", diff.exact},
      {"arrangements", diff.arrangements},
      {"needed_runs", diff.needed_runs},
      {"runs_for_power", or_null(diff.runs_for_power)},
      {"power_change", diff.power_change}};
  out["cases"] = ordered_json::array();
  for (const DiffRow& row : diff.rows) {
    out["cases"].push_back(row_json(row));
  }
  out["only_base"] = to_json(diff.only_base);
  out["only_test"] = to_json(diff.only_test);
  out["software_differences"] = to_json(diff.software);
  out["warnings"] = ordered_json::array();
  for (const records::Warning& w : diff.warnings) {
    out["warnings"].push_back({{"code", w.code},
                               {"seen", w.seen},
                               {"why", w.why},
                               {"advice", w.advice}});
  }
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string render_diff_csv(const Diff& diff) {
  std::vector<std::string> cells;
  for (const DiffColumn& column : kColumns) {
    cells.emplace_back(column.name);
  }
  cells.emplace_back("differences");
  std::string text;
  add_line(text, cells);
  for (const DiffRow& row : diff.rows) {
    cells.clear();
    for (const DiffColumn& column : kColumns) {
      cells.push_back(csv_value(column.value(row)));
    }
    std::vector<std::string> words;
    for (const Difference& d : row.cases.differences) {
      words.push_back(fmt::format("{}: {} -> {}", d.name, d.base, d.test));
    }
    cells.push_back(csv_field(fmt::format("{}", fmt::join(words, "; "))));
    add_line(text, cells);
  }
  add_unpaired(text, diff.only_base, "base");
  add_unpaired(text, diff.only_test, "test");
  return text;
}

}  // namespace paceline::report
