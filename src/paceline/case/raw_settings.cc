// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/raw_settings.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/case/field.h"
#include "paceline/case/legacy_names.h"
#include "paceline/case/protocols.h"
#include "paceline/case/variables.h"
#include "paceline/cluster/toml_section.h"
#include "paceline/strategies/strategy_text.h"

namespace paceline::cases {
namespace {

/// The part of a file in which a key was found.
enum class Level { kTop, kCase, kSweep };

class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  /// Reads the section of that name or, if the name is empty, the part outside of sections. The
  /// whole file is checked in both cases.
  RawSettings read(const toml::table& file, const std::string& section) const {
    RawSettings whole{.source = name_};
    std::optional<RawSettings> chosen;
    for (const auto& [key, node] : file) {
      if (key.str() != "section") {
        read_entry(std::string(key.str()), node, whole);
        continue;
      }
      for (const auto& [name, table] : tables_of(node)) {
        RawSettings part{.source = name_, .section = name};
        for (const auto& [inner, value] : *table) {
          read_entry(std::string(inner.str()), value, part);
        }
        if (name == section) {
          chosen = std::move(part);
        }
        whole.sections.push_back(name);
      }
    }
    if (section.empty()) {
      return whole;
    }
    if (!chosen) {
      throw UsageError(
          whole.sections.empty()
              ? fmt::format("{}: has no sections, and --section names '{}'", name_, section)
              : fmt::format("{}: {}", name_, unknown_name("section", section, whole.sections)));
    }
    return *std::move(chosen);
  }

 private:
  std::string at(const toml::node& node) const {
    return fmt::format("{}:{}", name_, node.source().begin.line);
  }

  void read_entry(const std::string& name, const toml::node& node, RawSettings& raw) const {
    if (name == "case") {
      read_cases(node, raw);
    } else if (name == "sweep") {
      read_sweep(node, raw);
    } else {
      read_value(name, node, Level::kTop, raw.defaults);
    }
  }

  // The tables [section.NAME] of a file, with their names.
  std::vector<std::pair<std::string, const toml::table*>> tables_of(
      const toml::node& sections) const {
    std::vector<std::pair<std::string, const toml::table*>> tables;
    if (const toml::table* table = sections.as_table()) {
      for (const auto& [name, node] : *table) {
        tables.emplace_back(name.str(), node.as_table());
      }
    }
    if (sections.is_table() && sections.as_table()->contains(kWholeFile)) {
      throw UsageError(fmt::format(
          "{}: section: '{}' is what --section calls the rest of the file; take another name",
          at(sections), kWholeFile));
    }
    const bool all =
        std::ranges::all_of(tables, [](const auto& one) { return one.second != nullptr; });
    if (tables.empty() || !all) {
      throw UsageError(
          fmt::format("{}: section: write every section as a table with a name, [section.small]",
                      at(sections)));
    }
    return tables;
  }

  void read_cases(const toml::node& node, RawSettings& raw) const {
    const toml::array* array = node.as_array();
    if (array == nullptr || !array->is_homogeneous<toml::table>()) {
      throw UsageError(
          fmt::format("{}: case: write every case as a table of its own, [[case]]", at(node)));
    }
    for (const toml::node& element : *array) {
      RawValues values;
      for (const auto& [key, value] : *element.as_table()) {
        read_value(std::string(key.str()), value, Level::kCase, values);
      }
      raw.cases.push_back(std::move(values));
    }
  }

  void read_sweep(const toml::node& node, RawSettings& raw) const {
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      throw UsageError(fmt::format(
          "{}: sweep: write it as a table, [sweep], with a list for each key that varies",
          at(node)));
    }
    raw.sweep.emplace();
    for (const auto& [key, value] : *table) {
      read_value(std::string(key.str()), value, Level::kSweep, *raw.sweep);
    }
  }

  void read_value(const std::string& name, const toml::node& node, Level level,
                  RawValues& to) const {
    if (const toml::table* variables = node.as_table(); name == "env" && variables != nullptr) {
      read_variables(*variables, level, to);
      return;
    }
    const Field* key = find_key(name);
    if (key == nullptr) {
      throw UsageError(fmt::format("{}: {}", at(node), unknown_key(name, level == Level::kTop)));
    }
    if (!key->in_file) {
      throw UsageError(
          fmt::format("{}: {} is not a key of files; give the "
                      "flag {}",
                      at(node), name, flag_of(*key)));
    }
    if (level != Level::kTop && !is_case_key(*key)) {
      throw UsageError(fmt::format(
          "{}: {} holds for the whole experiment; write it above the first table", at(node), name));
    }
    read_list(name, *key, node, level, to[name]);
  }

  // Reads env.NAME = "value". A variable takes the same TOML values as a key whose values are
  // texts.
  void read_variables(const toml::table& variables, Level level, RawValues& to) const {
    for (const auto& [key, node] : variables) {
      const std::string name(key.str());
      variables_from(name + "=", fmt::format("{}: env", at(node)));
      read_list(fmt::format("{}{}", kEnvPrefix, name), *find_key("label"), node, level,
                to[fmt::format("{}{}", kEnvPrefix, name)]);
    }
  }

  void read_list(const std::string& name, const Field& key, const toml::node& node, Level level,
                 std::vector<RawValue>& values) const {
    const toml::array* list = node.as_array();
    if (list == nullptr) {
      values.push_back(scalar(key, node));
      return;
    }
    if (level == Level::kTop) {
      throw UsageError(fmt::format("{}: {}: a list of values belongs under [sweep] or [[case]]",
                                   at(node), name));
    }
    if (list->empty()) {
      throw UsageError(fmt::format("{}: {}: the list is empty", at(node), name));
    }
    for (const toml::node& element : *list) {
      values.push_back(scalar(key, element));
    }
  }

  /// The text of a TOML value. Throws UsageError if the key cannot hold the value. Words in place
  /// of a number are checked later.
  RawValue scalar(const Field& key, const toml::node& node) const {
    const std::string where = fmt::format("{}: {}", at(node), key.name);
    std::ostringstream shown;
    node.visit([&](const auto& value) { shown << value; });
    if (!node.is_value()) {
      throw UsageError(fmt::format("{}: {} is not {}", where, shown.str(), allowed_text(key)));
    }
    const std::string text = node.value<std::string>().value_or(shown.str());
    Case c;
    Settings settings;
    if (!is_case_key(key)) {
      assign_key(key, text, where, settings);
    } else if (key.words.empty() || !node.is_string()) {
      assign_key(key, text, where, c);
    }
    return {text, where};
  }

  std::string name_;
};

/// Whether `piece`, which follows a comma as "50us" follows "1Gbit,", is a latency (perhaps a
/// malformed one), not another link: only rates have a unit with bits or bytes.
bool is_latency(std::string_view piece) {
  return piece.find_first_of("bB") == std::string_view::npos;
}

/// Whether `piece` belongs to the value in front of the comma, so that the comma separates no
/// values.
bool continues(std::string_view key, std::string_view piece) {
  return (key == "strategy" && strategies::is_option(piece)) ||
         (key == "link" && is_latency(piece));
}

}  // namespace

RawSettings parse_raw_settings(std::string_view text, const std::string& name,
                               const std::string& section) {
  return Reader(name).read(cluster::parse_toml(text, name), section);
}

namespace {

// Replaces the path of a profile that does not exist by one that does: relative to the folder of
// the experiment file, or to the parent of that folder.
void find_beside(const std::string& path, RawValues& values) {
  namespace fs = std::filesystem;
  const auto replay = values.find("replay");
  if (replay == values.end()) {
    return;
  }
  for (RawValue& value : replay->second) {
    if (value.text.empty() || fs::exists(value.text)) {
      continue;
    }
    const fs::path folder = fs::absolute(path).parent_path();
    for (const fs::path& root : {folder, folder.parent_path()}) {
      if (fs::exists(root / value.text)) {
        value.text = (root / value.text).string();
        break;
      }
    }
  }
}

}  // namespace

RawSettings read_raw_settings(const std::string& path, const std::string& section) {
  RawSettings raw = parse_raw_settings(read_text(path), path, section);
  find_beside(path, raw.defaults);
  for (RawValues& values : raw.cases) {
    find_beside(path, values);
  }
  if (raw.sweep) {
    find_beside(path, *raw.sweep);
  }
  return raw;
}

RawValues env_of_flags(const std::vector<std::string>& texts) {
  RawValues values;
  for (const std::string& text : texts) {
    if (text.empty()) {
      throw UsageError("--env: is empty; leave it out, or give a value");
    }
    for (const auto& [name, list] : variables_from(text, "--env")) {
      std::vector<RawValue>& to = values[fmt::format("{}{}", kEnvPrefix, name)];
      for (std::string& value : split_at(list, ',')) {
        to.push_back({std::move(value), "--env " + name});
      }
    }
  }
  return values;
}

std::vector<RawValue> split_flag(const std::string& name, const std::vector<std::string>& texts) {
  const Field* key = find_key(name);
  PACELINE_CHECK(key != nullptr);
  const std::string where = flag_of(*key);
  std::vector<RawValue> values;
  for (const std::string& text : texts) {
    if (!is_case_key(*key) || name == "label" || name == "command" || name == "step_regex") {
      values.push_back({text, where});
      continue;
    }
    bool first = true;
    for (std::string& piece : split_at(text, ',')) {
      if (!first && continues(name, piece)) {
        values.back().text += "," + piece;
      } else {
        values.push_back({std::move(piece), where});
      }
      first = false;
    }
  }
  return values;
}

Settings settings_of(const RawSettings& raw) {
  Settings settings;
  settings.name =
      raw.source.empty() ? "command-line" : std::filesystem::path(raw.source).stem().string();
  if (!raw.section.empty()) {
    settings.name += "_" + raw.section;
  }
  for (const RawValues* values : {&raw.defaults, &raw.flags}) {
    for (const auto& [name, given] : *values) {
      if (is_env_name(name)) {
        continue;
      }
      const Field* key = find_key(name);
      PACELINE_CHECK(key != nullptr);
      if (is_case_key(*key)) {
        continue;
      }
      if (given.size() > 1) {
        throw UsageError(fmt::format("{}: given {} times", given.front().where, given.size()));
      }
      if (given.front().text.empty()) {
        throw UsageError(fmt::format("{}: is empty; leave it out, or give {}", given.front().where,
                                     key->metavar));
      }
      assign_key(*key, given.front().text, given.front().where, settings);
    }
  }
  if (settings.protocol == "dlperf" && !raw.defaults.contains("runs") &&
      !raw.flags.contains("runs")) {
    settings.runs = kDlperfRuns;
  }
  return settings;
}

}  // namespace paceline::cases
