// SPDX-License-Identifier: Apache-2.0
// What is rejected over an engine whose ranks must issue in one order, as NCCL's. Gloo stands for
// it, under its name.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rank/run_rank_threads.h"
#include "rank/small_case.h"

namespace paceline::rank {
namespace {

using testing::small_case;

class NamedNccl final : public engines::Engine {
 public:
  explicit NamedNccl(engines::Engine& real) : real_(real) {}
  std::string_view name() const override { return "nccl"; }
  std::unique_ptr<engines::Channel> connect(const engines::ChannelSpec& spec) override {
    return real_.connect(spec);
  }

 private:
  engines::Engine& real_;
};

std::vector<std::string> errors_of(const std::string& strategy) {
  return testing::run_rank_threads(2, [&](const RankGroup& group) {
    NamedNccl engine(*group.engine);
    RankGroup named = group;
    named.engine = &engine;
    Trainer trainer(small_case("mlp", strategy), named);
    trainer.step();
    trainer.drain();
  });
}

TEST(OneOrder, PriorityWithMessagesIsRejected) {
  for (const std::string& error : errors_of("bytescheduler:order=priority+ps")) {
    EXPECT_NE(error.find("order=priority: over nccl every rank must issue in one order"),
              std::string::npos)
        << error;
    EXPECT_NE(error.find("cannot choose for the plan's "), std::string::npos) << error;
  }
}

TEST(OneOrder, PriorityOfOneCommunicatorsCollectivesIsTaken) {
  for (const std::string& error : errors_of("bytescheduler:order=priority")) {
    EXPECT_EQ(error, "");
  }
}

}  // namespace
}  // namespace paceline::rank
