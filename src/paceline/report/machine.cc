// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/machine.h"

#include <array>

#include <fmt/format.h>

#include "paceline/records/json.h"

namespace paceline::report {
namespace {

using nlohmann::ordered_json;

template <class T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

template <double stats::Percentiles::*p>
ordered_json percentile(const Row& row) {
  return row.step_s ? ordered_json(row.step_s->percentiles.*p) : ordered_json();
}

// The three figures of an estimate: value, low end, high end.
template <std::optional<stats::Estimate> Row::*estimate>
ordered_json value_of(const Row& row) {
  return row.*estimate ? ordered_json((row.*estimate)->value) : ordered_json();
}

template <std::optional<stats::Estimate> Row::*estimate,
          double stats::Interval::*end>
ordered_json end_of(const Row& row) {
  const std::optional<stats::Estimate>& e = row.*estimate;
  return e && e->interval ? ordered_json((*e->interval).*end) : ordered_json();
}

// What an interval speaks of; null where there is none.
ordered_json speaks_of(const std::optional<stats::Estimate>& e) {
  if (!e || !e->interval) {
    return nullptr;
  }
  return e->basis == stats::Basis::kRuns ? "runs" : "these runs";
}

template <double stats::Interval::*end>
ordered_json median_end(const Row& row) {
  return row.step_s && row.step_s->median.interval
             ? ordered_json((*row.step_s->median.interval).*end)
             : ordered_json();
}

template <std::optional<std::int64_t> records::ErrorBar::*end>
ordered_json bar_end(const Row& row) {
  const bool known = row.predicted && row.predicted->error_bar &&
                     (*row.predicted->error_bar).*end;
  return known ? ordered_json(
                     static_cast<double>(*((*row.predicted->error_bar).*end)) *
                     1e-9)
               : ordered_json();
}

constexpr auto kLow = &stats::Interval::low;
constexpr auto kHigh = &stats::Interval::high;

constexpr auto kColumns = std::to_array<Column>({
    {"case", [](const Row& r) -> ordered_json { return r.label; }},
    {"source",
     [](const Row& r) -> ordered_json { return records::name_of(r.source); }},
    {"experiment", [](const Row& r) -> ordered_json { return r.experiment; }},
    {"model",
     [](const Row& r) -> ordered_json { return r.configuration.model; }},
    {"batch_size_per_rank",
     [](const Row& r) -> ordered_json { return r.configuration.batch_size; }},
    {"ranks",
     [](const Row& r) -> ordered_json { return r.configuration.ranks; }},
    {"strategy",
     [](const Row& r) -> ordered_json { return r.configuration.strategy; }},
    {"engine",
     [](const Row& r) -> ordered_json { return r.configuration.engine; }},
    {"device",
     [](const Row& r) -> ordered_json { return r.configuration.device; }},
    {"dtype",
     [](const Row& r) -> ordered_json { return r.configuration.dtype; }},
    {"runs",
     [](const Row& r) -> ordered_json {
       return r.step_s ? r.step_s->runs : 0;
     }},
    {"failed_runs", [](const Row& r) -> ordered_json { return r.failed_runs; }},
    {"steps",
     [](const Row& r) -> ordered_json {
       return r.step_s ? r.step_s->steps : 0;
     }},
    {"step_p50_s", percentile<&stats::Percentiles::p50>},
    {"step_p75_s", percentile<&stats::Percentiles::p75>},
    {"step_p90_s", percentile<&stats::Percentiles::p90>},
    {"step_p95_s", percentile<&stats::Percentiles::p95>},
    {"step_median_s",
     [](const Row& r) -> ordered_json {
       return r.step_s ? ordered_json(r.step_s->median.value) : ordered_json();
     }},
    {"step_median_low_s", median_end<kLow>},
    {"step_median_high_s", median_end<kHigh>},
    {"step_median_interval_speaks_of",
     [](const Row& r) -> ordered_json {
       return r.step_s ? speaks_of(r.step_s->median) : ordered_json();
     }},
    {"examples_per_s_per_rank",
     [](const Row& r) -> ordered_json {
       return or_null(r.examples_per_s_per_rank());
     }},
    {"examples_per_s", value_of<&Row::examples_per_s>},
    {"examples_per_s_low", end_of<&Row::examples_per_s, kLow>},
    {"examples_per_s_high", end_of<&Row::examples_per_s, kHigh>},
    {"examples_per_s_interval_speaks_of",
     [](const Row& r) -> ordered_json { return speaks_of(r.examples_per_s); }},
    {"baseline",
     [](const Row& r) -> ordered_json { return or_null(r.baseline); }},
    {"efficiency", value_of<&Row::efficiency>},
    {"efficiency_low", end_of<&Row::efficiency, kLow>},
    {"efficiency_high", end_of<&Row::efficiency, kHigh>},
    {"efficiency_interval_speaks_of",
     [](const Row& r) -> ordered_json { return speaks_of(r.efficiency); }},
    {"exposed_communication_s", value_of<&Row::exposed_s>},
    {"exposed_communication_low_s", end_of<&Row::exposed_s, kLow>},
    {"exposed_communication_high_s", end_of<&Row::exposed_s, kHigh>},
    {"exposed_communication_interval_speaks_of",
     [](const Row& r) -> ordered_json { return speaks_of(r.exposed_s); }},
    {"wire_bytes_per_rank_per_step",
     [](const Row& r)
         -> ordered_json { return or_null(r.wire_bytes_per_step); }},
    {"planned_wire_bytes_per_rank_per_step",
     [](const Row& r)
         -> ordered_json { return or_null(r.planned_wire_bytes_per_step); }},
    {"peak_memory_bytes",
     [](const Row& r) -> ordered_json { return or_null(r.peak_memory_bytes); }},
    {"error_bar_low_s", bar_end<&records::ErrorBar::low_ns>},
    {"error_bar_high_s", bar_end<&records::ErrorBar::high_ns>},
    {"error_bar_examined",
     [](const Row& r) -> ordered_json {
       return r.predicted && r.predicted->error_bar
                  ? ordered_json(r.predicted->error_bar->examined)
                  : ordered_json();
     }},
    {"bound_s",
     [](const Row& r) -> ordered_json {
       return r.predicted
                  ? ordered_json(
                        static_cast<double>(r.predicted->bound.best_ns()) *
                        1e-9)
                  : ordered_json();
     }},
});

std::string csv_value(const ordered_json& value) {
  if (value.is_null()) {
    return "";
  }
  return csv_field(value.is_string() ? value.get<std::string>() : value.dump());
}

template <class Cells>
void add_line(std::string& text, const Cells& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    text += (i == 0 ? "" : ",") + cells[i];
  }
  text += "\n";
}

ordered_json case_json(const Row& row) {
  ordered_json out;
  for (const Column& column : kColumns) {
    out[std::string(column.name)] = column.value(row);
  }
  out["configuration"] = records::to_json(row.configuration);
  out["warnings"] = ordered_json::array();
  for (const records::Warning& w : row.warnings) {
    out["warnings"].push_back({{"code", w.code},
                               {"seen", w.seen},
                               {"why", w.why},
                               {"advice", w.advice}});
  }
  out["errors"] = row.errors;
  return out;
}

}  // namespace

std::span<const Column> columns() {
  return kColumns;
}

std::string csv_field(std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(field);
  }
  std::string quoted = "\"";
  for (const char c : field) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

std::string render_csv(std::span<const records::RunRecord> records) {
  std::vector<std::string> cells;
  for (const Column& column : kColumns) {
    cells.emplace_back(column.name);
  }
  cells.emplace_back("errors");
  std::string text;
  add_line(text, cells);
  for (const Table& table : summarize(records)) {
    for (const Row& row : table.rows) {
      cells.clear();
      for (const Column& column : kColumns) {
        cells.push_back(csv_value(column.value(row)));
      }
      cells.push_back(
          csv_field(fmt::format("{}", fmt::join(row.errors, "; "))));
      add_line(text, cells);
    }
  }
  return text;
}

std::string render_json(std::span<const records::RunRecord> records) {
  ordered_json out{{"version", 1}, {"cases", ordered_json::array()}};
  for (const Table& table : summarize(records)) {
    for (const Row& row : table.rows) {
      out["cases"].push_back(case_json(row));
    }
  }
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace paceline::report
