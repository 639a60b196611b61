// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"

// Reads the TOML of experiments, cluster files, tables of costs and adapters; every error names
// file, line and value.

namespace paceline::cluster {

inline constexpr int kMostRanks = 1 << 24;

/// Throws UsageError if `text` is not TOML.
inline toml::table parse_toml(std::string_view text, const std::string& path) {
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    throw UsageError(
        fmt::format("{}:{}: not TOML: {}", path, error.source().begin.line, error.description()));
  }
}

/// One table of a TOML file, with functions that read and check the values of its keys.
class Section {
 public:
  /// `keys`, separated by blanks, are the keys that the table may have; empty: any key.
  Section(const toml::table& table, std::string file, std::string title, std::string_view keys)
      : table_(table), file_(std::move(file)), title_(std::move(title)) {
    const std::vector<std::string> known = split_at(keys, ' ');
    for (const auto& [key, node] : table_) {
      if (!keys.empty() && std::ranges::find(known, key.str()) == known.end()) {
        throw UsageError(
            fmt::format("{}: {}", at(node),
                        unknown_name_message(fmt::format("key of {}", title_), key.str(), known)));
      }
    }
  }

  bool has(std::string_view key) const { return table_.contains(key); }

  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (const auto& [key, node] : table_) {
      all.emplace_back(key.str());
    }
    return all;
  }

  std::string text(std::string_view key, std::string fallback = "") const {
    return value<std::string>(key, "text").value_or(std::move(fallback));
  }

  std::optional<std::string> text_if_present(std::string_view key) const {
    return value<std::string>(key, "text");
  }

  /// Returns one text or a list of texts; empty if the key is missing.
  std::vector<std::string> texts(std::string_view key) const {
    const toml::node* node = table_.get(key);
    if (node != nullptr && !node->is_array()) {
      return {text(key)};
    }
    return list<std::string>(key, "must be a text or a list of texts",
                             [](const toml::node& it) { return it.value_exact<std::string>(); });
  }

  std::int64_t integer(std::string_view key, std::int64_t fallback) const {
    return value<std::int64_t>(key, "a whole number").value_or(fallback);
  }

  /// Returns a whole number from `least` to `most`.
  int integer(std::string_view key, int fallback, int least, int most) const {
    const std::int64_t given = integer(key, fallback);
    if (given < least || given > most) {
      reject(key, fmt::format("{}", given), fmt::format("must be {} to {}", least, most));
    }
    return static_cast<int>(given);
  }

  bool flag(std::string_view key, bool fallback) const {
    return value<bool>(key, "true or false").value_or(fallback);
  }

  std::optional<double> number(std::string_view key) const {
    return value<double>(key, "a number");
  }

  /// Returns one of `known`, or nothing if the key is missing.
  std::optional<std::string> one_of(std::string_view key,
                                    std::span<const std::string_view> known) const {
    auto given = text_if_present(key);
    if (given && std::ranges::find(known, *given) == known.end()) {
      reject(key, "'" + *given + "'", known_are(known));
    }
    return given;
  }

  /// Returns a number that is not negative, or nothing if the key is missing.
  std::optional<double> non_negative(std::string_view key) const {
    const auto given = number(key);
    if (given && !(*given >= 0 && std::isfinite(*given))) {
      reject(key, fmt::format("{}", *given), "must be a number, 0 or more");
    }
    return given;
  }

  /// Returns a list of numbers that are not negative; empty if the key is missing.
  std::vector<double> non_negatives(std::string_view key) const {
    return list<double>(key, "must be a list of numbers, 0 or more", [](const toml::node& it) {
      const auto number = it.value<double>();
      return number && *number >= 0 ? number : std::nullopt;
    });
  }

  /// Returns whole numbers above 0; empty if the key is missing.
  std::vector<int> counts(std::string_view key) const {
    return list<int>(key, "must be whole numbers above 0, like [4, 4]",
                     [](const toml::node& it) -> std::optional<int> {
                       const std::int64_t count = it.value_exact<std::int64_t>().value_or(0);
                       return count > 0 && count <= kMostRanks
                                  ? std::optional(static_cast<int>(count))
                                  : std::nullopt;
                     });
  }

  /// A value as a text without quotes; `at` is its location, "cluster.toml:12".
  struct UnquotedValue {
    std::string text, at;
    bool is_text = false;    // the value is a text
    bool is_scalar = false;  // the value is no list and no table
  };

  bool is_list(std::string_view key) const { return table_[key].is_array(); }

  /// Returns the value of a key that the table has, or the values of the list there.
  std::vector<UnquotedValue> unquoted_values(std::string_view key) const {
    std::vector<UnquotedValue> values;
    const auto add = [&](const toml::node& it) {
      values.push_back({it.value_exact<std::string>().value_or(text_of_node(it)), at(it),
                        it.is_string(), it.is_value()});
    };
    if (const toml::array* list = table_[key].as_array()) {
      std::ranges::for_each(*list, add);
    } else {
      add(*table_.get(key));
    }
    return values;
  }

  /// Returns the location of a key that the table has: "cluster.toml:12".
  std::string at(std::string_view key) const { return at(*table_.get(key)); }

  [[noreturn]] void reject(std::string_view key, const std::string& value,
                           const std::string& why) const {
    throw UsageError(fmt::format("{} = {}: {}", where(key), value, why));
  }

  /// Returns the location of a key for errors: "cluster.toml:12: [[links]] rate".
  std::string where(std::string_view key) const {
    const toml::node* node = table_.get(key);
    return fmt::format("{}: {} {}", node == nullptr ? at(table_) : at(*node), title_, key);
  }

  /// Calls `check`, and adds the location of the table to its UsageError.
  template <class Check>
  void locate(Check check) const {
    try {
      check();
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}", at(table_), error.what()));
    }
  }

  /// Calls `read` with each table of the array under `key`.
  template <class Read>
  void each(std::string_view key, const std::string& title, std::string_view keys,
            Read read) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) {
      return;
    }
    const toml::array* array = node->as_array();
    if (array == nullptr || (!array->empty() && !array->is_homogeneous<toml::table>())) {
      throw UsageError(fmt::format("{}: {}: write each as a table of its own", at(*node), title));
    }
    for (const toml::node& element : *array) {
      read(Section(*element.as_table(), file_, title, keys));
    }
  }

  /// Calls `read` with the table under `key`.
  template <class Read>
  void table(std::string_view key, std::string_view keys, Read read) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) {
      return;
    }
    const bool nested = title_.starts_with('[') && !title_.starts_with("[[");
    const std::string title = nested
                                  ? fmt::format("{}.{}]", title_.substr(0, title_.size() - 1), key)
                                  : fmt::format("[{}]", key);
    if (!node->is_table()) {
      throw UsageError(fmt::format("{}: write it as {}", at(*node), title));
    }
    read(Section(*node->as_table(), file_, title, keys));
  }

 private:
  /// Returns what `take` returns of each element; empty if the key is missing.
  template <class Value, class Take>
  std::vector<Value> list(std::string_view key, const std::string& expected, Take take) const {
    std::vector<Value> found;
    const toml::node* node = table_.get(key);
    if (node == nullptr) {
      return found;
    }
    const toml::array* array = node->as_array();
    for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
      if (auto value = take((*array)[i])) {
        found.push_back(*std::move(value));
      }
    }
    if (array == nullptr || found.size() != array->size()) {
      reject(key, text_of_node(*node), expected);
    }
    return found;
  }

  std::string at(const toml::node& node) const {
    return fmt::format("{}:{}", file_, node.source().begin.line);
  }

  template <class Value>
  std::optional<Value> value(std::string_view key, std::string_view expected) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) {
      return std::nullopt;
    }
    if (const auto found = node->value_exact<Value>()) {
      return *found;
    }
    if constexpr (std::is_same_v<Value, double>) {
      if (const auto whole = node->value_exact<std::int64_t>()) {
        return static_cast<double>(*whole);
      }
    }
    reject(key, text_of_node(*node), fmt::format("must be {}", expected));
  }

  static std::string text_of_node(const toml::node& node) {
    std::ostringstream text;
    node.visit([&](const auto& it) { text << it; });
    return text.str();
  }

  static std::string known_are(std::span<const std::string_view> known) {
    return fmt::format("known are {}", fmt::join(known, ", "));
  }

  const toml::table& table_;
  std::string file_, title_;
};

}  // namespace paceline::cluster
