// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "paceline/cluster/toml_section.h"

// Note [One description of a part]
// A function fields(visitor, part) names every key of a part of a cluster file once, with its
// member and its format.  ReadVisitor reads the part from a table, WriteVisitor writes it, and
// KeyVisitor lists the keys that its table may have.  read() of a format sets the member to the
// value of a key; the member stays as it is if the key is missing.  write() of a format adds the
// key and its value to a table.

namespace paceline::cluster {

struct Text {
  static void read(const Section& section, std::string_view key, std::string& to) {
    to = section.text(key, std::move(to));
  }
  static void write(toml::table& table, std::string_view key, const std::string& value) {
    if (!value.empty()) {
      table.insert(key, value);
    }
  }
};

/// One of the words of `known`.
struct OneOfText {
  std::span<const std::string_view> known;
  bool required = false;

  void read(const Section& section, std::string_view key, std::string& to) const {
    to = section.one_of(key, known).value_or("");
    if (required && to.empty()) {
      section.reject(key, "''", "is missing");
    }
  }
  static void write(toml::table& table, std::string_view key, const std::string& value) {
    Text::write(table, key, value);
  }
};

/// The words for the values of a type; the first is the default.
template <class Value, std::size_t kCount>
struct Words {
  std::array<std::string_view, kCount> names;
  std::array<Value, kCount> values;

  std::string_view word_of(Value value) const {
    return names[static_cast<std::size_t>(std::ranges::find(values, value) - values.begin())];
  }
  void read(const Section& section, std::string_view key, Value& to) const {
    const std::string word = section.one_of(key, names).value_or(std::string(names.front()));
    to = values[static_cast<std::size_t>(std::ranges::find(names, word) - names.begin())];
  }
  void write(toml::table& table, std::string_view key, Value value) const {
    table.insert(key, word_of(value));
  }
};

/// A number with a unit.
template <class Number>
struct Quantity {
  Number (*parse)(std::string_view what, std::string_view text);
  std::string_view unit;  // of the values that are written

  void read(const Section& section, std::string_view key, Number& to) const {
    if (const auto text = section.text_if_present(key)) {
      to = parse(section.where(key), *text);
    }
  }
  void write(toml::table& table, std::string_view key, Number value) const {
    table.insert(key, fmt::format("{}{}", value, unit));
  }
};

/// A number from `least`, or above it, to `most`.
template <class Value>
struct Number {
  Value least;
  Value most = std::numeric_limits<Value>::max();
  bool is_above = false;         // whether `least` itself is too little
  std::optional<Value> usual{};  // a value that is not written

  void read(const Section& section, std::string_view key, Value& to) const {
    if (!section.has(key)) {
      return;
    }
    const auto given = [&] {
      if constexpr (std::is_floating_point_v<Value>) {
        return *section.number(key);
      } else {
        return section.integer(key, 0);
      }
    }();
    if (!(given >= least && given <= most) || (is_above && given == least)) {
      const bool bounded = most < std::numeric_limits<Value>::max();
      section.reject(key, fmt::format("{}", given),
                     is_above  ? fmt::format("must be above {} and at most {}", least, most)
                     : bounded ? fmt::format("must be {} to {}", least, most)
                               : fmt::format("must be a number, {} or more", least));
    }
    to = static_cast<Value>(given);
  }
  void write(toml::table& table, std::string_view key, Value value) const {
    if (value != usual) {
      table.insert(key, value);
    }
  }
};

/// A list of whole numbers above 0.
struct Counts {
  static void read(const Section& section, std::string_view key, std::vector<int>& to) {
    to = section.counts(key);
  }
  static void write(toml::table& table, std::string_view key, const std::vector<int>& values) {
    toml::array array;
    for (const int value : values) {
      array.push_back(value);
    }
    if (!array.empty()) {
      table.insert(key, std::move(array));
    }
  }
};

struct KeyVisitor {
  std::string keys;  // separated by blanks

  void operator()(std::string_view key, const auto& /*member*/, const auto& /*format*/) {
    keys += fmt::format("{}{}", keys.empty() ? "" : " ", key);
  }
  void each(std::string_view key, std::string_view /*title*/, const auto& parts, auto /*check*/) {
    (*this)(key, parts, 0);
  }
  void table(std::string_view key, const auto& part, auto /*check*/) { (*this)(key, part, 0); }
};

/// The keys of the table of a part.
template <class Part>
std::string keys_of(Part part = {}) {
  KeyVisitor visitor;
  fields(visitor, part);
  return visitor.keys;
}

struct ReadVisitor {
  const Section& section;

  template <class Value>
  void operator()(std::string_view key, Value& to, const auto& format) {
    format.read(section, key, to);
  }
  template <class Value>
  void operator()(std::string_view key, std::optional<Value>& to, const auto& format) {
    if (section.has(key)) {
      format.read(section, key, to.emplace());
    }
  }
  /// Reads an array of tables.  `check` is called after each table; its errors name the line.
  template <class Part>
  void each(std::string_view key, std::string_view title, std::vector<Part>& to, auto check) {
    section.each(key, std::string(title), keys_of<Part>(),
                 [&](const Section& one) { read_part(one, to.emplace_back(), check); });
  }
  template <class Part>
  void table(std::string_view key, Part& to, auto check) {
    section.table(key, keys_of<Part>(), [&](const Section& one) { read_part(one, to, check); });
  }
  template <class Part>
  void table(std::string_view key, std::optional<Part>& to, auto check) {
    section.table(key, keys_of<Part>(),
                  [&](const Section& one) { read_part(one, to.emplace(), check); });
  }

 private:
  template <class Part>
  static void read_part(const Section& one, Part& to, auto check) {
    ReadVisitor visitor{one};
    fields(visitor, to);
    one.locate(check);
  }
};

struct WriteVisitor {
  toml::table written{};

  template <class Value>
  void operator()(std::string_view key, const Value& value, const auto& format) {
    format.write(written, key, value);
  }
  template <class Value>
  void operator()(std::string_view key, const std::optional<Value>& value, const auto& format) {
    if (value) {
      format.write(written, key, *value);
    }
  }
  template <class Part>
  void each(std::string_view key, std::string_view /*title*/, std::vector<Part>& parts,
            auto /*check*/) {
    toml::array array;
    for (Part& part : parts) {
      array.push_back(table_of(part));
    }
    if (!array.empty()) {
      written.insert(key, std::move(array));
    }
  }
  template <class Part>
  void table(std::string_view key, Part& part, auto /*check*/) {
    if (toml::table filled = table_of(part); !filled.empty()) {
      written.insert(key, std::move(filled));
    }
  }
  template <class Part>
  void table(std::string_view key, std::optional<Part>& part, auto check) {
    if (part) {
      table(key, *part, check);
    }
  }

 private:
  template <class Part>
  static toml::table table_of(Part& part) {
    WriteVisitor visitor;
    fields(visitor, part);
    return std::move(visitor.written);
  }
};

}  // namespace paceline::cluster
