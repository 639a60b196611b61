// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/same.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paceline::cases {
namespace {

using FieldPredicate = std::function<bool(const Field&)>;

bool is_any_of(const Field& field, Fields some) {
  return std::ranges::any_of(some, [&](const FieldSelector& one) { return one.has(field); });
}

bool is_same(const Field& field, const Case& a, const Case& b) {
  const bool used = field.of.part != Part::kTables || a.has_tables() || b.has_tables();
  return !used ||
         (value_of(field, a) == value_of(field, b) && is_stated(field, a) == is_stated(field, b));
}

bool is_left_out(const Field& field, const Case& c, const Value& value) {
  if (field.of.part == Part::kTables) {
    return !c.has_tables();
  }
  return field.json.form == JsonForm::kUnlessDefault && value == default_value(field);
}

std::string key_of(const Case& c, const FieldPredicate& chosen) {
  FieldTexts texts;
  std::set<std::string_view> unstated;
  for (const Field& field : fields()) {
    if (chosen(field)) {
      std::ranges::move(texts_of(field, c), std::back_inserter(texts));
      if (!is_stated(field, c)) {
        unstated.insert(field.json_name());
      }
    }
  }
  std::string key;
  for (const auto& [name, text] : texts) {
    key += fmt::format("{}{}={}", key.empty() ? "" : " ", name, text);
  }
  if (!unstated.empty()) {
    key += fmt::format(" unstated={}", fmt::join(unstated, ","));
  }
  return key;
}

}  // namespace

const Case& FieldSelector::default_case() {
  static const Case default_case;
  return default_case;
}

bool FieldSelector::has(const Field& field) const {
  if (const Part* part = std::get_if<Part>(&of_)) {
    return field.of.part == *part;
  }
  return access_of<Case>(field).address(default_case()) == std::get<const void*>(of_);
}

bool equal_except(const Case& a, const Case& b, Fields but) {
  return std::ranges::all_of(fields(), [&](const Field& field) {
    return !field.in_key || is_any_of(field, but) || is_same(field, a, b);
  });
}

bool equal_in(const Case& a, const Case& b, Fields in) {
  return std::ranges::all_of(
      fields(), [&](const Field& field) { return !is_any_of(field, in) || is_same(field, a, b); });
}

const Field* difference_in(const Case& a, const Case& b, Fields in) {
  const auto all = fields();
  const auto found = std::ranges::find_if(all, [&](const Field& field) {
    return is_any_of(field, in) && is_stated(field, a) && is_stated(field, b) &&
           value_of(field, a) != value_of(field, b);
  });
  return found == all.end() ? nullptr : &*found;
}

FieldTexts texts_of(const Field& field, const Case& c) {
  FieldTexts texts;
  const Value value = value_of(field, c);
  if (is_left_out(field, c, value)) {
    return texts;
  }
  const std::string_view name = field.name.empty() ? field.json_name() : field.name;
  if (const auto* variables = std::get_if<Variables>(&value)) {
    for (const auto& [variable, text] : *variables) {
      texts.emplace_back(fmt::format("{}.{}", name, variable), text);
    }
  } else {
    texts.emplace_back(name, text_of(value));
  }
  return texts;
}

FieldTexts texts_of(const Case& c) {
  FieldTexts texts;
  for (const Field& field : fields()) {
    if (field.in_key) {
      std::ranges::move(texts_of(field, c), std::back_inserter(texts));
    }
  }
  return texts;
}

std::string key_without(const Case& c, Fields but) {
  return key_of(c, [&](const Field& field) { return field.in_key && !is_any_of(field, but); });
}

std::string key_of_fields(const Case& c, Fields in) {
  return key_of(c, [&](const Field& field) { return is_any_of(field, in); });
}

}  // namespace paceline::cases
