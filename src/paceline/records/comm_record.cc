// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/comm_record.h"

#include <algorithm>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/stats/quantile.h"

namespace paceline::records {
namespace {

double per_second(double bytes, double ns) { return ns > 0 ? bytes / (ns * 1e-9) : 0; }

}  // namespace

bool CommRecord::has_wrong_values() const {
  return wrong_elements.value_or(0) > 0 || (in_place && in_place->wrong_elements.value_or(0) > 0) ||
         std::ranges::any_of(warnings, is_of_wrong_values);
}

double CommRecord::quantile_ns(double p) const {
  PACELINE_CHECK(!iteration_ns.empty());
  return stats::quantile(std::vector<double>(iteration_ns.begin(), iteration_ns.end()), p);
}

double CommRecord::algorithm_bandwidth() const {
  return per_second(static_cast<double>(bytes), median_ns());
}

double CommRecord::bus_bandwidth() const {
  return algorithm_bandwidth() * bus_factor(operation, ranks);
}

double CommRecord::wire_bandwidth() const {
  return per_second(static_cast<double>(wire_bytes), median_ns());
}

std::optional<double> CommRecord::line_rate_fraction() const {
  if (line_bytes_per_s <= 0) {
    return std::nullopt;
  }
  return wire_bandwidth() / line_bytes_per_s;
}

double bus_factor(std::string_view operation, int ranks) {
  const double n = ranks;
  if (operation == "all-reduce") {
    return 2 * (n - 1) / n;
  }
  if (operation == "reduce-scatter" || operation == "all-gather") {
    return (n - 1) / n;
  }
  return 1;
}

nlohmann::ordered_json duration_json(const CommRecord& record) {
  nlohmann::ordered_json json;
  json["min"] = record.quantile_ns(0);
  for (const int percent : {10, 50, 90, 99}) {
    json[fmt::format("p{}", percent)] = record.quantile_ns(percent / 100.0);
  }
  json["max"] = record.quantile_ns(1);
  return json;
}

nlohmann::ordered_json bandwidths_json(const CommRecord& record) {
  const auto if_known = [](bool known, double value) {
    return known ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
  };
  const bool known = record.has_bandwidth();
  const auto fraction = record.line_rate_fraction();
  return {{"algorithm", if_known(known, record.algorithm_bandwidth())},
          {"bus", if_known(known, record.bus_bandwidth())},
          {"wire", if_known(known, record.wire_bandwidth())},
          {"line", if_known(record.line_bytes_per_s != 0, record.line_bytes_per_s)},
          {"wire_share_of_line", if_known(fraction.has_value(), fraction.value_or(0))}};
}

}  // namespace paceline::records
