// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/command.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "paceline/base/shell.h"
#include "paceline/case/command_keys.h"
#include "paceline/case/experiment.h"
#include "paceline/case/field.h"
#include "paceline/case/outside.h"

namespace paceline::cases {
namespace {

// The keys whose flags come first and are written even with default values. Some of their defaults
// depend on the machine.
constexpr auto kAlwaysWrittenKeys = std::to_array<std::string_view>(
    {"model", "strategy", "ranks", "batch_size", "device", "engine", "steps"});

/// Whether the key gets no flag: it does not describe what is measured, or its value follows from
/// other keys.
bool is_left_out(const Field& key, const Case& c) {
  const std::string_view name = key.name;
  if (name == "model") {
    return !c.command.empty() && c.model == "command";
  }
  if (!is_stated(key, c)) {
    return true;
  }
  if (name == "batch_size") {
    return c.model == "hybrid";  // hybrid's batches vary in size
  }
  if (name == "strategy" || name == "engine") {
    return runs_external_program(c) &&
           (name == "strategy" || c.command.empty() || c.engine.empty());
  }
  if (name == "launcher") {
    return c.command.empty() || starts_its_ranks(c);
  }
  return !is_case_key(key) || name == "label" || name == "discard" || name == "env";
}

}  // namespace

std::vector<std::string> flags_of(const Case& c) {
  const Case usual;
  std::vector<std::string> words;
  const auto add = [&](const Field& key) {
    const bool is_largest = key.name == "batch_size" && c.batch_size == kLargestBatch;
    const std::string value = is_largest ? kMax : read_key(key, c);
    words.push_back(flag_of(key) + (is_switch(key) ? "" : "=" + value));
  };
  for (const std::string_view name : kAlwaysWrittenKeys) {
    if (const Field& key = *find_key(name); !is_left_out(key, c)) {
      add(key);
    }
  }
  for (const Field& key : keys()) {
    if (!is_left_out(key, c) && std::ranges::count(kAlwaysWrittenKeys, key.name) == 0 &&
        !read_key(key, c).empty() && read_key(key, c) != read_key(key, usual)) {
      add(key);
    }
  }
  for (const auto& [name, value] : c.env) {
    words.push_back(fmt::format("--env={}={}", name, value));
  }
  return words;
}

std::string command_of(const Case& c) {
  std::string line = "paceline run";
  for (const std::string& word : flags_of(c)) {
    const std::size_t equals = word.find('=');
    line += " " + word.substr(0, equals);
    if (equals != std::string::npos) {
      line += " " + shell_word(word.substr(equals + 1));
    }
  }
  return line;
}

}  // namespace paceline::cases
