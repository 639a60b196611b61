// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/error.h"
#include "paceline/engines/nccl/nccl_engine.h"

namespace paceline::engines {

std::unique_ptr<Engine> make_nccl_engine() {
  throw UsageError(
      "--engine nccl: this program was built without NCCL; configure it with the 'cuda' preset on "
      "a CUDA wheel of PyTorch");
}

bool nccl_is_built() { return false; }

std::string nccl_version() { return ""; }

}  // namespace paceline::engines
