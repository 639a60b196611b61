// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace paceline::cases {

/// What `paceline comm` measures: operations of an engine by size.
struct OperationSweep {
  std::string engine = "auto", device = "auto", dtype = "fp32";
  std::string link;                     // emulated, "1Gbit,50us"; empty: none
  std::vector<std::string> operations;  // of plan::kOperations
  std::vector<std::int64_t> sizes;      // payload bytes, ascending
  int ranks = 0;
  int warmup = 3, iterations = 20;  // of every size
  std::string fit;                  // a file for alpha-beta models; empty: none
  std::string command;              // that measures, quoted for a shell
};

}  // namespace paceline::cases
