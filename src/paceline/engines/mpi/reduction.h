// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <mpi.h>

namespace paceline::engines::mpi {

/// Reductions of bf16 and fp16, for which MPI 3 has no types: the elements are MPI_UINT16_T.  Sums
/// are computed in float and rounded to nearest, ties to even, once per hop of MPI's algorithm; NaN
/// stays NaN.
struct HalfReductions {
  MPI_Op sum = MPI_OP_NULL, maximum = MPI_OP_NULL, minimum = MPI_OP_NULL;
};

/// Must be called after MPI_Init; the reductions are created once per process and never freed.
const HalfReductions& bf16_reductions();
const HalfReductions& fp16_reductions();

}  // namespace paceline::engines::mpi
