// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/torch_facts.h"

#include <ATen/Version.h>
#include <torch/cuda.h>

namespace paceline::rank {

int cuda_devices() { return static_cast<int>(torch::cuda::device_count()); }

std::string cpu_capability() { return at::get_cpu_capability(); }

}  // namespace paceline::rank
