// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/engines.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/plan/engine_traits.h"
#include "paceline/predict/shipped_data.h"

namespace paceline::predict {
namespace {

/// A table of a file of costs.  What is read is counted, so that a key that
/// nothing reads is refused.
class Entry {
 public:
  Entry(const toml::node* node, std::string_view name) {
    table_ = node == nullptr ? nullptr : node->as_table();
    if (table_ == nullptr) {
      throw UsageError(fmt::format("has no table [{}]", name));
    }
  }

  template <class Value>
  Value value(std::string_view key, Value fallback) {
    known_.emplace_back(key);
    const toml::node* found = table_->get(key);
    if (found == nullptr) {
      return fallback;
    }
    const std::optional<Value> value = found->value<Value>();
    if (!value) {
      throw UsageError(fmt::format("{}: is of another type", key));
    }
    return *value;
  }
  plan::Picoseconds microseconds(std::string_view key) {
    return plan::picoseconds_of(at_least_0(key, 0) * 1e-6);
  }
  /// A number from 0 on.
  double at_least_0(std::string_view key, double fallback) {
    const double number = value(key, fallback);
    if (!(number >= 0 && number < 1e12)) {
      throw UsageError(
          fmt::format("{} = {}: must be from 0 to 1e12", key, number));
    }
    return number;
  }
  void refuse_unknown() const {
    for (const auto& [key, value] : *table_) {
      if (std::ranges::find(known_, key.str()) == known_.end()) {
        throw UsageError(unknown_name("key", key.str(), known_));
      }
    }
  }

 private:
  const toml::table* table_;
  std::vector<std::string> known_;
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
                .concurrent_collectives =
                    entry.value("concurrent_collectives", 0)},
      .algorithm = cluster::algorithm_named(entry.value(
          "algorithm",
          std::string(cluster::name_of(cluster::Algorithm::kRing)))),
      .from_python = entry.value("launched_from_python", false),
      .module_call = entry.microseconds("module_call_us"),
      .module_call_spread = entry.at_least_0("module_call_spread", 0.0),
      .tcp_s_per_byte = entry.at_least_0("tcp_s_per_byte", 0.0),
      .device_share = entry.at_least_0("device_share", 1.0),
      .under_compute = entry.at_least_0("under_compute", 0.0),
      .published = entry.value("published", false),
      .tcp_copies = entry.value("tcp_copies", false),
      .most_ranks = entry.value("most_ranks", 0)};
  entry.refuse_unknown();
  const plan::EngineTraits* traits = plan::find_engine_traits(engine.name);
  engine.costs.one_issue_order = traits != nullptr && traits->one_issue_order;
  return engine;
}

OptimizerCosts optimizer_from(Entry entry) {
  OptimizerCosts optimizer{
      .name = entry.value("name", std::string()),
      .source = entry.value("source", std::string()),
      .fitted = entry.value("fitted", false),
      .launch_per_tensor = entry.microseconds("launch_per_tensor_us"),
      .passes = entry.at_least_0("passes", 1.0)};
  entry.refuse_unknown();
  return optimizer;
}

RooflineCosts roofline_from(Entry entry) {
  entry.value("source", std::string());
  entry.value("fitted", false);
  const RooflineCosts costs{
      .copy_share = entry.at_least_0("copy_share", 1.0),
      .product_share = entry.at_least_0("product_share", 1.0),
      .backward_per_forward = entry.at_least_0("backward_per_forward", 1.0),
      .winograd_speedup = entry.at_least_0("winograd_speedup", 1.0),
      .strided_slowdown = entry.at_least_0("strided_slowdown", 1.0)};
  entry.refuse_unknown();
  return costs;
}

template <class Row>
std::vector<Row> rows_of(const toml::table& file,
                         std::string_view name,
                         Row (*row_from)(Entry)) {
  const toml::array* rows = file[name].as_array();
  if (rows == nullptr) {
    throw UsageError(fmt::format("has no table [[{}]]", name));
  }
  std::vector<Row> out;
  for (const toml::node& row : *rows) {
    out.push_back(row_from(Entry(&row, name)));
  }
  return out;
}

CostTable costs_from(const toml::table& file) {
  return {.engines = rows_of(file, "engines", engine_from),
          .optimizers = rows_of(file, "optimizers", optimizer_from),
          .roofline = roofline_from(Entry(file.get("roofline"), "roofline"))};
}

}  // namespace

const EngineCosts& CostTable::engine(std::string_view name) const {
  const auto found = std::ranges::find(engines, name, &EngineCosts::name);
  if (found == engines.end()) {
    std::vector<std::string> known;
    for (const EngineCosts& engine : engines) {
      known.push_back(engine.name);
    }
    throw UsageError(unknown_name("engine", name, known));
  }
  return *found;
}

OptimizerCosts CostTable::optimizer(std::string_view name) const {
  const auto found = std::ranges::find(optimizers, name, &OptimizerCosts::name);
  return found == optimizers.end()
             ? OptimizerCosts{.name = std::string(name), .source = ""}
             : *found;
}

const CostTable& shipped_costs() {
  static const CostTable costs = costs_from(toml::parse(shipped::kEngineCosts));
  return costs;
}

CostTable read_costs(const std::string& path) {
  const std::string text = read_text(path);
  try {
    CostTable costs = costs_from(toml::parse(text, path));
    costs.text = text;
    return costs;
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}:{}: not TOML: {}",
                                 path,
                                 error.source().begin.line,
                                 error.description()));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", path, error.what()));
  }
}

const EngineCosts& engine_costs_named(std::string_view name) {
  return shipped_costs().engine(name);
}

}  // namespace paceline::predict
