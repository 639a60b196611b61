// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/records/readers.h"

namespace CLI {
class App;
}

namespace paceline::cli {

/// `paceline import`: converts logs of other programs to records, and prints or appends them.
class ImportCommand {
 public:
  explicit ImportCommand(CLI::App& app);
  ImportCommand(const ImportCommand&) = delete;
  ImportCommand& operator=(const ImportCommand&) = delete;

  int run() const;

 private:
  void show(const std::vector<records::CommRecord>& rows) const;
  void show(std::vector<records::RunRecord> runs) const;

  bool list_ = false;
  std::vector<std::string> files_;
  std::string from_, records_, format_ = "table";
};

}  // namespace paceline::cli
