// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/command.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "paceline/base/shell.h"
#include "paceline/case/command_keys.h"
#include "paceline/case/field.h"
#include "paceline/case/outside.h"

namespace paceline::cases {
namespace {

using Names = std::span<const std::string_view>;

// In front, the default too; that of some depends on the machine.
constexpr auto kFirst = std::to_array<std::string_view>(
    {"model", "strategy", "ranks", "batch_size", "device", "engine", "steps"});
constexpr auto kFirstOfTables = std::to_array<std::string_view>({"engine"});

/// Whether the key is none of what is measured, or follows from others.
bool is_left_out(const Field& key, const Case& c) {
  const std::string_view name = key.name;
  if (name == "model") {
    return !c.command.empty() && c.model == "command";
  }
  if (!is_stated(key, c)) {
    return true;
  }
  if (name == "batch_size") {
    return c.model == "hybrid";  // whose batches are of varying sizes
  }
  if (name == "strategy" || name == "engine") {
    return is_outside(c) && (name == "strategy" || c.command.empty() || c.engine.empty());
  }
  if (name == "launcher") {
    return c.command.empty() || starts_its_ranks(c);
  }
  return !is_case_key(key) || name == "label" || name == "discard" || name == "env";
}

/// The keys `first` and those that are not as `usual`.
std::vector<std::string> flags_over(const Case& c, const Case& usual, Names first) {
  std::vector<std::string> words;
  const auto add = [&](const Field& key) {
    words.push_back(flag_of(key) + (is_switch(key) ? "" : "=" + read_key(key, c)));
  };
  for (const std::string_view name : first) {
    if (const Field& key = *find_key(name); !is_left_out(key, c)) {
      add(key);
    }
  }
  for (const Field& key : keys()) {
    if (!is_left_out(key, c) && std::ranges::count(first, key.name) == 0 &&
        !read_key(key, c).empty() && read_key(key, c) != read_key(key, usual)) {
      add(key);
    }
  }
  for (const auto& [name, value] : c.env) {
    words.push_back(fmt::format("--env={}={}", name, value));
  }
  return words;
}

std::string line_of(std::string line, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    line += " " + word.substr(0, equals);
    if (equals != std::string::npos) {
      line += " " + shell_word(word.substr(equals + 1));
    }
  }
  return line;
}

}  // namespace

std::vector<std::string> flags_of(const Case& c) { return flags_over(c, Case{}, kFirst); }

std::string command_of(const Case& c) { return line_of("paceline run", flags_of(c)); }

std::string table_command_of(const Case& c, const Case& usual) {
  return line_of("paceline run " + shell_word(c.model), flags_over(c, usual, kFirstOfTables));
}

}  // namespace paceline::cases
