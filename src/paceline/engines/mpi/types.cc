// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/mpi/types.h"

#include "paceline/base/error.h"
#include "paceline/engines/mpi/reduction.h"

namespace paceline::engines::mpi {

MPI_Datatype type_of(const at::Tensor& values) {
  switch (values.scalar_type()) {
    case at::kFloat:
      return MPI_FLOAT;
    case at::kDouble:
      return MPI_DOUBLE;
    case at::kLong:
      return MPI_INT64_T;
    case at::kInt:
      return MPI_INT32_T;
    case at::kShort:
      return MPI_INT16_T;
    case at::kChar:
      return MPI_INT8_T;
    case at::kByte:
    case at::kBool:
      return MPI_UINT8_T;
    case at::kBFloat16:
    case at::kHalf:
      return MPI_UINT16_T;
    default:
      throw UsageError(
          fmt::format("engine mpi: moves no tensors of {}", c10::toString(values.scalar_type())));
  }
}

MPI_Op op_of(const c10d::ReduceOp& reduce, const at::Tensor& values) {
  const bool halves = values.scalar_type() == at::kBFloat16 || values.scalar_type() == at::kHalf;
  const HalfReductions of_halves = !halves ? HalfReductions{MPI_SUM, MPI_MAX, MPI_MIN}
                                   : values.scalar_type() == at::kHalf ? fp16_reductions()
                                                                       : bf16_reductions();
  switch (static_cast<c10d::ReduceOp::RedOpType>(reduce)) {
    case c10d::ReduceOp::SUM:
    case c10d::ReduceOp::AVG:
      return of_halves.sum;
    case c10d::ReduceOp::MAX:
      return of_halves.maximum;
    case c10d::ReduceOp::MIN:
      return of_halves.minimum;
    default:
      throw UsageError("engine mpi: reduces by sum, mean, maximum and minimum alone");
  }
}

}  // namespace paceline::engines::mpi
