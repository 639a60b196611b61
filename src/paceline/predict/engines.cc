// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/engines.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/cluster/toml_section.h"
#include "paceline/plan/engine_traits.h"
#include "paceline/predict/shipped_data.h"

namespace paceline::predict {
namespace {

using cluster::Section;

/// Returns a number that is at least 0.
double non_negative_number(const Section& entry, std::string_view key, double fallback) {
  const double number = entry.non_negative(key).value_or(fallback);
  if (number >= 1e12) {
    entry.reject(key, fmt::format("{}", number), "must be below 1e12");
  }
  return number;
}

plan::Picoseconds microseconds(const Section& entry, std::string_view key) {
  return plan::picoseconds_of(non_negative_number(entry, key, 0) * 1e-6);
}

cluster::Algorithm algorithm_from(const Section& entry) {
  const std::string name = entry.text("algorithm", "ring");
  try {
    return cluster::algorithm_named(name);
  } catch (const UsageError& error) {
    entry.reject("algorithm", "'" + name + "'", error.what());
  }
}

EngineCosts engine_from(const Section& entry) {
  const std::string name = entry.text("name");
  // The plan traits are those of the engine that the program runs, which `version_of` may name.
  const std::string version_of = entry.text("version_of");
  const plan::EngineTraits* traits =
      plan::find_engine_traits(version_of.empty() ? name : version_of);
  const std::int32_t at_once = traits != nullptr ? traits->concurrent_collectives : 1;
  return {.name = name,
          .source = entry.text("source"),
          .version_of = version_of,
          .costs = {.issue = microseconds(entry, "issue_us"),
                    .collective = microseconds(entry, "collective_us"),
                    .collective_per_rank = microseconds(entry, "collective_per_rank_us"),
                    .collective_under_compute = microseconds(entry, "collective_under_compute_us"),
                    .message = microseconds(entry, "message_us"),
                    .concurrent_collectives =
                        entry.integer("concurrent_collectives", at_once, 0, cluster::kMostRanks),
                    .one_issue_order = traits != nullptr && traits->one_issue_order,
                    .kernels_on_device = entry.flag("kernels_on_device", false)},
          .algorithm = algorithm_from(entry),
          .is_launched_from_python = entry.flag("launched_from_python", false),
          .module_call = microseconds(entry, "module_call_us"),
          .module_call_spread = non_negative_number(entry, "module_call_spread", 0.0),
          .tcp_s_per_byte = non_negative_number(entry, "tcp_s_per_byte", 0.0),
          .device_share = non_negative_number(entry, "device_share", 1.0),
          .under_compute = non_negative_number(entry, "under_compute", 0.0),
          .published = entry.flag("published", false),
          .bound = entry.flag("bound", false),
          .tcp_copies = entry.flag("tcp_copies", false),
          .most_ranks = entry.integer("most_ranks", 0, 0, cluster::kMostRanks)};
}

OptimizerCosts optimizer_from(const Section& entry) {
  return {.name = entry.text("name"),
          .launch_per_tensor = microseconds(entry, "launch_per_tensor_us"),
          .passes = non_negative_number(entry, "passes", 1.0),
          .fused_passes = non_negative_number(entry, "fused_passes", 1.0)};
}

RooflineCosts roofline_from(const Section& entry) {
  return {.copy_share = non_negative_number(entry, "copy_share", 1.0),
          .product_share = non_negative_number(entry, "product_share", 1.0),
          .backward_per_forward = non_negative_number(entry, "backward_per_forward", 1.0),
          .winograd_speedup = non_negative_number(entry, "winograd_speedup", 1.0),
          .strided_slowdown = non_negative_number(entry, "strided_slowdown", 1.0)};
}

CostTable costs_from(std::string_view text, const std::string& path) {
  const toml::table parsed = cluster::parse_toml(text, path);
  const Section file(parsed, path, "a file of costs", "engines optimizers roofline");
  for (const char* name : {"engines", "optimizers", "roofline"}) {
    if (!file.has(name)) {
      throw UsageError(fmt::format(
          "{}: has no {}; needs [[engines]], [[optimizers]] and [roofline]", path, name));
    }
  }
  CostTable costs;
  file.each("engines", "[[engines]]",
            "name version_of source fitted issue_us collective_us collective_per_rank_us "
            "kernels_on_device collective_under_compute_us message_us concurrent_collectives "
            "algorithm launched_from_python module_call_us module_call_spread tcp_s_per_byte "
            "device_share under_compute published bound tcp_copies most_ranks",
            [&](const Section& entry) { costs.engines.push_back(engine_from(entry)); });
  file.each("optimizers", "[[optimizers]]",
            "name source fitted launch_per_tensor_us passes fused_passes",
            [&](const Section& entry) { costs.optimizers.push_back(optimizer_from(entry)); });
  file.table("roofline",
             "source fitted copy_share product_share backward_per_forward winograd_speedup "
             "strided_slowdown",
             [&](const Section& entry) { costs.roofline = roofline_from(entry); });
  return costs;
}

}  // namespace

const EngineCosts& CostTable::engine(std::string_view name) const {
  const auto found = std::ranges::find(engines, name, &EngineCosts::name);
  if (found == engines.end()) {
    std::vector<std::string> known;
    for (const EngineCosts& engine : engines) {
      known.push_back(engine.name);
    }
    throw UsageError(unknown_name_message("engine", name, known));
  }
  return *found;
}

OptimizerCosts CostTable::optimizer(std::string_view name) const {
  const auto found = std::ranges::find(optimizers, name, &OptimizerCosts::name);
  return found == optimizers.end() ? OptimizerCosts{.name = std::string(name)} : *found;
}

const CostTable& shipped_costs() {
  static const CostTable costs = costs_from(shipped::kEngineCosts, "data/engine_costs.toml");
  return costs;
}

CostTable read_costs(const std::string& path) {
  const std::string text = read_text(path);
  CostTable costs = costs_from(text, path);
  costs.text = text;
  return costs;
}

const EngineCosts& engine_costs_named(std::string_view name) {
  return shipped_costs().engine(name);
}

}  // namespace paceline::predict
