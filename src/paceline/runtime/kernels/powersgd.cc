// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <tuple>

#include <torch/types.h>

#include "paceline/base/random.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"

namespace paceline::runtime {
namespace {

// The part of a slice that is one tensor, viewed as a matrix, and the offsets at which its factors
// P (left) and Q (right) begin.
struct Matrix {
  std::int64_t begin = 0, rows = 0, columns = 0, rank = 0;
  std::int64_t left = 0, right = 0;

  bool plain() const { return rank == 0; }
  std::int64_t left_count() const { return plain() ? rows : rows * rank; }

  at::Tensor of(const at::Tensor& slice) const {
    return slice.narrow(0, begin, rows * columns).view({rows, columns});
  }
  at::Tensor p(const at::Tensor& lefts) const {
    return lefts.narrow(0, left, left_count()).view({rows, -1});
  }
  at::Tensor q(const at::Tensor& rights) const {
    return rights.narrow(0, right, columns * rank).view({columns, rank});
  }
};

template <class Use>
void visit_matrices(const Call& call, const Use& use) {
  Matrix next;
  for (std::size_t i = 0; i + 3 < call.numbers.size(); i += 4) {
    const auto number = [&](std::size_t n) {
      return static_cast<std::int64_t>(call.numbers[i + n]);
    };
    next.begin = number(0);
    next.rows = number(1);
    next.columns = number(2);
    next.rank = number(3);
    use(next);
    next.left += next.left_count();
    next.right += next.columns * next.rank;
  }
}

// Draws the initial Q of a matrix: standard normal numbers, each made of two numbers of the random
// stream.  Every matrix uses its own part of the stream, so its Q does not depend on which other
// matrices are initialized in the call.
at::Tensor initial_q(const Matrix& matrix, const Call& call) {
  Random random = random_of(call.random, static_cast<std::uint64_t>(0));
  random.seek(static_cast<std::uint64_t>(2 * matrix.right));
  at::Tensor values = at::empty({matrix.columns, matrix.rank}, at::kDouble);
  auto* const numbers = values.data_ptr<double>();
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    numbers[i] = random.normal();
  }
  return values;
}

// Computes in float or double precision, because LAPACK has no half precision.
at::Tensor basis_of(const at::Tensor& p) {
  const bool wide = p.scalar_type() == at::kDouble;
  return std::get<0>(at::linalg_qr(p.to(wide ? at::kDouble : at::kFloat)));
}

}  // namespace

// A Q that is zero is first drawn from the call's random key, the same on all ranks.
void run_powersgd_left(const OptimizerSettings& /*rule*/, const Call& call) {
  const at::Tensor& gradients = call.reads[0].front();
  const at::Tensor& residual = call.writes[1].front();
  visit_matrices(call, [&](const Matrix& matrix) {
    const at::Tensor p = matrix.p(call.writes[0].front());
    if (matrix.plain()) {
      p.copy_(matrix.of(gradients));
      return;
    }
    const at::Tensor q = matrix.q(call.writes[2].front());
    if (!q.any().item<bool>()) {
      q.copy_(initial_q(matrix, call));
    }
    const at::Tensor m = matrix.of(residual);
    m.add_(matrix.of(gradients));
    p.copy_(at::mm(m, q));
  });
}

void run_powersgd_right(const OptimizerSettings& /*rule*/, const Call& call) {
  visit_matrices(call, [&](const Matrix& matrix) {
    if (!matrix.plain()) {
      const at::Tensor p = matrix.p(call.writes[0].front());
      p.copy_(basis_of(p));
      matrix.q(call.writes[1].front()).copy_(at::mm(matrix.of(call.reads[1].front()).t(), p));
    }
  });
}

void run_powersgd_outer(const OptimizerSettings& /*rule*/, const Call& call) {
  visit_matrices(call, [&](const Matrix& matrix) {
    const at::Tensor values = matrix.of(call.writes[0].front());
    const at::Tensor p = matrix.p(call.reads[0].front());
    if (matrix.plain()) {
      values.copy_(p);
      return;
    }
    values.copy_(at::mm(p, matrix.q(call.reads[1].front()).t()));
    if (call.writes.size() > 1) {
      const double ranks = call.numbers.back();
      matrix.of(call.writes[1].front()).sub_(values, 1 / ranks);
    }
  });
}

}  // namespace paceline::runtime
