// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace paceline::engines {

class Engine;

/// Makes the engine NCCL as the CUDA wheel of PyTorch has it.  Throws UsageError in a build without
/// PACELINE_WITH_NCCL, which compiles no_nccl.cc in place of nccl_engine.cc.
std::unique_ptr<Engine> make_nccl_engine();
bool nccl_is_built();
/// Returns the version, as in "2.28.9"; empty without NCCL.
std::string nccl_version();

}  // namespace paceline::engines
