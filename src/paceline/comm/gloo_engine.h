// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "paceline/comm/engine.h"

namespace paceline::comm {

/// Gloo as the PyTorch wheel has it: TCP between CPUs.  CUDA tensors are
/// staged through host memory by c10d.
std::unique_ptr<Engine> make_gloo_engine();

}  // namespace paceline::comm
