// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "paceline/records/run_record.h"
#include "paceline/report/table.h"
#include "paceline/stats/interval.h"

// The values that the JSON and CSV forms of a case share.

namespace paceline::report {

using Json = nlohmann::ordered_json;

/// One value of a `T`: its key with the unit; null where there is none.
template <class T>
struct Field {
  std::string name;
  std::function<Json(const T&)> value;
};

template <class T>
using Fields = std::vector<Field<T>>;

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

/// The keys of an estimate: value, both ends of its interval, and whether the
/// interval holds for any run ("runs") or for the measured ones alone ("these
/// runs").
struct EstimateKeys {
  std::string value, low, high, basis;

  /// "step_median" and "_s": step_median_s, step_median_low_s,
  /// step_median_high_s, step_median_interval_speaks_of.
  static EstimateKeys of(const std::string& stem, const std::string& unit) {
    return {stem + unit,
            stem + "_low" + unit,
            stem + "_high" + unit,
            stem + "_interval_speaks_of"};
  }
};

/// Adds the four values of the estimate that `get` returns, as a
/// std::optional<stats::Estimate>.
template <class T, class Get>
void add_estimate(Fields<T>& fields, const EstimateKeys& keys, Get get) {
  const auto add = [&](const std::string& name, auto of_estimate) {
    fields.push_back({name, [get, of_estimate](const T& one) -> Json {
                        const std::optional<stats::Estimate> e = get(one);
                        return e ? of_estimate(*e) : Json();
                      }});
  };
  add(keys.value, [](const stats::Estimate& e) -> Json { return e.value; });
  add(keys.low, [](const stats::Estimate& e) {
    return e.interval ? Json(e.interval->low) : Json();
  });
  add(keys.high, [](const stats::Estimate& e) {
    return e.interval ? Json(e.interval->high) : Json();
  });
  add(keys.basis, [](const stats::Estimate& e) {
    const bool runs = e.basis == stats::Basis::kRuns;
    return e.interval ? Json(runs ? "runs" : "these runs") : Json();
  });
}

template <class T>
Json json_object(const Fields<T>& fields, const T& one) {
  Json object;
  for (const Field<T>& field : fields) {
    object[field.name] = field.value(one);
  }
  return object;
}

/// The text of a value in a CSV field; empty for null.
inline std::string csv_value(const Json& value) {
  if (value.is_null()) {
    return "";
  }
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// A table with a column per field and no rows yet.
template <class T>
Table field_table(const Fields<T>& fields) {
  Table table;
  for (const Field<T>& field : fields) {
    table.columns.push_back({.name = field.name});
  }
  return table;
}

template <class T>
TableRow field_row(const Fields<T>& fields, const T& one) {
  TableRow row;
  for (const Field<T>& field : fields) {
    row.cells.push_back(csv_value(field.value(one)));
  }
  return row;
}

inline Json warnings_json(const std::vector<records::Warning>& warnings) {
  Json all = Json::array();
  for (const records::Warning& w : warnings) {
    all.push_back({{"code", w.code},
                   {"seen", w.seen},
                   {"why", w.why},
                   {"advice", w.advice}});
  }
  return all;
}

/// `json` as text; bytes that are not UTF-8 become the replacement character.
inline std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace paceline::report
