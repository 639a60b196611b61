// SPDX-License-Identifier: Apache-2.0
// Raw settings as an experiment file.
#include <sstream>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "paceline/case/env_values.h"
#include "paceline/case/field.h"
#include "paceline/case/raw_settings.h"

namespace paceline::cases {
namespace {

bool is_number_or_switch(const Field& key) {
  return std::visit(
      [](const auto& usual) { return std::is_arithmetic_v<std::decay_t<decltype(usual)>>; },
      usual_value(key));
}

/// A value as a file writes it: a text in quotes, a number or switch as it is. A key of numbers may
/// also hold a word.
std::string toml_value(const Field& key, const std::string& text) {
  const bool plain =
      is_number_or_switch(key) &&
      (key.words.empty() || text.find_first_not_of("0123456789") == std::string::npos);
  std::ostringstream quoted;
  quoted << toml::value<std::string>(text);
  return plain ? text : quoted.str();
}

std::string toml_line(std::string_view name, const Field& key,
                      const std::vector<RawValue>& values) {
  std::vector<std::string> texts;
  for (const RawValue& given : values) {
    texts.push_back(toml_value(key, given.text));
  }
  return texts.size() == 1 ? fmt::format("{} = {}\n", name, texts.front())
                           : fmt::format("{} = [\n  {},\n]\n", name, fmt::join(texts, ",\n  "));
}

std::string toml_lines(const RawValues& values) {
  std::string lines;
  for (const Field& key : keys()) {
    if (const auto found = values.find(key.name); found != values.end()) {
      lines += toml_line(key.name, key, found->second);
    }
  }
  for (const auto& [name, given] : values) {
    if (is_env_name(name)) {
      lines += toml_line(name, *find_key("label"), given);
    }
  }
  return lines;
}

}  // namespace

std::string to_toml(const RawSettings& raw) {
  std::string text = toml_lines(raw.defaults);
  for (const RawValues& values : raw.cases) {
    text += fmt::format("\n[[case]]\n{}", toml_lines(values));
  }
  if (raw.sweep) {
    text += fmt::format("\n[sweep]\n{}", toml_lines(*raw.sweep));
  }
  return text;
}

}  // namespace paceline::cases
