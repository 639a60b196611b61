// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace paceline::comm {

class Engine;

/// Gloo as the PyTorch wheel has it: TCP between CPUs.  CUDA tensors are
/// staged through host memory by c10d.
std::unique_ptr<Engine> make_gloo_engine();

}  // namespace paceline::comm
