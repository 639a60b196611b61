// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/experiment/settings.h"

namespace paceline::experiment {

/// A value as it was written, and where: "--ranks", "quick.toml:7: ranks".
struct Given {
  std::string text;
  std::string where;
};

/// Values by key name (with underscores); several values sweep.
using Values = std::map<std::string, std::vector<Given>, std::less<>>;

/// An experiment as it was written, before anything is resolved or checked
/// against a machine.  Values are texts of the right kind.
struct Draft {
  std::string source;           // path; empty: the command line alone
  Values defaults;              // top level of the file
  std::vector<Values> cases;    // each [[case]]
  std::optional<Values> sweep;  // [sweep]
  Values flags;                 // of the command line: they win everywhere
};

/// Reads an experiment file.  Unknown keys, wrong types and lists outside
/// [sweep] throw UsageError with file and line.
Draft read_draft(const std::string& path);

/// The same from text; `name` stands for the path in messages.
Draft parse_draft(std::string_view text, const std::string& name);

/// The values of a flag's texts; a comma separates values that sweep, except
/// inside a strategy's options ("topk:density=0.1,seed=2" is one).
std::vector<Given> split_flag(const std::string& name,
                              const std::vector<std::string>& texts);

/// What holds for the whole run, flags before file before defaults.
Settings settings_of(const Draft& draft);

}  // namespace paceline::experiment
