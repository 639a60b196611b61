// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/case/case.h"

namespace CLI {
class App;
}

namespace paceline::cli {

/// `paceline profile MODEL`: measures how long each layer of a network computes on this machine,
/// and writes a profile file.
class ProfileCommand {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit ProfileCommand(CLI::App& app);

  /// To be called after the parsing. Returns the exit code.
  int run();

 private:
  cases::Case configuration_;
  std::string output_;
  bool codecs_ = false;
};

}  // namespace paceline::cli
