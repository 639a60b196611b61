// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/comm_record.h"

#include <algorithm>

#include "paceline/base/error.h"
#include "paceline/base/json_place.h"
#include "paceline/records/json.h"
#include "paceline/stats/quantile.h"

namespace paceline::records {
namespace {

double per_second(double bytes, double ns) { return ns > 0 ? bytes / (ns * 1e-9) : 0; }

// Returns null for 0 and for an empty text, which mean "not known".
template <class Value>
Json or_null(const Value& value) {
  return value == Value{} ? Json(nullptr) : Json(value);
}

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <class Value>
std::optional<Value> unless_null(const nlohmann::json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<Value>());
}

Json duration_of(const CommRecord& record) {
  Json json;
  json["min"] = record.quantile_ns(0);
  for (const int percent : {10, 50, 90, 99}) {
    json[fmt::format("p{}", percent)] = record.quantile_ns(percent / 100.0);
  }
  json["max"] = record.quantile_ns(1);
  return json;
}

Json bandwidth_of(const CommRecord& record) {
  Json json;
  const bool known = record.has_bandwidth();
  json["algorithm"] = known ? Json(record.algorithm_bandwidth()) : Json();
  json["bus"] = known ? Json(record.bus_bandwidth()) : Json();
  json["wire"] = known ? Json(record.wire_bandwidth()) : Json();
  json["line"] = or_null(record.line_bytes_per_s);
  json["wire_share_of_line"] = or_null(record.line_rate_fraction());
  return json;
}

Json in_place_json(const std::optional<InPlace>& in_place) {
  return in_place ? Json{{"iteration_ns", in_place->iteration_ns},
                         {"wrong_elements", or_null(in_place->wrong_elements)}}
                  : Json();
}

std::optional<InPlace> in_place_from(const nlohmann::json& json) {
  if (json.is_null()) {
    return std::nullopt;
  }
  return InPlace{.iteration_ns = json.at("iteration_ns"),
                 .wrong_elements = unless_null<std::int64_t>(json.at("wrong_elements"))};
}

Environment environment_in(const nlohmann::json& json) {
  return json.is_null() ? Environment{} : environment_from(json);
}

template <class Value>
Value known_value(const nlohmann::json& json) {
  return json.is_null() ? Value{} : json.get<Value>();
}

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

Json to_json(const CommRecord& record, const Environment& environment) {
  Json json;
  json["kind"] = "comm";
  json["version"] = CommRecord::kVersion;
  json["started_at"] = or_null(record.started_at);
  json["operation"] = record.operation;
  json["op"] = or_null(record.op);
  json["root"] = or_null(record.root);
  json["bytes"] = record.bytes;
  json["ranks"] = record.ranks;
  json["ranks_per_host"] = or_null(record.ranks_per_host);
  json["engine"] = record.engine;
  json["device"] = record.device;
  json["dtype"] = record.dtype;
  json["interface"] = or_null(record.interface);
  json["link"] = or_null(record.link);
  json["warmup"] = or_null(record.warmup);
  json["iterations"] = record.iteration_ns.size();
  json["iteration_ns"] = record.iteration_ns;
  json["place"] = or_null(record.place);
  json["clock"] = or_null(record.clock);
  json["mean_of"] = or_null(record.mean_of);
  json["formula"] = or_null(record.formula);
  json["duration_ns"] = duration_of(record);
  json["wire_bytes"] = record.wire_bytes;
  json["bytes_per_s"] = bandwidth_of(record);
  json["wrong_elements"] = or_null(record.wrong_elements);
  json["in_place"] = in_place_json(record.in_place);
  json["link_slack_ns"] = or_null(record.link_slack_ns);
  json["valid"] = or_null(record.valid);
  json["warnings"] = to_json(record.warnings);
  json["environment"] = to_json(environment);
  return json;
}

namespace {

CommRecord record_from(const nlohmann::json& json) {
  CommRecord record{.started_at = known_value<std::string>(json.at("started_at")),
                    .operation = json.at("operation"),
                    .bytes = json.at("bytes"),
                    .ranks = json.at("ranks"),
                    .ranks_per_host = known_value<std::vector<int>>(json.at("ranks_per_host")),
                    .op = known_value<std::string>(json.value("op", nlohmann::json())),
                    .root = unless_null<int>(json.value("root", nlohmann::json())),
                    .engine = json.at("engine"),
                    .device = json.at("device"),
                    .dtype = json.at("dtype"),
                    .interface = known_value<std::string>(json.at("interface")),
                    .link = known_value<std::string>(json.at("link")),
                    .warmup = unless_null<int>(json.at("warmup")),
                    .iteration_ns = json.at("iteration_ns"),
                    .place = known_value<std::string>(json.value("place", nlohmann::json())),
                    .clock = known_value<std::string>(json.value("clock", nlohmann::json())),
                    .mean_of = known_value<int>(json.value("mean_of", nlohmann::json())),
                    .formula = known_value<std::string>(json.value("formula", nlohmann::json())),
                    .wire_bytes = json.at("wire_bytes"),
                    .line_bytes_per_s = known_value<double>(json.at("bytes_per_s").at("line")),
                    .wrong_elements = unless_null<std::int64_t>(json.at("wrong_elements")),
                    .in_place = in_place_from(json.value("in_place", nlohmann::json())),
                    .link_slack_ns = unless_null<std::int64_t>(json.at("link_slack_ns")),
                    .valid = unless_null<bool>(json.at("valid")),
                    .warnings = {},
                    .environment = environment_in(json.value("environment", nlohmann::json()))};
  for (const nlohmann::json& warning : json.at("warnings")) {
    record.warnings.push_back({.code = warning.at("code"),
                               .seen = warning.at("seen"),
                               .why = warning.at("why"),
                               .advice = warning.at("advice")});
  }
  return record;
}

}  // namespace

CommRecord comm_record_from(const nlohmann::json& json) {
  if (!json.is_object() || json.value("kind", nlohmann::json()) != "comm" ||
      json.value("version", nlohmann::json()) != CommRecord::kVersion) {
    throw UsageError(fmt::format("must be a record of an operation (kind 'comm', version {})",
                                 CommRecord::kVersion));
  }
  try {
    return record_from(json);
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(error.what());
  }
}

CommRecord comm_record_from_line(std::string_view line) {
  return comm_record_from(parse_json(line));
}

}  // namespace paceline::records
