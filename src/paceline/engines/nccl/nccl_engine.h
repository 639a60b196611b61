// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace paceline::engines {

class Engine;

/// NCCL as the CUDA wheel has it.  nccl_engine.cc is compiled with
/// PACELINE_WITH_NCCL, no_nccl.cc (UsageError) without.
std::unique_ptr<Engine> make_nccl_engine();
bool nccl_is_built();

}  // namespace paceline::engines
