// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paceline/case/raw_settings.h"

namespace CLI {
class App;
}

namespace paceline::cases {

/// The flags of `paceline run` on a CLI11 (sub)command: one for each row of keys(),
/// --section, and the experiment as the only positional argument.  Must outlive the parsing.
class Flags {
 public:
  explicit Flags(CLI::App& app);
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  /// The raw settings of the parsed line: the file's, with the flags over it. Where fewer than
  /// kSmallBelowCores `cores` are to run it, and --section names no other, they are those of the
  /// file's section kSmallSection. A missing file and a line that names nothing to run throw
  /// UsageError.
  RawSettings raw_settings(int cores = kSmallBelowCores) const;

  /// What the flags alone say of the whole run.  Throws UsageError for a bad value.
  Settings settings() const;

 private:
  RawValues values() const;
  RawSettings file_settings(int cores) const;

  std::string experiment_;
  std::string section_;
  std::map<std::string, std::vector<std::string>, std::less<>> texts_;
};

/// The file that `name` stands for: itself where it is one, else experiments/<name>.toml below one
/// of `roots`.  Throws UsageError that lists what there is.
std::string find_experiment(const std::string& name, const std::vector<std::string>& roots);

/// The names of all files experiments/*.toml below `roots`, sorted.
std::vector<std::string> known_experiments(const std::vector<std::string>& roots);

/// "survey --section small" for "survey", where that has such a section; else empty.
std::string smaller_experiment(const std::string& name, const std::vector<std::string>& roots);

/// Where experiments are looked for: here, and beside the program.
std::vector<std::string> experiment_roots();

}  // namespace paceline::cases
