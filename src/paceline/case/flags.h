// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/case/raw_settings.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace paceline::cases {

/// The flags of `paceline run` on a CLI11 (sub)command: one for each row of keys(), --section, and
/// the experiment as the only positional argument. The object must outlive the parsing.
class Flags {
 public:
  explicit Flags(CLI::App& app);
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  /// The raw settings of the parsed command line: those of the file, overridden by the flags. If
  /// the machine has fewer than kSmallBelowCores `cores`, and --section is not given, the file's
  /// section kSmallSection is read where it exists. Throws UsageError for a missing file and for a
  /// line that names nothing to run.
  RawSettings raw_settings(int cores = kSmallBelowCores) const;

  /// The settings of the whole run that the flags alone give. Throws UsageError for a bad value.
  Settings settings() const;

 private:
  RawValues values() const;
  RawSettings file_settings(int cores) const;

  std::string experiment_;
  std::string section_;
  std::map<std::string, std::vector<std::string>, std::less<>> texts_;
};

/// Adds the flags of some keys to a command that runs one job: each takes one value, which it
/// assigns to `to`, whose values are the defaults. An owner is a case or settings, and must outlive
/// the parsing.
template <class Owner>
std::vector<CLI::Option*> add_key_flags(CLI::App& app, const std::vector<std::string_view>& names,
                                        Owner& to);

/// The path of an experiment: `name` itself if it is a file, else experiments/<name>.toml below one
/// of `roots`. Otherwise throws UsageError that lists the known experiments.
std::string find_experiment(const std::string& name, const std::vector<std::string>& roots);

/// The names of all files experiments/*.toml below `roots`, sorted.
std::vector<std::string> known_experiments(const std::vector<std::string>& roots);

/// The folders in which experiments are looked for: the current one, and those beside the program.
std::vector<std::string> experiment_roots();

}  // namespace paceline::cases
