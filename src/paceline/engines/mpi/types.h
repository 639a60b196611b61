// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <mpi.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

namespace paceline::engines::mpi {

/// What MPI takes the elements for; bf16 and fp16 are MPI_UINT16_T.  Throws UsageError for a type
/// that it cannot move.
MPI_Datatype type_of(const at::Tensor& values);

/// Reduces such elements; a mean is a sum here.  Throws UsageError for products and bitwise
/// reductions.
MPI_Op op_of(const c10d::ReduceOp& reduce, const at::Tensor& values);

}  // namespace paceline::engines::mpi
