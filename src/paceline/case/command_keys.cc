// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/command_keys.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/run_python.h"
#include "paceline/base/text.h"
#include "paceline/case/experiment.h"
#include "paceline/case/field.h"
#include "paceline/case/outside.h"

namespace paceline::cases {
namespace {

constexpr const char* kCaseVariable = "PACELINE_CASE";
constexpr std::uintmax_t kLargestScript = 4 << 20;

// Keys that Paceline itself uses when it runs a command, in addition to those of Part::kProgram and
// Part::kNote.
constexpr auto kRunKeys =
    std::to_array<std::string_view>({"env", "steps", "strategy", "threads", "warmup"});
// Keys that take effect only if Paceline starts the ranks (launcher "ranks").
constexpr auto kRankKeys = std::to_array<std::string_view>({"ranks", "ranks_per_host"});

// Keys that are never marked as `unstated` for a command: every case needs their values, or one of
// their values means "unknown".
constexpr auto kAlwaysStatedKeys =
    std::to_array<std::string_view>({"model", "batch_size", "ranks", "engine"});

template <class Names>
bool is_one_of(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Whether Paceline itself uses the key, not the command.
bool is_used_by_paceline(std::string_view name) {
  const Field* key = find_key(name);
  const bool of_program =
      key != nullptr && (key->of.part == Part::kProgram || key->of.part == Part::kNote);
  return (of_program && name != "python") || is_one_of(kRunKeys, name);
}

bool has_placeholder(const std::string& command, std::string_view name) {
  return std::regex_search(command, std::regex(fmt::format(R"((^|[^$])\{{{}\}})", name)));
}

bool contains_case_variable(const std::string& file) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none) ||
      std::filesystem::file_size(file, none) > kLargestScript) {
    return false;
  }
  const auto text = read_text_if_readable(file);
  return text && text->find(kCaseVariable) != std::string::npos;
}

/// Whether the command line, or a file that one of its words names, contains PACELINE_CASE.
bool reads_case_variable(const std::string& command) {
  static const std::regex word_pattern(R"([^\s;&|()<>'"=]+)");
  return command.find(kCaseVariable) != std::string::npos ||
         std::any_of(std::sregex_iterator(command.begin(), command.end(), word_pattern), {},
                     [](const std::smatch& word) { return contains_case_variable(word.str()); });
}

std::string placeholder_of(std::string_view key) {
  return fmt::format("{{{}}}", key == "batch_size" ? "batch" : key);
}

std::string unseen_key_message(const std::string& where, std::string_view key) {
  return fmt::format(
      "{}: the command does not see it; write {} where it takes "
      "it, or PACELINE_CASE where it reads its case from that "
      "variable",
      where, placeholder_of(key));
}

/// Throws UsageError if the user sets `python` or the batch size "max" although the command does
/// not see that key, so that the setting would have no effect.
void check_keys_have_effect(const CommandCase& one) {
  const Case& c = one.given;
  for (const auto& [key, matters] :
       {std::pair{"python", !c.python.empty()}, {"batch_size", c.batch_size == kLargestBatch}}) {
    if (matters && !command_sees(c, key)) {
      throw UsageError(unseen_key_message(one.where.find(key)->second, key));
    }
  }
}

/// Throws UsageError if a step_regex is rejected by the Python module that will match the output
/// with it. Each distinct step_regex is checked once.
void check_expressions(const std::vector<CommandCase>& cases) {
  std::set<std::string> known;
  for (const CommandCase& one : cases) {
    const std::string& expression = one.given.step_regex;
    if (expression.empty() || !known.insert(expression).second) {
      continue;
    }
    const PythonOutput said = run_python("paceline.readers.live", {"--check-regex", expression});
    if (said.exit_code != 0) {
      throw UsageError(fmt::format("{}: {}", one.where.at("step_regex"), last_error_line(said)));
    }
  }
}

}  // namespace

const std::vector<std::string_view>& case_variable_keys() {
  static const std::vector<std::string_view> keys{
      "model",          "batch_size", "image_size", "sequence_length", "as_original",
      "classes",        "warmup",     "steps",      "bucket_mb",       "engine",
      "sync_each_step", "device",     "dtype",      "channels_last",   "threads",
      "seed",           "accumulate", "optimizer",  "learning_rate",   "momentum",
      "weight_decay",   "clip_norm"};
  return keys;
}

std::map<std::string, std::string, std::less<>> placeholders_of(const Case& c) {
  std::map<std::string, std::string, std::less<>> values;
  for (const Field& key : keys()) {
    if (is_case_key(key) && key.name != "command" && key.name != "step_regex" &&
        key.name != "env") {
      values[std::string(key.name)] = read_key(key, c);
    }
  }
  values["batch"] = std::to_string(c.batch_size);
  values["global_batch"] = std::to_string(std::int64_t{c.batch_size} * c.ranks);
  values["total"] = std::to_string(c.warmup + c.steps);
  if (c.python.empty()) {
    values["python"] = "python3";
  }
  return values;
}

bool command_sees(const Case& c, std::string_view key) {
  if (is_used_by_paceline(key) || (c.launcher == "ranks" && is_one_of(kRankKeys, key)) ||
      has_placeholder(c.command, key)) {
    return true;
  }
  if (key == "batch_size" &&
      (has_placeholder(c.command, "batch") || has_placeholder(c.command, "global_batch"))) {
    return true;
  }
  return is_one_of(case_variable_keys(), key) && reads_case_variable(c.command);
}

RawValues with_command_defaults(RawValues values) {
  const auto command = values.find("command");
  if (command == values.end()) {
    return values;
  }
  const std::string where = command->second.front().where;
  if (!values.contains("batch_size")) {
    throw UsageError(
        fmt::format("{}: give --batch-size too (batch_size in a file), the samples per rank and "
                    "step: rates are computed from it",
                    where));
  }
  const auto add = [&](const char* key, const std::string& text) {
    values.try_emplace(key, std::vector<RawValue>{{text, where}});
  };
  add("model", "command");
  const auto given = values.find("steps_per_line");
  const int steps = given != values.end() && given->second.size() == 1
                        ? number_from<int>(given->second.front().text).value_or(0)
                        : 0;
  if (steps >= 1) {
    const auto whole_lines = [&](int usual) {
      return std::to_string((usual + steps - 1) / steps * steps);
    };
    add("warmup", whole_lines(Case().warmup));
    add("steps", whole_lines(Case().steps));
  }
  return values;
}

void check_command_keys(const std::vector<CommandCase>& cases) {
  std::map<std::string, const CommandCase*> firsts;  // by command and launcher
  for (const CommandCase& one : cases) {
    check_keys_have_effect(one);
    const Case& c = one.given;
    const CommandCase& first = *firsts.emplace(c.command + "\n" + c.launcher, &one).first->second;
    for (const Field& key : keys()) {
      if (!is_case_key(key)) {
        continue;
      }
      const std::string before = read_key(key, first.given);
      const std::string now = read_key(key, c);
      if (before != now && !command_sees(c, key.name)) {
        throw UsageError(unseen_key_message(
            fmt::format(
                "{}: {} and {} would be the same job",
                one.where.contains(key.name) ? one.where.find(key.name)->second : flag_of(key),
                before.empty() ? "none" : before, now.empty() ? "none" : now),
            key.name));
      }
    }
  }
  check_expressions(cases);
}

void mark_unknown_values(Case& c, const std::function<bool(std::string_view key)>& is_given,
                         bool gpu_visible) {
  for (const Field& key : keys()) {
    if (key.json.form != JsonForm::kStated || is_one_of(kAlwaysStatedKeys, key.name)) {
      continue;
    }
    const bool is_known_to_command = is_given(key.name) || command_sees(c, key.name);
    // Without a GPU the device is known: it is the CPU.
    const bool follows = key.name == "device" && !gpu_visible;
    if (!is_known_to_command && !follows) {
      c.forget(std::string(key.json_name()));
    }
  }
  if (c.engine.empty()) {
    c.forget("engine");
  }
}

}  // namespace paceline::cases
