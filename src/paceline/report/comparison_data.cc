// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "paceline/records/json.h"
#include "paceline/report/framework_tables.h"

namespace paceline::report {
namespace {

using records::RunRecord;

// The index of the environment, which is added where it is missing.
std::size_t index_in(std::vector<const records::Environment*>& all,
                     const records::Environment& one) {
  const auto found =
      std::ranges::find_if(all, [&](const records::Environment* other) { return *other == one; });
  const auto index = static_cast<std::size_t>(found - all.begin());
  if (found == all.end()) {
    all.push_back(&one);
  }
  return index;
}

double window_s(const RunRecord& run) {
  std::int64_t longest = 0;
  for (const records::RankSamples& rank : run.ranks) {
    longest = std::max(longest, rank.window_ns);
  }
  return static_cast<double>(longest) * 1e-9;
}

Json run_json(const RunRecord& run, std::size_t environment) {
  return {{"source", records::name_of(run.source)},
          {"experiment", run.experiment},
          {"started_at", run.started_at},
          {"run", run.run},
          {"configuration", records::to_json(run.configuration)},
          {"environment", environment},
          {"window_s", window_s(run)},
          {"samples_per_s", or_null(rate_of(run))},
          {"verified", run.verified},
          {"warnings", records::to_json(run.warnings)},
          {"error", or_null(run.error)},
          {"not_run", run.not_run()},
          {"adapter", run.adapter}};
}

// A value that the source says, else null.
template <class Value>
Json said(const Value& value) {
  return value == Value{} ? Json() : Json(value);
}

Json devices_json(const Devices& devices) {
  return {{"nodes", said(devices.nodes)}, {"devices", said(devices.devices)}};
}

Json cell_json(const Devices& devices, const FrameworkCell& cell, const RunRecord* first) {
  Json out = devices_json(devices);
  const bool has_interval = cell.rate && cell.rate->interval;
  out["samples_per_s"] = cell.rate ? Json(cell.rate->value) : Json();
  out["samples_per_s_low"] = has_interval ? Json(cell.rate->interval->low) : Json();
  out["samples_per_s_high"] = has_interval ? Json(cell.rate->interval->high) : Json();
  out["runs"] = Json::array();
  for (const RunRecord* run : cell.records) {
    out["runs"].push_back(run - first);
  }
  return out;
}

Json table_json(const FrameworkTable& table, const RunRecord* first) {
  Json out{{"experiment", table.experiment},
           {"model", said(table.model)},
           {"dtype", said(table.dtype)},
           {"batch_size", table.batch_size ? said(*table.batch_size) : "max"},
           {"imported", table.imported},
           {"devices", Json::array()},
           {"columns", Json::array()},
           {"unequal_training", Json::array()}};
  for (const Devices& devices : table.rows) {
    out["devices"].push_back(devices_json(devices));
  }
  for (const FrameworkColumn& column : table.columns) {
    Json cells = Json::array();
    for (const auto& [devices, cell] : column.cells) {
      cells.push_back(cell_json(devices, cell, first));
    }
    out["columns"].push_back({{"title", column.title}, {"cells", std::move(cells)}});
  }
  for (const Finding& found : unequal_training(table)) {
    out["unequal_training"].push_back(
        {{"column", found.column},
         {"text", found.text},
         {"excludes", found.excludes},
         {"where", found.devices ? devices_json(*found.devices) : Json()}});
  }
  return out;
}

}  // namespace

Json comparison_data(std::span<const RunRecord> records) {
  std::vector<const records::Environment*> seen;
  Json runs = Json::array();
  for (const RunRecord& record : records) {
    runs.push_back(run_json(record, index_in(seen, record.environment)));
  }
  Json environments = Json::array();
  for (const records::Environment* one : seen) {
    environments.push_back(records::to_json(*one));
  }
  Json comparisons = Json::array();
  for (const FrameworkTable& table : framework_tables(records)) {
    comparisons.push_back(table_json(table, records.data()));
  }
  return {{"runs", std::move(runs)},
          {"environments", std::move(environments)},
          {"comparisons", std::move(comparisons)}};
}

}  // namespace paceline::report
