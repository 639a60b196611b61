// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"

namespace paceline::runtime {
namespace {

class LinearOfType : public ::testing::TestWithParam<at::ScalarType> {};

// Two blocks and a rest, of one slice to more than two groups of them, into memory of its own and
// into the first and the last slice.
TEST_P(LinearOfType, RoundsAsOneAdditionAfterTheOther) {
  const at::TensorOptions options(GetParam());
  at::manual_seed(5);
  for (std::size_t slices = 1; slices <= 12; ++slices) {
    for (const char* written : {"own", "first", "last"}) {
      Call call;
      std::vector<double> weights;
      at::Tensor expected;
      for (std::size_t i = 0; i < slices; ++i) {
        at::Tensor values = at::randn({2 * 2048 + 37}, options);
        values.slice(0, 0, at::nullopt, 3).fill_(-0.0);
        weights.push_back(1.0 / static_cast<double>(i + 3));
        const at::Tensor part = values * weights.back();
        expected = i == 0 ? part : expected + part;
        call.reads.push_back({values});
      }
      call.numbers = weights;
      const std::string where(written);
      call.writes.push_back({where == "own"     ? at::full_like(expected, 7)
                             : where == "first" ? call.reads.front().front()
                                                : call.reads.back().front()});
      run_linear({}, call);
      const at::Tensor& sum = call.writes[0].front();
      EXPECT_TRUE(sum.equal(expected)) << slices << " into " << where;
      EXPECT_TRUE(at::signbit(sum).equal(at::signbit(expected))) << slices << " into " << where;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnePass, LinearOfType, ::testing::Values(at::kFloat, at::kDouble));

}  // namespace
}  // namespace paceline::runtime
