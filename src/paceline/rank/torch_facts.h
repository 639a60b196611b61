// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline::rank {

/// The number of GPUs that PyTorch sees.
int cuda_devices();

/// The widest vector instructions that PyTorch uses on this CPU ("AVX2").
std::string cpu_capability();

}  // namespace paceline::rank
