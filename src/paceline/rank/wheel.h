// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline::rank {

/// The versions of the PyTorch that this program was built with, and of the one that is loaded.
struct TorchWheelVersions {
  std::string built_version, built_git;  // "2.13.0+cpu", and its git commit
  std::string built_cuda;                // empty: a CPU build
  std::string folder{};                  // the loaded wheel's; empty: unknown
  std::string version{}, git{};          // by version.py in `folder`; empty: unknown
};

TorchWheelVersions wheel();

}  // namespace paceline::rank
