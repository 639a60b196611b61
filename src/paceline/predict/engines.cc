// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/engines.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <toml++/toml.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/predict/shipped_data.h"

namespace paceline::predict {
namespace {

/// A table of data/engine_costs.toml.  A key that nothing reads is a bug.
class Entry {
 public:
  explicit Entry(const toml::table& table) : table_(table) {}

  template <class Value>
  Value value(std::string_view key, Value fallback) {
    const auto found = table_[key];
    unread_ -= found ? 1 : 0;
    return found.value_or(std::move(fallback));
  }
  plan::Picoseconds microseconds(std::string_view key) {
    return std::llround(value(key, 0.0) * 1e6);
  }
  void check_read() const { PACELINE_CHECK_EQ(unread_, 0); }

 private:
  const toml::table& table_;
  std::int64_t unread_ = std::ssize(table_);
};

EngineCosts engine_from(Entry entry) {
  EngineCosts engine{
      .name = entry.value("name", std::string()),
      .source = entry.value("source", std::string()),
      .fitted = entry.value("fitted", false),
      .costs = {.collective = entry.microseconds("collective_us"),
                .collective_per_rank =
                    entry.microseconds("collective_per_rank_us"),
                .collective_under_compute =
                    entry.microseconds("collective_under_compute_us"),
                .message = entry.microseconds("message_us"),
                .serial_collectives = entry.value("serial_collectives", true),
                .side_by_side = entry.value("side_by_side", 0)},
      .algorithm = cluster::algorithm_named(entry.value(
          "algorithm",
          std::string(cluster::name_of(cluster::Algorithm::kRing)))),
      .from_python = entry.value("launched_from_python", false),
      .module_call = entry.microseconds("module_call_us"),
      .module_call_spread = entry.value("module_call_spread", 0.0),
      .tcp_s_per_byte = entry.value("tcp_s_per_byte", 0.0),
      .device_share = entry.value("device_share", 1.0),
      .under_compute = entry.value("under_compute", 0.0),
      .published = entry.value("published", false),
      .tcp_copies = entry.value("tcp_copies", false),
      .most_ranks = entry.value("most_ranks", 0)};
  entry.check_read();
  return engine;
}

OptimizerCosts optimizer_from(Entry entry) {
  OptimizerCosts optimizer{
      .name = entry.value("name", std::string()),
      .source = entry.value("source", std::string()),
      .fitted = entry.value("fitted", false),
      .launch_per_tensor = entry.microseconds("launch_per_tensor_us"),
      .passes = entry.value("passes", 1.0)};
  entry.check_read();
  return optimizer;
}

RooflineCosts roofline_from(Entry entry) {
  entry.value("source", std::string());
  entry.value("fitted", false);
  const RooflineCosts costs{
      .copy_share = entry.value("copy_share", 1.0),
      .product_share = entry.value("product_share", 1.0),
      .backward_per_forward = entry.value("backward_per_forward", 1.0),
      .winograd_speedup = entry.value("winograd_speedup", 1.0),
      .strided_slowdown = entry.value("strided_slowdown", 1.0)};
  entry.check_read();
  return costs;
}

struct CostFile {
  std::vector<EngineCosts> engines;
  std::vector<OptimizerCosts> optimizers;
  RooflineCosts roofline;
};

CostFile read(const toml::table& file) {
  CostFile costs{
      .engines = {},
      .optimizers = {},
      .roofline = roofline_from(Entry(*file["roofline"].as_table()))};
  for (const toml::node& row : *file["engines"].as_array()) {
    costs.engines.push_back(engine_from(Entry(*row.as_table())));
  }
  for (const toml::node& row : *file["optimizers"].as_array()) {
    costs.optimizers.push_back(optimizer_from(Entry(*row.as_table())));
  }
  return costs;
}

const CostFile& shipped_costs() {
  static const CostFile costs = read(toml::parse(shipped::kEngineCosts));
  return costs;
}

}  // namespace

std::span<const EngineCosts> engine_costs() {
  return shipped_costs().engines;
}

const EngineCosts& engine_costs_named(std::string_view name) {
  const auto rows = engine_costs();
  const auto found = std::ranges::find(rows, name, &EngineCosts::name);
  if (found == rows.end()) {
    std::vector<std::string> known;
    for (const EngineCosts& engine : rows) {
      known.push_back(engine.name);
    }
    throw UsageError(unknown_name("engine", name, known));
  }
  return *found;
}

OptimizerCosts optimizer_costs_named(std::string_view name) {
  const auto& rows = shipped_costs().optimizers;
  const auto found = std::ranges::find(rows, name, &OptimizerCosts::name);
  return found == rows.end()
             ? OptimizerCosts{.name = std::string(name), .source = ""}
             : *found;
}

const RooflineCosts& roofline_costs() {
  return shipped_costs().roofline;
}

}  // namespace paceline::predict
