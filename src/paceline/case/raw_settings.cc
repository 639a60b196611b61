// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/raw_settings.h"

#include <filesystem>
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
using cluster::Section;

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
  RawSettings read(const Section& file, const std::string& section) const {
    RawSettings whole = read_part(file, "");
    RawSettings chosen;
    file.table("section", "", [&](const Section& sections) {
      for (const std::string& name : sections.keys()) {
        reject_if(name == kWholeFile, sections.at(name),
                  "section: '{}' is what --section calls the rest of the file; take another name",
                  name);
        sections.table(name, "", [&](const Section& table) {
          RawSettings part = read_part(table, name);
          whole.sections.push_back(name);
          if (name == section) {
            chosen = std::move(part);
          }
        });
      }
    });
    if (section.empty()) {
      return whole;
    }
    reject_if(whole.sections.empty(), name_, "has no sections, and --section names '{}'", section);
    reject_if(chosen.section.empty(), name_, "{}",
              unknown_name_message("section", section, whole.sections));
    return chosen;
  }

 private:
  template <class... Values>
  static void reject_if(bool wrong, const std::string& where, fmt::format_string<Values...> why,
                        Values&&... values) {
    if (wrong) {
      throw UsageError(
          fmt::format("{}: {}", where, fmt::format(why, std::forward<Values>(values)...)));
    }
  }

  /// Reads a file, or a section of it, which has no sections itself.
  RawSettings read_part(const Section& table, const std::string& section) const {
    RawSettings raw{.source = name_, .section = section};
    for (const std::string& key : table.keys()) {
      if (key != "case" && key != "sweep" && (key != "section" || !section.empty())) {
        read_value(table, key, true, raw.defaults);
      }
    }
    table.each("case", "[[case]]", "",
               [&](const Section& one) { raw.cases.push_back(read_table(one)); });
    table.table("sweep", "", [&](const Section& sweep) { raw.sweep = read_table(sweep); });
    return raw;
  }

  RawValues read_table(const Section& table) const {
    RawValues values;
    for (const std::string& key : table.keys()) {
      read_value(table, key, false, values);
    }
    return values;
  }

  void read_value(const Section& table, const std::string& name, bool at_top, RawValues& to) const {
    if (name == "env") {
      // A variable takes the same TOML values as a key whose values are texts.
      table.table(name, "", [&](const Section& variables) {
        for (const std::string& variable : variables.keys()) {
          check_variable_name(variable, fmt::format("{}: env", variables.at(variable)));
          to[fmt::format("{}{}", kEnvPrefix, variable)] =
              read_values(variables, variable, *find_key("label"), at_top);
        }
      });
      return;
    }
    const std::string at = table.at(name);
    const Field* key = find_key(name);
    reject_if(key == nullptr, at, "{}", key == nullptr ? unknown_key_message(name, at_top) : "");
    reject_if(!key->in_file, at, "{} is not a key of files; give the flag {}", name, flag_of(*key));
    reject_if(!at_top && !is_case_key(*key), at,
              "{} holds for the whole experiment; write it above the first table", name);
    to[name] = read_values(table, name, *key, at_top);
  }

  /// Returns the values under `name` as text. Throws UsageError for a value that the key cannot
  /// hold. Words in place of a number are checked later.
  std::vector<RawValue> read_values(const Section& table, const std::string& name, const Field& key,
                                    bool at_top) const {
    reject_if(at_top && table.is_list(name), table.at(name),
              "{}: a list of values belongs under [sweep] or [[case]]", name);
    std::vector<RawValue> values;
    for (const auto& [text, at, is_text, is_scalar] : table.unquoted_values(name)) {
      const std::string where = fmt::format("{}: {}", at, name);
      reject_if(!is_scalar, where, "{} is not {}", text, allowed_text(key));
      if (key.words.empty() || !is_text) {
        value_from(key, text, where);
      }
      values.push_back({name == "replay" ? find_near_experiment(name_, text) : text, where});
    }
    reject_if(values.empty(), table.at(name), "{}: the list is empty", name);
    return values;
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
  const toml::table file = cluster::parse_toml(text, name);
  return Reader(name).read(Section(file, name, "", ""), section);
}

RawSettings read_raw_settings(const std::string& path, const std::string& section) {
  return parse_raw_settings(read_text(path), path, section);
}

RawValues env_of_flags(const std::vector<std::string>& texts) {
  RawValues values;
  for (const std::string& text : texts) {
    reject_empty({{text, "--env"}});
    for (const auto& [name, list] : variables_from(text, "--env")) {
      std::vector<RawValue>& to = values[fmt::format("{}{}", kEnvPrefix, name)];
      for (std::string& value : split_at(list, ',')) {
        to.push_back({std::move(value), "--env " + name});
      }
    }
  }
  return values;
}

void reject_empty(const std::vector<RawValue>& values) {
  for (const RawValue& value : values) {
    if (value.text.empty()) {
      throw UsageError(fmt::format("{}: {}; leave it out, or give a value", value.where,
                                   values.size() > 1 ? "one of its values is empty" : "is empty"));
    }
  }
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
      reject_empty(given);
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
