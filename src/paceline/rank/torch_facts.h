// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline::rank {

/// Returns the number of GPUs that PyTorch sees.
int cuda_devices();

/// Returns the widest vector instructions that PyTorch uses on this CPU ("AVX2").
std::string cpu_capability();

}  // namespace paceline::rank
