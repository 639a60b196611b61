// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/comm_case.h"

#include <gtest/gtest.h>

#include "engines/passing_channel.h"
#include "engines/run_ranks.h"
#include "paceline/base/error.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::rank {
namespace {

TEST(CommCase, EveryOperationIsRightAndBookedInEveryType) {
  constexpr int kWorld = 3;
  testing::run_ranks(kWorld, [](engines::Channel& channel) {
    for (const std::string_view operation : plan::kOperations) {
      for (const std::string& dtype : comm_dtypes()) {
        const CommSamples samples = measure_operation(channel, operation, 1000,
                                                      {.warmup = 1, .measured = 2, .dtype = dtype});
        EXPECT_EQ(samples.wrong_elements, 0) << operation << " " << dtype;
        EXPECT_EQ(samples.duration_ns.size(), 2U);
        EXPECT_GT(samples.bytes, 1000 - element_bytes(dtype));
        EXPECT_EQ(samples.bytes % element_bytes(dtype), 0);
        if (operation == "all-reduce") {
          EXPECT_EQ(samples.wire_bytes,
                    plan::wire_bytes(plan::Pattern::kAllReduce, samples.bytes, kWorld));
        }
      }
    }
  });
}

/// Adds one to the first element that an all-reduce brings.
class WrongChannel final : public testing::PassingChannel {
 public:
  explicit WrongChannel(engines::Channel& real) : PassingChannel(real) {}
  Work all_reduce(const at::Tensor& values, plan::Reduce reduce) override {
    const Work work = PassingChannel::all_reduce(values, reduce);
    work->wait();
    values.view({-1})[0] += 1;
    return work;
  }
};

TEST(CommCase, AWrongElementIsFound) {
  testing::run_ranks(2, [](engines::Channel& channel) {
    WrongChannel wrong(channel);
    const CommIterations once{.warmup = 0, .measured = 1};
    EXPECT_EQ(measure_operation(wrong, "all-reduce", 4096, once).wrong_elements, 1);
    EXPECT_EQ(measure_operation(wrong, "broadcast", 4096, once).wrong_elements, 0);
  });
}

TEST(CommCase, TypesHaveTheirBytes) {
  EXPECT_EQ(comm_dtypes(), (std::vector<std::string>{"fp32", "fp64", "fp16", "bf16", "int32"}));
  EXPECT_EQ(element_bytes("fp64"), 8);
  EXPECT_EQ(element_bytes("bf16"), 2);
  EXPECT_THROW(element_bytes("fp8"), UsageError);
}

}  // namespace
}  // namespace paceline::rank
