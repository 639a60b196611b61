// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <mpi.h>

namespace paceline::engines::mpi {

/// Reductions that MPI 3 has no type for, on elements of MPI_UINT16_T: bf16 and fp16.  Sums are
/// taken in float and rounded to nearest, ties to even, once per hop of MPI's algorithm; NaN stays
/// NaN.
struct HalfReductions {
  MPI_Op sum = MPI_OP_NULL, maximum = MPI_OP_NULL, minimum = MPI_OP_NULL;
};

/// After MPI_Init; created once a process, and never freed.
const HalfReductions& bf16_reductions();
const HalfReductions& fp16_reductions();

}  // namespace paceline::engines::mpi
