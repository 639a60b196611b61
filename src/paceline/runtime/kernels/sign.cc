// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/kernels/sign.h"

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "paceline/base/error.h"
#include "paceline/runtime/kernels/call.h"

namespace paceline::runtime {
namespace {

// Eight bytes of 0 or 1 are one I64, of which the product with this has byte
// i's bit at place 56 + i: 8 i + (56 - 7 i).  Other pairs of bits meet at other
// places, each its own, so that nothing is carried.
constexpr std::int64_t kCollect = 0x0102040810204080;

// A byte, spread to eight, keeps its bit i in byte i.
constexpr std::int64_t kSpread = 0x0101010101010101;
constexpr auto kDiagonal = static_cast<std::int64_t>(0x8040201008040201U);

// Adds one vote to counters whose bits lie in planes, the lowest first.
void add(at::Tensor vote, std::vector<at::Tensor>& planes) {
  for (at::Tensor& plane : planes) {
    const at::Tensor carry = plane.bitwise_and(vote);
    plane.bitwise_xor_(vote);
    vote = carry;
  }
}

// A 1 where the counter is at least `least`, bit by bit from the lowest.
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

void run_sign(const UpdateRule& /*rule*/, const Call& call) {
  const at::NoGradGuard no_grad;
  call.writes[0].front().copy_(
      call.reads[0].front().ge(0).view(at::kLong).mul(kCollect).__rshift__(56));
}

void run_unsign(const UpdateRule& /*rule*/, const Call& call) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < call.writes.size(); ++i) {
    const at::Tensor& values = call.writes[i].front();
    const at::Tensor bits = call.reads[i]
                                .front()
                                .to(at::kLong)
                                .bitwise_and_(0xFF)
                                .mul_(kSpread)
                                .bitwise_and_(kDiagonal)
                                .view(at::kChar)
                                .ne(0);
    values.copy_(bits.narrow(0, 0, values.numel())).mul_(2).sub_(1);
  }
}

void run_vote(const UpdateRule& /*rule*/, const Call& call) {
  const at::NoGradGuard no_grad;
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
