// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace paceline::engines {

class Engine;

/// Makes the engine NCCL as the CUDA wheel of PyTorch has it.  With PACELINE_WITH_NCCL
/// nccl_engine.cc is compiled, otherwise no_nccl.cc, where it throws UsageError.
std::unique_ptr<Engine> make_nccl_engine();
bool nccl_is_built();
/// Returns the version, as in "2.28.9"; empty without NCCL.
std::string nccl_version();

}  // namespace paceline::engines
