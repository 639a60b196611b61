// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/field.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/base/text.h"

namespace paceline::cases {
namespace {

// Variables that Paceline sets for each rank and that a case cannot change.
constexpr auto kReservedVariables =
    std::to_array<std::string_view>({"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR",
                                     "MASTER_PORT", "OMP_NUM_THREADS", "PACELINE_CASE"});

bool in_range(const Field& key, double value) {
  return std::isfinite(value) && value >= key.minimum && value <= key.maximum;
}

[[noreturn]] void reject(const Field& key, const std::string& text, const std::string& where) {
  std::string sentence = fmt::format("{}: '{}' is not {}", where, text, allowed_text(key));
  const std::vector<std::string> allowed(key.allowed.begin(), key.allowed.end());
  if (const auto near = nearest_name(text, allowed)) {
    sentence += fmt::format("; did you mean '{}'?", *near);
  }
  throw UsageError(sentence);
}

template <class Number>
Number parse_numeric(const Field& key, const std::string& text, const std::string& where) {
  const auto value = number_from<Number>(text);
  const bool digits =
      !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (!value && digits) {
    throw UsageError(fmt::format("{}: '{}' is more than {}, the most there can be", where, text,
                                 std::numeric_limits<Number>::max()));
  }
  if (!value || !in_range(key, static_cast<double>(*value))) {
    reject(key, text, where);
  }
  return *value;
}

std::vector<int> parse_counts(const Field& key, const std::string& text, const std::string& where) {
  std::vector<int> result;
  if (text.empty()) {
    return result;
  }
  for (const std::string& part : split_at(text, '+')) {
    const auto value = number_from<int>(part);
    if (!value || !in_range(key, *value)) {
      reject(key, text, where);
    }
    result.push_back(*value);
  }
  return result;
}

/// Visitor that parses a text as the type of the variant's alternative that it visits.
struct TextParser {
  const Field& key;
  const std::string& text;
  const std::string& where;

  Value operator()(const std::string& /*usual*/) const {
    const bool is_default = text.empty() && default_text(key).empty();
    if (!key.allowed.empty() && !is_default &&
        std::ranges::find(key.allowed, text) == key.allowed.end()) {
      reject(key, text, where);
    }
    return text;
  }
  Value operator()(bool /*usual*/) const {
    if (text != "true" && text != "false") {
      reject(key, text, where);
    }
    return text == "true";
  }
  Value operator()(const std::vector<int>& /*usual*/) const {
    return parse_counts(key, text, where);
  }
  Value operator()(const Variables& /*usual*/) const { return variables_from(text, where); }
  template <class Number>
  Value operator()(Number /*usual*/) const {
    return parse_numeric<Number>(key, text, where);
  }
};

/// Visitor that describes the allowed values of a key, whose type is that of the visited
/// alternative.
struct AllowedTextVisitor {
  const Field& key;

  std::string operator()(const std::string& /*usual*/) const {
    return key.allowed.empty() ? "text" : fmt::format("one of {}", fmt::join(key.allowed, ", "));
  }
  std::string operator()(bool /*usual*/) const { return "true or false"; }
  std::string operator()(const std::vector<int>& /*usual*/) const {
    return "ranks of each host joined by +, as 4+4, or one number";
  }
  std::string operator()(const Variables& /*usual*/) const { return "NAME=VALUE"; }
  std::string operator()(double /*usual*/) const { return range("a number"); }
  template <class Integer>
  std::string operator()(Integer /*usual*/) const {
    const std::string number = range("a whole number");
    return key.words.empty() ? number : fmt::format("{} or one of {}", number, key.words);
  }

 private:
  std::string range(std::string_view noun) const {
    if (std::isfinite(key.maximum)) {
      return fmt::format("{} from {} to {}", noun, key.minimum, key.maximum);
    }
    return fmt::format("{} of at least {}", noun, key.minimum);
  }
};

struct TextVisitor {
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(const std::vector<int>& numbers) const {
    return fmt::format("{}", fmt::join(numbers, "+"));
  }
  std::string operator()(const Variables& variables) const {
    return variables.empty() ? "" : nlohmann::json(variables).dump();
  }
  template <class Plain>
  std::string operator()(Plain value) const {
    return fmt::format("{}", value);
  }
};

}  // namespace

const Field* find_key(std::string_view name) {
  const auto all = keys();
  const auto found = std::ranges::find(all, name, &Field::name);
  return found == all.end() ? nullptr : &*found;
}

std::string flag_of(const Field& key) {
  std::string flag = "--" + std::string(key.name);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

bool is_case_key(const Field& key) { return key.of.part != Part::kSettings; }

bool is_switch(const Field& key) { return std::holds_alternative<bool>(default_value(key)); }

std::string_view title_of(Part part) {
  constexpr auto kTitles = std::to_array<std::string_view>(
      {"Network", "Training", "Embedding tables", "Exchange", "Machine", "Measured window",
       "Frameworks and commands", "Row", "The whole run"});
  static_assert(kTitles.size() == static_cast<std::size_t>(Part::kSettings) + 1);
  return kTitles[static_cast<std::size_t>(part)];
}

Value default_value(const Field& field) {
  static const Case usual_case;
  static const Settings usual_settings;
  return is_case_key(field) ? access_of<Case>(field).get(usual_case)
                            : access_of<Settings>(field).get(usual_settings);
}

Value value_of(const Field& field, const Case& c) { return access_of<Case>(field).get(c); }

bool is_stated(const Field& field, const Case& c) {
  return c.states(std::string(field.json_name()));
}

std::string default_text(const Field& key) {
  return key.fallback.empty() ? text_of(default_value(key)) : std::string(key.fallback);
}

std::string allowed_text(const Field& key) {
  return std::visit(AllowedTextVisitor{key}, default_value(key));
}

std::string text_of(const Value& value) { return std::visit(TextVisitor{}, value); }

Value value_from(const Field& key, const std::string& text, const std::string& where) {
  return std::visit(TextParser{key, text, where}, default_value(key));
}

void check_variable_name(const std::string& name, const std::string& where) {
  const bool is_name = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
  if (!is_name) {
    throw UsageError(fmt::format("{}: '{}' is no name of an environment variable", where, name));
  }
  if (std::ranges::find(kReservedVariables, name) != kReservedVariables.end()) {
    throw UsageError(fmt::format("{}: Paceline itself sets {} for each rank{}", where, name,
                                 name == "OMP_NUM_THREADS" ? "; take --threads" : ""));
  }
}

Variables variables_from(const std::string& text, const std::string& where) {
  if (text.empty()) {
    return {};
  }
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw UsageError(fmt::format("{}: '{}' is not NAME=VALUE", where, text));
  }
  check_variable_name(text.substr(0, equals), where);
  return {{text.substr(0, equals), text.substr(equals + 1)}};
}

}  // namespace paceline::cases
