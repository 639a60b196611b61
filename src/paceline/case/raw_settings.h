// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/case/settings.h"

namespace paceline::cases {

/// A value as the user wrote it, and its origin: "--ranks", "quick.toml:7: ranks".
struct RawValue {
  std::string text;
  std::string where;
};

/// The values of each key, by name (with underscores); several values of a key are swept.
using RawValues = std::map<std::string, std::vector<RawValue>, std::less<>>;

/// An experiment as the user wrote it, before anything is resolved or checked against a machine.
/// All values are texts that their keys can parse.
struct RawSettings {
  std::string source;                   // path of the file; empty: the command line alone
  std::string section{};                // name in the file; empty: the part outside of sections
  RawValues defaults{};                 // values at the top level of the file, for all cases
  std::vector<RawValues> cases{};       // values of each table [[case]]
  std::optional<RawValues> sweep{};     // values of the table [sweep]
  RawValues flags{};                    // of the command line; they override all others
  std::vector<std::string> sections{};  // names of all tables [section.NAME]
  bool by_size = false;                 // whether `section` was chosen for a small machine
};

/// The section that is run by default on a machine with fewer cores than kSmallBelowCores.
inline constexpr const char* kSmallSection = "small";
inline constexpr int kSmallBelowCores = 8;
/// The word by which --section names the part of the file outside of its sections.
inline constexpr const char* kWholeFile = "all";

/// Reads an experiment file, or its section [section.NAME], which has the syntax of a whole file
/// and inherits nothing from the rest. Throws UsageError with file and line for unknown keys, wrong
/// types, and lists outside of [sweep] and [[case]].
RawSettings read_raw_settings(const std::string& path, const std::string& section = "");

/// Reads an experiment, or one of its sections, from text. `name` replaces the path in messages.
RawSettings parse_raw_settings(std::string_view text, const std::string& name,
                               const std::string& section = "");

/// The prefix of an environment variable's name among raw values. A file writes env.NAME = "value",
/// or a list under [sweep] or [[case]].
inline constexpr std::string_view kEnvPrefix = "env.";

inline bool is_env_name(std::string_view name) { return name.starts_with(kEnvPrefix); }

/// Parses the values of the flag --env, each NAME=VALUE, or NAME=VALUE,VALUE,... for a sweep. The
/// result has each variable's values under the variable's name with kEnvPrefix in front:
/// "env.NAME".
RawValues env_of_flags(const std::vector<std::string>& texts);

/// Splits the texts of a flag into values. A comma separates values that sweep, except inside a
/// strategy's options ("topk:density=0.1,seed=2" is one value) and a link's ("1Gbit,50us").
std::vector<RawValue> split_flag(const std::string& name, const std::vector<std::string>& texts);

/// Throws UsageError for an empty value, which would silently stand for the default.
void reject_empty(const std::vector<RawValue>& values);

/// The settings of the whole run. Flags override the file, which overrides the defaults.
Settings settings_of(const RawSettings& raw);

}  // namespace paceline::cases
