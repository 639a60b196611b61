// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/raw_settings.h"

#include <algorithm>
#include <filesystem>
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
#include "paceline/cluster/toml_section.h"
#include "paceline/strategies/strategy_text.h"

namespace paceline::cases {
namespace {

namespace fs = std::filesystem;

/// Returns `path` if it exists; else the file of this name in the folder of the experiment file or
/// in the parent folder; else `path`.
std::string find_near_experiment(const fs::path& experiment, const std::string& path) {
  const fs::path folder = fs::absolute(experiment).parent_path();
  for (const fs::path& root : {fs::path(), folder, folder.parent_path()}) {
    if (!path.empty() && fs::exists(root / path)) {
      return (root / path).string();
    }
  }
  return path;
}

class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  /// Reads the section of that name or, if the name is empty, the part outside of sections. The
  /// whole file is checked in both cases.
  RawSettings read(const toml::table& file, const std::string& section) const {
    RawSettings whole = read_part(file, "");
    RawSettings chosen;
    if (const toml::node* sections = file.get("section")) {
      for (const auto& [name, table] : tables_of(*sections)) {
        RawSettings part = read_part(*table, name);
        whole.sections.push_back(name);
        if (name == section) {
          chosen = std::move(part);
        }
      }
    }
    if (section.empty()) {
      return whole;
    }
    if (chosen.section.empty()) {
      throw UsageError(
          whole.sections.empty()
              ? fmt::format("{}: has no sections, and --section names '{}'", name_, section)
              : fmt::format("{}: {}", name_,
                            unknown_name_message("section", section, whole.sections)));
    }
    return chosen;
  }

 private:
  std::string at(const toml::node& node) const {
    return fmt::format("{}:{}", name_, node.source().begin.line);
  }

  template <class... Values>
  void reject_if(bool wrong, const toml::node& node, fmt::format_string<Values...> why,
                 Values&&... values) const {
    if (wrong) {
      throw UsageError(
          fmt::format("{}: {}", at(node), fmt::format(why, std::forward<Values>(values)...)));
    }
  }

  /// Reads a file, or a section of it, which has no sections itself.
  RawSettings read_part(const toml::table& table, const std::string& section) const {
    RawSettings raw{.source = name_, .section = section};
    for (const auto& [name, node] : table) {
      if (name.str() == "case") {
        const toml::array* array = node.as_array();
        reject_if(array == nullptr || !array->is_homogeneous<toml::table>(), node,
                  "case: write every case as a table of its own, [[case]]");
        for (const toml::node& element : *array) {
          raw.cases.push_back(read_table(*element.as_table()));
        }
      } else if (name.str() == "sweep") {
        reject_if(!node.is_table(), node,
                  "sweep: write it as a table, [sweep], with a list for each key that varies");
        raw.sweep = read_table(*node.as_table());
      } else if (name.str() != "section" || !section.empty()) {
        read_value(std::string(name.str()), node, true, raw.defaults);
      }
    }
    return raw;
  }

  RawValues read_table(const toml::table& table) const {
    RawValues values;
    for (const auto& [name, node] : table) {
      read_value(std::string(name.str()), node, false, values);
    }
    return values;
  }

  /// Returns the tables [section.NAME] of a file, each with its NAME.
  std::vector<std::pair<std::string, const toml::table*>> tables_of(const toml::node& node) const {
    std::vector<std::pair<std::string, const toml::table*>> tables;
    if (const toml::table* sections = node.as_table()) {
      for (const auto& [name, table] : *sections) {
        tables.emplace_back(name.str(), table.as_table());
      }
    }
    for (const auto& [name, table] : tables) {
      reject_if(name == kWholeFile, node,
                "section: '{}' is what --section calls the rest of the file; take another name",
                name);
    }
    reject_if(tables.empty() ||
                  std::ranges::any_of(tables, [](const auto& it) { return it.second == nullptr; }),
              node, "section: write every section as a table with a name, [section.small]");
    return tables;
  }

  void read_value(const std::string& name, const toml::node& node, bool at_top,
                  RawValues& to) const {
    if (const toml::table* variables = node.as_table(); name == "env" && variables != nullptr) {
      // A variable takes the same TOML values as a key whose values are texts.
      for (const auto& [key, value] : *variables) {
        const std::string variable(key.str());
        variables_from(variable + "=", fmt::format("{}: env", at(value)));
        const std::string full = fmt::format("{}{}", kEnvPrefix, variable);
        to[full] = read_list(full, *find_key("label"), value, at_top);
      }
      return;
    }
    const Field* key = find_key(name);
    reject_if(key == nullptr, node, "{}", key == nullptr ? unknown_key_message(name, at_top) : "");
    reject_if(!key->in_file, node, "{} is not a key of files; give the flag {}", name,
              flag_of(*key));
    reject_if(!at_top && !is_case_key(*key), node,
              "{} holds for the whole experiment; write it above the first table", name);
    to[name] = read_list(name, *key, node, at_top);
  }

  std::vector<RawValue> read_list(const std::string& name, const Field& key, const toml::node& node,
                                  bool at_top) const {
    const toml::array* list = node.as_array();
    if (list == nullptr) {
      return {scalar(key, node)};
    }
    reject_if(at_top, node, "{}: a list of values belongs under [sweep] or [[case]]", name);
    reject_if(list->empty(), node, "{}: the list is empty", name);
    std::vector<RawValue> values;
    for (const toml::node& element : *list) {
      values.push_back(scalar(key, element));
    }
    return values;
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
    if (key.words.empty() || !node.is_string()) {
      value_from(key, text, where);
    }
    return {key.name == "replay" ? find_near_experiment(name_, text) : text, where};
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
bool continues_value(std::string_view key, std::string_view piece) {
  return (key == "strategy" && strategies::is_option(piece)) ||
         (key == "link" && is_latency(piece));
}

}  // namespace

RawSettings parse_raw_settings(std::string_view text, const std::string& name,
                               const std::string& section) {
  return Reader(name).read(cluster::parse_toml(text, name), section);
}

RawSettings read_raw_settings(const std::string& path, const std::string& section) {
  return parse_raw_settings(read_text(path), path, section);
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
      if (!first && continues_value(name, piece)) {
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
