// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"
#include "paceline/runtime/kernels/sign_bits.h"

namespace paceline::runtime {
namespace {

// Adds one bit to each of many counters that are stored as bit planes: plane i holds bit i of every
// counter.
void add(at::Tensor vote, std::vector<at::Tensor>& planes) {
  for (at::Tensor& plane : planes) {
    const at::Tensor carry = plane.bitwise_and(vote);
    plane.bitwise_xor_(vote);
    vote = carry;
  }
}

// Returns a 1 for each counter that is at least `least`, comparing bits from the lowest on.
at::Tensor at_least(std::size_t least, const std::vector<at::Tensor>& planes) {
  at::Tensor result = at::full_like(planes.front(), -1);
  for (const at::Tensor& plane : planes) {
    if ((least & 1U) != 0) {
      result.bitwise_and_(plane);
    } else {
      result.bitwise_or_(plane);
    }
    least >>= 1U;
  }
  return result;
}

}  // namespace

void run_sign(const OptimizerSettings& /*rule*/, const Call& call) {
  pack_signs(call.reads[0].front(), call.writes[0].front());
}

void run_unsign(const OptimizerSettings& /*rule*/, const Call& call) {
  for (std::size_t i = 0; i < call.writes.size(); ++i) {
    write_signs(call.reads[i].front(), 1, call.writes[i].front());
  }
}

// Writes the signs +1 and -1.  Serves both directions: from gradients to bytes (I8), and from sums
// of such bytes to values.
void run_sign8(const OptimizerSettings& /*rule*/, const Call& call) {
  for (std::size_t i = 0; i < call.writes.size(); ++i) {
    call.writes[i].front().copy_(call.reads[i].front().ge(0)).mul_(2).sub_(1);
  }
}

void run_vote(const OptimizerSettings& /*rule*/, const Call& call) {
  const at::Tensor& majority = call.writes[0].front();
  std::vector<at::Tensor> votes;
  for (const Operand& read : call.reads) {
    PACELINE_CHECK_EQ(read.front().numel() % majority.numel(), 0);
    for (const at::Tensor& vote : read.front().split(majority.numel())) {
      votes.push_back(vote);
    }
  }
  std::vector<at::Tensor> planes;
  for (std::size_t rest = votes.size(); rest > 0; rest /= 2) {
    planes.push_back(at::zeros_like(majority));
  }
  for (const at::Tensor& vote : votes) {
    add(vote, planes);
  }
  majority.copy_(at_least((votes.size() + 1) / 2, planes));
}

}  // namespace paceline::runtime
