// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/comm_predict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/cli/warnings.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/predict/collective_time.h"
#include "paceline/predict/engine_choice.h"
#include "paceline/predict/request_costs.h"
#include "paceline/records/comm_record.h"
#include "paceline/report/command_output.h"
#include "paceline/report/result_column.h"

namespace paceline::cli {
namespace {

/// The modelled time of one collective. If the collective was also measured, its measured time
/// stands beside it.
struct Row {
  plan::Pattern pattern{};
  int ranks = 0;
  std::string engine;
  std::int64_t bytes = 0;
  double seconds = 0;
  bool calibrated = false;
  std::optional<double> error{};       // absolute error of the logarithm of `seconds`
  std::optional<double> measured_s{};  // by a fit for the same number of ranks
};

bool asks_for(const CommPredictRequest& request, std::string_view operation) {
  return std::ranges::find(request.operations, operation) != request.operations.end();
}

std::string gigabytes_per_s(double bytes, double seconds) {
  return fmt::format("{:.2f}", bytes / seconds * 1e-9);
}

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
      return {.pattern = pattern,
              .ranks = ranks,
              .engine = engine_.name,
              .bytes = bytes,
              .seconds = predict::least_possible_s(call, cluster_)};
    }
    // This is the time that `paceline predict` uses for the same call.
    const double predicted_s = predict::collective_s(call, measured_, engine_.costs);
    Row row{.pattern = pattern,
            .ranks = ranks,
            .engine = engine_.name,
            .bytes = bytes,
            .seconds = predicted_s,
            .calibrated = predict::calibration_of(call, cluster_, engine_) != nullptr,
            .error = predict::error_of_collective(call, cluster_, engine_, model_)};
    const cluster::LinkFit* fit = cluster::measured_fit(call, measured_);
    if (fit != nullptr && fit->ranks == ranks && is_measured_size(call)) {
      row.seconds = predict::collective_s(call, model_, engine_.costs);
      row.measured_s = predicted_s;
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

report::ResultColumns<Row> row_columns() {
  const auto measured = [](auto text_of) {
    return [text_of](const Row& row) { return row.measured_s ? text_of(row) : std::string("-"); };
  };
  const auto interval_end = [](double sign) {
    return [sign](const Row& row) {
      return row.error ? std::optional(row.seconds * std::exp(sign * *row.error)) : std::nullopt;
    };
  };
  const auto bus_bytes = [](const Row& row) {
    return static_cast<double>(row.bytes) *
           records::bus_factor(std::string(plan::name_of(row.pattern)), row.ranks);
  };
  report::ResultColumns<Row> columns;
  columns.data("operation", &Row::pattern, [](plan::Pattern it) { return plan::name_of(it); });
  columns.data("ranks", &Row::ranks);
  columns.data("engine", &Row::engine);
  columns.add({.name = "size", .unit = "B"}).data("bytes", &Row::bytes);
  columns.add({.name = "time", .unit = "us"})
      .cell([](const Row& row) { return fmt::format("{:.2f}", row.seconds * 1e6); })
      .data("seconds", &Row::seconds);
  columns.add({.name = "90 % interval", .unit = "us"})
      .cell(interval_of)
      .data("low_seconds", interval_end(-1))
      .data("high_seconds", interval_end(1));
  columns.add({.name = "algbw", .unit = "GB/s"}).cell([](const Row& row) {
    return gigabytes_per_s(static_cast<double>(row.bytes), row.seconds);
  });
  columns.add({.name = "busbw", .unit = "GB/s"}).cell([=](const Row& row) {
    return gigabytes_per_s(bus_bytes(row), row.seconds);
  });
  columns.add({.name = "measured", .unit = "us"})
      .cell(measured([](const Row& row) { return fmt::format("{:.2f}", *row.measured_s * 1e6); }))
      .data("measured_seconds", &Row::measured_s);
  columns.add({.name = "busbw", .unit = "GB/s"}).cell(measured([=](const Row& row) {
    return gigabytes_per_s(bus_bytes(row), *row.measured_s);
  }));
  columns.add({.name = "error", .unit = "%"}).cell(measured([](const Row& row) {
    return fmt::format("{:+.1f}", (row.seconds / *row.measured_s - 1) * 100);
  }));
  return columns;
}

/// Returns a table for each operation and number of ranks, and all rows in SI units.
report::CommandOutput output_of(const ModelledTimes& model_times, const CommPredictRequest& request,
                                const std::vector<int>& worlds) {
  const auto columns = row_columns();
  report::CommandOutput output;
  std::vector<Row> all;
  for (const plan::Pattern pattern : plan::kPatterns) {
    for (const int ranks :
         asks_for(request, plan::name_of(pattern)) ? worlds : std::vector<int>{}) {
      std::vector<Row> rows;
      for (const std::int64_t bytes : request.sizes) {
        rows.push_back(model_times.row(pattern, ranks, bytes));
      }
      report::Table table = columns.table(rows);
      table.title =
          fmt::format("{}, {} ranks, {}", plan::name_of(pattern), ranks, model_times.engine());
      table.legend = legend_of(model_times, !rows.empty() && rows.back().calibrated);
      output.tables.push_back(std::move(table));
      std::ranges::move(rows, std::back_inserter(all));
    }
  }
  output.csv = columns.fields().table(all);
  output.json = {{"version", 1}, {"collectives", columns.fields().array(all)}};
  return output;
}

}  // namespace

int predict_comm(const CommPredictRequest& request) {
  const cluster::Cluster cluster = cluster::read_cluster(request.cluster);
  const ModelledTimes model_times(cluster, request.engine);
  const report::CommandOutput output =
      output_of(model_times, request,
                request.ranks.empty() ? std::vector<int>{cluster.slots()} : request.ranks);
  if (output.tables.empty()) {
    throw UsageError(
        "--predict: of messages there is no table; give --only "
        "all-reduce, reduce-scatter, all-gather or broadcast");
  }
  print_warnings(model_times.warnings());
  if (request.names_operations && asks_for(request, plan::kMessageOperation)) {
    fmt::print(stderr, "paceline: --only message: of messages --predict has no table\n");
  }
  fmt::print("{}", report::render_output(request.format, output));
  return 0;
}

}  // namespace paceline::cli
