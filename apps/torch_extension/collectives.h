// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <ATen/core/Tensor.h>

#include "job.h"

namespace paceline::extension {

/// Collective over the job: the mean, sum or largest value of `tensor` over all ranks ("mean",
/// "sum", "max"), as a new tensor.
at::Tensor all_reduce(Job& job, const at::Tensor& tensor, const std::string& op);

/// Collective over the job: the value of rank `root`, as a new tensor.
at::Tensor broadcast(Job& job, const at::Tensor& tensor, int root);

/// Collective over the job: the weighted sum of this rank's tensor and those of its neighbors in
/// step `step` of `topology`, as a new tensor.
at::Tensor neighbor_allreduce(Job& job, const at::Tensor& tensor, const std::string& topology,
                              std::int64_t step);

}  // namespace paceline::extension
