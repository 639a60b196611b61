// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <mpi.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

namespace paceline::engines::mpi {

/// Returns the MPI type of the elements; for bf16 and fp16 it is MPI_UINT16_T.  Throws UsageError
/// for a type that MPI cannot move.
MPI_Datatype type_of(const at::Tensor& values);

/// Returns the MPI reduction of such elements; for a mean it is the sum.  Throws UsageError for
/// products and bitwise reductions.
MPI_Op op_of(const c10d::ReduceOp& reduce, const at::Tensor& values);

}  // namespace paceline::engines::mpi
