// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "paceline/report/table.h"
#include "paceline/stats/interval.h"

// Lists of named values, from which the JSON and the CSV form of a case are made.

namespace paceline::report {

using Json = nlohmann::ordered_json;

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

/// Returns null for a number that is not finite, since JSON has no infinity.
inline Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

/// The keys of an estimate: its value, both ends of its interval, and whether the interval holds
/// for any run ("runs") or only for the measured ones ("these runs").
struct EstimateKeys {
  std::string value, low, high, basis;

  /// "step_median" and "_s" give the keys step_median_s, step_median_low_s, step_median_high_s and
  /// step_median_interval_of.
  static EstimateKeys of(const std::string& stem, const std::string& unit) {
    return {stem + unit, stem + "_low" + unit, stem + "_high" + unit, stem + "_interval_of"};
  }
};

/// One value of a `T`: its key, which includes the unit, and a function that gives the value or
/// null.
template <class T>
struct Field {
  std::string name;
  std::function<Json(const T&)> value;
};

/// The list of fields of a `T`, from which JSON objects and CSV tables are made. CSV columns are in
/// the order of the list.
template <class T>
class Fields {
 public:
  /// Adds the value that a path of members and functions leads to: the first is applied to a `T`,
  /// each further one to the result before.  The value is null if an optional on the path is empty.
  template <class... Path>
  Fields& add(std::string name, Path... path) {
    fields_.push_back({std::move(name), [path...](const T& one) { return json_at(one, path...); }});
    return *this;
  }

  /// Adds the four fields of an estimate: its value, both ends of its interval, and what the
  /// interval holds for. `get` is a member or a function that returns the estimate.
  template <class Get>
  Fields& add_estimate(const EstimateKeys& keys, Get get) {
    using stats::Estimate;
    add(keys.value, get, &Estimate::value);
    add(keys.low, get, &Estimate::interval, &stats::Interval::low);
    add(keys.high, get, &Estimate::interval, &stats::Interval::high);
    add(keys.basis, get, [](const Estimate& e) {
      const bool runs = e.basis == stats::IntervalBasis::kRuns;
      return e.interval ? Json(runs ? "runs" : "these runs") : Json();
    });
    return *this;
  }

  Fields& append(const Fields& more) {
    fields_.insert(fields_.end(), more.begin(), more.end());
    return *this;
  }

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  std::size_t size() const { return fields_.size(); }

  Json object(const T& one) const {
    Json object;
    for (const Field<T>& field : fields_) {
      object[field.name] = field.value(one);
    }
    return object;
  }

  /// Returns an array with an object for each element of `all`.
  Json array(std::span<const T> all) const {
    Json objects = Json::array();
    for (const T& one : all) {
      objects.push_back(object(one));
    }
    return objects;
  }

  /// Returns a table with a column for each field and a row for each element of `all`.
  Table table(std::span<const T> all = {}) const {
    Table table;
    for (const Field<T>& field : fields_) {
      table.columns.push_back({.name = field.name});
    }
    for (const T& one : all) {
      table.rows.push_back(row(one));
    }
    return table;
  }

  TableRow row(const T& one) const {
    TableRow row;
    for (const Field<T>& field : fields_) {
      row.cells.push_back(csv_value(field.value(one)));
    }
    return row;
  }

 private:
  template <class Value>
  static Json json_at(const Value& value) {
    return value;
  }
  template <class Value, class Next, class... Path>
  static Json json_at(const Value& value, Next next, Path... path) {
    return json_at(std::invoke(next, value), path...);
  }
  template <class Value>
  static Json json_at(const std::optional<Value>& value) {
    return or_null(value);
  }
  template <class Value, class Next, class... Path>
  static Json json_at(const std::optional<Value>& value, Next next, Path... path) {
    return value ? json_at(*value, next, path...) : Json();
  }

  /// Returns a value of a field as the text of a CSV cell; empty for null.
  static std::string csv_value(const Json& value) {
    if (value.is_null()) {
      return "";
    }
    return value.is_string() ? value.get<std::string>() : value.dump();
  }

  std::vector<Field<T>> fields_;
};

/// Returns `json` as text, in which the replacement character stands for bytes that are not UTF-8.
inline std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace paceline::report
