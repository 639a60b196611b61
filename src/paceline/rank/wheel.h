// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline::rank {

/// The PyTorch that this program was built with, and the one that is loaded.
struct Wheel {
  std::string built_version, built_git;  // "2.13.0+cpu", its commit
  std::string built_cuda;                // empty: a CPU build
  std::string folder{};                  // of the loaded libraries' wheel; empty: unknown
  std::string version{}, git{};          // of that folder's version.py; empty: unknown
};

Wheel wheel();

}  // namespace paceline::rank
