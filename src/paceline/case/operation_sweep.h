// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace paceline::cases {

/// What `paceline comm` measures: operations of an engine, each with payloads of several sizes.
struct OperationSweep {
  std::string engine = "auto", device = "auto", dtype = "fp32";
  std::string link;                     // emulated link, "1Gbit,50us"; empty: none
  std::vector<std::string> operations;  // names of plan::kOperations
  std::vector<std::int64_t> sizes;      // payload bytes, ascending
  int ranks = 0;
  int warmup = 3, iterations = 20;  // for each size
  std::string fit;                  // file for the fitted alpha-beta models; empty: none
  std::string command;              // command line of this sweep, quoted for a shell
};

}  // namespace paceline::cases
