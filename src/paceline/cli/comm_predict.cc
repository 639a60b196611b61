// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/comm_predict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/cli/warnings.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/predict/collective_error.h"
#include "paceline/predict/collective_time.h"
#include "paceline/predict/engine_choice.h"
#include "paceline/predict/request_costs.h"
#include "paceline/records/comm_record.h"
#include "paceline/report/console.h"
#include "paceline/report/csv.h"
#include "paceline/report/markdown.h"
#include "paceline/report/table.h"

namespace paceline::cli {
namespace {

/// The modelled time of one collective, and its measured time if there is one.
struct Row {
  std::int64_t bytes = 0;
  double seconds = 0;
  bool calibrated = false;
  std::optional<double> error{};       // absolute error of the logarithm of `seconds`
  std::optional<double> measured_s{};  // by a fit for the same number of ranks
};

/// What one table shows.
struct AskedTable {
  plan::Pattern pattern{};
  int ranks = 0;
};

std::string gigabytes(double bytes_per_s) { return fmt::format("{:.2f}", bytes_per_s * 1e-9); }

std::string interval_of(const Row& row) {
  if (!row.error) {
    return "-";
  }
  const double factor = std::exp(*row.error);
  return fmt::format("[{:.2f}, {:.2f}]", row.seconds / factor * 1e6, row.seconds * factor * 1e6);
}

class ModelledTimes {
 public:
  ModelledTimes(const cluster::Cluster& cluster, const std::string& asked)
      : cluster_(cluster),
        engine_(
            predict::engine_costs_named(predict::engine_of(asked == "auto" ? "" : asked, cluster))),
        measured_(predict::machine_for(cluster, engine_)) {
    model_ = measured_;
    model_.algorithm = engine_.algorithm;
  }

  const std::string& engine() const { return engine_.name; }
  bool is_bound() const { return engine_.bound; }
  bool has_published_errors() const { return cluster::uses_nccl_model(engine_.algorithm); }
  std::vector<records::Warning> warnings() const {
    std::vector<records::Warning> warnings;
    predict::check_generation(cluster_, engine_, warnings);
    return warnings;
  }

  Row row(plan::Pattern pattern, int ranks, std::int64_t bytes) const {
    const auto counts = cluster::ranks_per_host(cluster_, ranks);
    const cluster::CollectiveCall call{
        .pattern = pattern,
        .bytes = bytes,
        .group = {.ranks = ranks,
                  .hosts = static_cast<plan::Rank>(counts.size()),
                  .ranks_on_fullest_host = std::ranges::max(counts)}};
    if (engine_.bound) {
      return {.bytes = bytes, .seconds = predict::least_possible_s(call, cluster_)};
    }
    // As `paceline predict` costs it.
    const double priced_s = predict::collective_s(call, measured_, engine_.costs);
    Row row{.bytes = bytes,
            .seconds = priced_s,
            .calibrated = predict::calibration_of(call, cluster_, engine_) != nullptr,
            .error = predict::error_of_collective(call, cluster_, engine_, model_)};
    const cluster::LinkFit* fit = cluster::measured_fit(call, measured_);
    if (fit != nullptr && fit->ranks == ranks && is_measured_size(call)) {
      row.seconds = predict::collective_s(call, model_, engine_.costs);
      row.measured_s = priced_s;
    }
    return row;
  }

 private:
  /// Whether the size was measured. True for fits of the key `collectives`, which state no sizes.
  bool is_measured_size(const cluster::CollectiveCall& call) const {
    const auto* found = predict::calibration_of(call, cluster_, engine_);
    return found == nullptr || (call.bytes >= found->from_bytes && call.bytes <= found->to_bytes);
  }

  cluster::Cluster cluster_;
  const predict::EngineCosts& engine_;
  cluster::Machine measured_, model_;
};

/// Returns a sentence that says from which data the intervals of a table come.
std::string legend_of(const ModelledTimes& model_times, bool calibrated) {
  if (model_times.is_bound()) {
    return "a bound: what the links' rates need for the bytes of the engine that moves the fewest; "
           "no engine is faster\n";
  }
  const std::string unknown = fmt::format(
      "no published times say how far the model of engine {} is off", model_times.engine());
  if (calibrated) {
    return fmt::format(
        "time: the model's where a measured time stands beside it, else as paceline predict prices "
        "it from the measured ones\ninterval: nine of ten times are within, by the residuals of "
        "paceline calibrate; beyond the measured sizes and ranks {}\n",
        model_times.has_published_errors() ? "it grows with each doubling" : unknown);
  }
  if (model_times.has_published_errors()) {
    return "interval: paceline calibrate measured nothing of this; nine of ten published "
           "all-reduces are within (docs/simulator.md), and it grows with each doubling beyond "
           "their sizes and ranks\n";
  }
  return fmt::format("interval: {}\n", unknown);
}

report::Table table_of(const ModelledTimes& model_times, plan::Pattern pattern, int ranks,
                       const std::vector<std::int64_t>& sizes) {
  const std::string name(plan::name_of(pattern));
  report::Table table{.title = fmt::format("{}, {} ranks, {}", name, ranks, model_times.engine()),
                      .columns = {{.name = "size", .unit = "B"},
                                  {.name = "time", .unit = "us"},
                                  {.name = "90 % interval", .unit = "us"},
                                  {.name = "algbw", .unit = "GB/s"},
                                  {.name = "busbw", .unit = "GB/s"},
                                  {.name = "measured", .unit = "us"},
                                  {.name = "busbw", .unit = "GB/s"},
                                  {.name = "error", .unit = "%"}}};
  const double factor = records::bus_factor(name, ranks);
  bool calibrated = false;
  for (const std::int64_t bytes : sizes) {
    const Row row = model_times.row(pattern, ranks, bytes);
    const auto payload = static_cast<double>(bytes);
    calibrated = row.calibrated;
    std::vector<std::string> cells{
        fmt::format("{}", bytes), fmt::format("{:.2f}", row.seconds * 1e6), interval_of(row),
        gigabytes(payload / row.seconds), gigabytes(factor * payload / row.seconds)};
    if (row.measured_s) {
      cells.push_back(fmt::format("{:.2f}", *row.measured_s * 1e6));
      cells.push_back(gigabytes(factor * payload / *row.measured_s));
      cells.push_back(fmt::format("{:+.1f}", (row.seconds / *row.measured_s - 1) * 100));
    } else {
      cells.insert(cells.end(), 3, "-");
    }
    table.rows.push_back({std::move(cells)});
  }
  table.legend = legend_of(model_times, calibrated);
  return table;
}

/// Returns all rows in SI units, without rounding to columns of a terminal.
report::Table csv_of(const ModelledTimes& model_times, const std::vector<AskedTable>& asked,
                     const std::vector<std::int64_t>& sizes) {
  report::Table table;
  for (const char* const name : {"operation", "ranks", "engine", "bytes", "seconds", "low_seconds",
                                 "high_seconds", "measured_seconds"}) {
    table.columns.push_back({.name = name});
  }
  for (const auto& [pattern, ranks] : asked) {
    for (const std::int64_t bytes : sizes) {
      const Row row = model_times.row(pattern, ranks, bytes);
      const auto number = [](std::optional<double> value) {
        return value ? fmt::format("{:.6g}", *value) : "";
      };
      const auto bound = [&](double sign) {
        return row.error ? std::optional(row.seconds * std::exp(sign * *row.error)) : std::nullopt;
      };
      table.rows.push_back({{std::string(plan::name_of(pattern)), fmt::format("{}", ranks),
                             model_times.engine(), fmt::format("{}", bytes), number(row.seconds),
                             number(bound(-1)), number(bound(1)), number(row.measured_s)}});
    }
  }
  return table;
}

}  // namespace

int predict_comm(const CommPredictRequest& request) {
  if (request.format == "json") {
    throw UsageError("--format json: --predict prints table, markdown or csv");
  }
  const cluster::Cluster cluster = cluster::read_cluster(request.cluster);
  const ModelledTimes model_times(cluster, request.engine);
  const std::vector<int> worlds =
      request.ranks.empty() ? std::vector<int>{cluster.slots()} : request.ranks;
  const auto is_asked = [&](std::string_view operation) {
    return std::ranges::find(request.operations, operation) != request.operations.end();
  };
  std::vector<AskedTable> asked;
  for (const plan::Pattern pattern : plan::kPatterns) {
    for (const int ranks : worlds) {
      if (is_asked(plan::name_of(pattern))) {
        asked.push_back({pattern, ranks});
      }
    }
  }
  if (asked.empty()) {
    throw UsageError(
        "--predict: of messages there is no table; give --only "
        "all-reduce, reduce-scatter, all-gather or broadcast");
  }
  print_warnings(model_times.warnings());
  if (request.names_operations && is_asked(plan::kMessageOperation)) {
    fmt::print(stderr, "paceline: --only message: of messages --predict has no table\n");
  }
  if (request.format == "csv") {
    fmt::print("{}", report::csv_text(csv_of(model_times, asked, request.sizes)));
    return 0;
  }
  report::Document document;
  for (const auto& [pattern, ranks] : asked) {
    document.tables.push_back(table_of(model_times, pattern, ranks, request.sizes));
  }
  fmt::print("{}", request.format == "table" ? report::console_text(document)
                                             : report::markdown_text(document));
  return 0;
}

}  // namespace paceline::cli
