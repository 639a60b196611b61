// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline::rank {

/// The versions of the PyTorch that this program was built with, and of the one that is loaded.
struct TorchWheelVersions {
  std::string built_version, built_git;  // version and git commit: "2.13.0+cpu"
  std::string built_cuda;                // CUDA version; empty: a CPU build
  std::string folder{};                  // folder of the loaded wheel; empty: unknown
  std::string version{}, git{};          // what version.py in `folder` states; empty: unknown
};

TorchWheelVersions wheel();

}  // namespace paceline::rank
