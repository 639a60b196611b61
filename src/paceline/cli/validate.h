// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace CLI {
class App;
}

namespace paceline::cli {

/// `paceline validate`: the published tables as the simulator's examination.
class ValidateCommand {
 public:
  explicit ValidateCommand(CLI::App& app);

  /// After the parsing.  Returns the exit code.
  int run() const;

 private:
  std::string reference_ = "reference";
  std::string predictions_, page_, table_, earned_;
  std::size_t threads_ = 2;
  bool fit_ = false, protocols_ = false, cells_ = false;
};

}  // namespace paceline::cli
