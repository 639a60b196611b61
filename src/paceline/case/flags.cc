// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/flags.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/program_place.h"
#include "paceline/base/text.h"
#include "paceline/case/field.h"

namespace paceline::cases {
namespace {

namespace fs = std::filesystem;

std::string flag_help(const Field& key, const std::string& fallback) {
  const bool shown = !fallback.empty() && key.name != "name" && !is_switch(key);
  return shown ? fmt::format("{} [{}]", key.help, fallback) : std::string(key.help);
}

/// The names of the key's flag, as CLI11 takes them.
std::string names_of_flag(const Field& key) {
  return (key.letter == 0 ? "" : fmt::format("-{},", key.letter)) + flag_of(key) +
         (key.also.empty() ? "" : fmt::format(",{}", key.also));
}

}  // namespace

template <class Owner>
std::vector<CLI::Option*> add_key_flags(CLI::App& app, const std::vector<std::string_view>& names,
                                        Owner& to) {
  std::vector<CLI::Option*> options;
  for (const std::string_view name : names) {
    const Field& key = *find_key(name);
    const auto take = [&key, &to](const std::string& text) {
      assign_key(key, text, flag_of(key), to);
    };
    const std::string help = flag_help(key, read_key(key, to));
    options.push_back(is_switch(key)
                          ? app.add_flag_callback(
                                names_of_flag(key), [take] { take("true"); }, help)
                          : app.add_option_function<std::string>(names_of_flag(key), take, help)
                                ->type_name(std::string(key.metavar)));
  }
  return options;
}

template std::vector<CLI::Option*> add_key_flags(CLI::App&, const std::vector<std::string_view>&,
                                                 Case&);
template std::vector<CLI::Option*> add_key_flags(CLI::App&, const std::vector<std::string_view>&,
                                                 Settings&);

Flags::Flags(CLI::App& app) {
  app.add_option("experiment", experiment_, "file, or the name of one in experiments/");
  app.add_option(
         "--section", section_,
         fmt::format("run [section.NAME] of the experiment file, not the rest; all: the rest, of "
                     "which a machine with fewer than {} cores runs [section.{}] by default",
                     kSmallBelowCores, kSmallSection))
      ->type_name("NAME");
  for (const Field& key : keys()) {
    std::vector<std::string>& texts = texts_[std::string(key.name)];
    const std::string help = flag_help(key, default_text(key));
    CLI::Option* option = is_switch(key) ? app.add_flag(names_of_flag(key), texts, help)
                                         : app.add_option(names_of_flag(key), texts, help)
                                               ->allow_extra_args(false)
                                               ->type_name(std::string(key.metavar));
    option->group(std::string(title_of(key.of.part)));
  }
}

RawValues Flags::values() const {
  RawValues given;
  for (const auto& [name, texts] : texts_) {
    if (name == "env") {
      given.merge(env_of_flags(texts));
    } else if (!texts.empty()) {
      RawValues::mapped_type& values = given[name];
      values = split_flag(name, texts);
      reject_empty(values);
    }
  }
  return given;
}

Settings Flags::settings() const {
  RawSettings raw;
  raw.flags = values();
  return settings_of(raw);
}

RawSettings Flags::file_settings(int cores) const {
  const std::string path = find_experiment(experiment_, experiment_roots());
  if (!section_.empty()) {
    return read_raw_settings(path, section_ == kWholeFile ? "" : section_);
  }
  RawSettings whole = read_raw_settings(path);
  if (cores >= kSmallBelowCores ||
      std::ranges::find(whole.sections, kSmallSection) == whole.sections.end()) {
    return whole;
  }
  RawSettings small = read_raw_settings(path, kSmallSection);
  small.by_size = true;
  return small;
}

RawSettings Flags::raw_settings(int cores) const {
  RawValues given = values();
  const bool any_case = std::ranges::any_of(given, [](const auto& value) {
    return is_env_name(value.first) || is_case_key(*find_key(value.first)) ||
           value.first == "protocol";
  });
  if (experiment_.empty() && !any_case) {
    throw UsageError(
        "nothing to run: name an experiment (paceline run quick) or a case (paceline run --model "
        "resnet50 --ranks 2)");
  }
  RawSettings raw;
  if (!experiment_.empty()) {
    raw = file_settings(cores);
  } else if (!section_.empty()) {
    throw UsageError(fmt::format("--section {}: name the experiment file too", section_));
  }
  raw.flags = std::move(given);
  return raw;
}

std::vector<std::string> known_experiments(const std::vector<std::string>& roots) {
  return toml_names_in(roots, "experiments");
}

std::string find_experiment(const std::string& name, const std::vector<std::string>& roots) {
  std::error_code error;
  if (fs::is_regular_file(name, error)) {
    return name;
  }
  if (std::string path = find_toml_file(roots, "experiments", name); !path.empty()) {
    return path;
  }
  const std::vector<std::string> known = known_experiments(roots);
  if (known.empty() || name.ends_with(".toml") || name.find('/') != std::string::npos) {
    throw UsageError(fmt::format(
        "there is no file '{}'; an experiment is a file, or the name of one in experiments/: {}",
        name, known.empty() ? "which is not here" : fmt::format("{}", fmt::join(known, ", "))));
  }
  throw UsageError(unknown_name_message("experiment", name, known));
}

std::vector<std::string> experiment_roots() { return root_folders_with("experiments"); }

}  // namespace paceline::cases
