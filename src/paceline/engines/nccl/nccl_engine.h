// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace paceline::engines {

class Engine;

/// NCCL as the CUDA wheel has it.  nccl_engine.cc is compiled with PACELINE_WITH_NCCL, no_nccl.cc
/// (UsageError) without.
std::unique_ptr<Engine> make_nccl_engine();
bool nccl_is_built();
/// "2.28.9"; empty without NCCL.
std::string nccl_version();

}  // namespace paceline::engines
