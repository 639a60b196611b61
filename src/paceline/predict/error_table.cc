// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/error_table.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "paceline/predict/shipped_data.h"

namespace paceline::predict {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ValidatedRange, device, least_bytes_per_s, most_bytes_per_s,
                                   most_ranks, engine, optimizers, messages, message_bytes_per_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FamilyErrors, family, strategies, mean_percent, p90_percent,
                                   cells, how, pair_p90_percent, pairs, pairs_of_bucket_sizes,
                                   range)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ErrorTable, source, level, families)

const ErrorTable& error_table() {
  static const auto table = nlohmann::json::parse(shipped::kErrorTable).get<ErrorTable>();
  return table;
}

const FamilyErrors* family_of(const strategies::StrategySpec& strategy) {
  const auto& families = error_table().families;
  const auto found = std::ranges::find_if(families, [&](const FamilyErrors& family) {
    return std::ranges::any_of(family.strategies,
                               [&](const std::string& parts) { return strategy.has(parts); });
  });
  return found == families.end() ? nullptr : &*found;
}

const FamilyErrors& largest_errors() {
  return *std::ranges::max_element(error_table().families, {}, &FamilyErrors::p90_percent);
}

}  // namespace paceline::predict
