// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/case/settings.h"

namespace paceline::cases {

/// A value as it was written, and where: "--ranks", "quick.toml:7: ranks".
struct RawValue {
  std::string text;
  std::string where;
};

/// RawValues by key name (with underscores); several values sweep.
using RawValues = std::map<std::string, std::vector<RawValue>, std::less<>>;

/// An experiment as it was written, before anything is resolved or checked against a machine.
/// RawValues are texts of the right kind.
struct RawSettings {
  std::string source;                   // path; empty: the command line alone
  std::string section{};                // of the file; empty: what is in none
  RawValues defaults{};                 // top level of the file
  std::vector<RawValues> cases{};       // each [[case]]
  std::optional<RawValues> sweep{};     // [sweep]
  RawValues flags{};                    // of the command line: they win everywhere
  std::vector<std::string> sections{};  // names of [section.NAME]
  bool by_size = false;                 // the section was chosen because the machine is small
};

/// The section that a machine with fewer cores runs where no other is named.
inline constexpr const char* kSmallSection = "small";
inline constexpr int kSmallBelowCores = 8;
/// What --section calls the file but for its sections.
inline constexpr const char* kWholeFile = "all";

/// Reads an experiment file, or one of its sections [section.NAME], which is written as a file is
/// and takes nothing from the rest.  Unknown keys, wrong types and lists outside [sweep] and
/// [[case]] throw UsageError with file and line.
RawSettings read_raw_settings(const std::string& path, const std::string& section = "");

/// Reads an experiment, or one of its sections, from the text of a file; `name` stands for the path
/// in messages.
RawSettings parse_raw_settings(std::string_view text, const std::string& name,
                               const std::string& section = "");

/// Raw values of environment variables have this before the variable's name; a file writes
/// env.NAME = "value", under [sweep] a list.
inline constexpr std::string_view kEnvPrefix = "env.";

inline bool is_env_name(std::string_view name) { return name.starts_with(kEnvPrefix); }

/// The raw values of flags --env NAME=VALUE,VALUE ..., by name with prefix.
RawValues env_of_flags(const std::vector<std::string>& texts);

/// The values of a flag's texts; a comma separates values that sweep, except inside a strategy's
/// options ("topk:density=0.1,seed=2" is one).
std::vector<RawValue> split_flag(const std::string& name, const std::vector<std::string>& texts);

/// What holds for the whole run, flags before file before defaults.
Settings settings_of(const RawSettings& raw);

}  // namespace paceline::cases
