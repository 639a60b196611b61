// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/comm_predict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/predict/collective_error.h"
#include "paceline/predict/engine_choice.h"
#include "paceline/predict/link_calibration.h"
#include "paceline/predict/request_costs.h"
#include "paceline/records/comm_record.h"
#include "paceline/report/console.h"
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
  bool has_published_errors() const { return cluster::runs_nccl(engine_.algorithm); }

  Row row(plan::Pattern pattern, int ranks, std::int64_t bytes) const {
    const auto counts = cluster::ranks_per_host(cluster_, ranks);
    const cluster::CollectiveCall call{.pattern = pattern,
                                       .bytes = bytes,
                                       .group = {.ranks = ranks,
                                                 .hosts = static_cast<plan::Rank>(counts.size()),
                                                 .most_local = std::ranges::max(counts)}};
    if (engine_.bound) {
      return {.bytes = bytes, .seconds = predict::ideal_s(call, cluster_)};
    }
    Row row{.bytes = bytes,
            .seconds = predict::collective_s(call, model_, engine_.costs),
            .calibrated = predict::calibration_of(call, cluster_, engine_) != nullptr,
            .error = predict::error_of_collective(call, cluster_, engine_, model_)};
    const cluster::LinkFit* fit = cluster::measured_fit(call, measured_);
    if (fit != nullptr && fit->ranks == ranks && is_measured_size(call)) {
      row.measured_s = predict::collective_s(call, measured_, engine_.costs);
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
        "interval: nine of ten times are within, by the residuals of paceline calibrate; beyond "
        "the measured sizes and ranks {}\n",
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

}  // namespace

int predict_comm(const CommPredictRequest& request) {
  if (request.format != "table" && request.format != "markdown") {
    throw UsageError(
        fmt::format("--format {}: --predict prints table or markdown", request.format));
  }
  const cluster::Cluster cluster = cluster::read_cluster(request.cluster);
  const ModelledTimes model_times(cluster, request.engine);
  const std::vector<int> worlds =
      request.ranks.empty() ? std::vector<int>{cluster.slots()} : request.ranks;
  report::Document document;
  for (const plan::Pattern pattern : plan::kPatterns) {
    const bool asked =
        std::ranges::find(request.operations, plan::name_of(pattern)) != request.operations.end();
    for (const int ranks : worlds) {
      if (asked) {
        document.tables.push_back(table_of(model_times, pattern, ranks, request.sizes));
      }
    }
  }
  if (document.tables.empty()) {
    throw UsageError(
        "--predict: of messages there is no table; give --only "
        "all-reduce, reduce-scatter, all-gather or broadcast");
  }
  fmt::print("{}", request.format == "table" ? report::console_text(document)
                                             : report::markdown_text(document));
  return 0;
}

}  // namespace paceline::cli
