// SPDX-License-Identifier: Apache-2.0
// While a rank waits for others as it sets up, it shows that it does not hang: here the others
// answer only when it has shown that.
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engines/controlled_work.h"
#include "engines/passing_channel.h"
#include "rank/run_rank_threads.h"
#include "rank/small_case.h"

namespace paceline::rank {
namespace {

using testing::ControlledWork;
using testing::small_case;

using Told = std::vector<c10::intrusive_ptr<ControlledWork>>;

class HeldChannel final : public testing::PassingChannel {
 public:
  HeldChannel(std::unique_ptr<engines::Channel> real, Told& told)
      : PassingChannel(*real), owned_(std::move(real)), told_(told) {}

  Work all_gather(const at::Tensor& in, const at::Tensor& out) override {
    return held(PassingChannel::all_gather(in, out));
  }
  Work broadcast(const at::Tensor& values, int root) override {
    return held(PassingChannel::broadcast(values, root));
  }
  Work barrier() override { return held(PassingChannel::barrier()); }

 private:
  Work held(const Work& real) {
    real->wait();
    told_.push_back(c10::make_intrusive<ControlledWork>(/*has_future=*/true));
    return told_.back();
  }

  std::unique_ptr<engines::Channel> owned_;
  Told& told_;
};

class HeldEngine final : public engines::Engine {
 public:
  HeldEngine(engines::Engine& real, Told& told) : real_(real), told_(told) {}

  std::string_view name() const override { return real_.name(); }
  std::unique_ptr<engines::Channel> connect(const engines::ChannelSpec& spec) override {
    return std::make_unique<HeldChannel>(real_.connect(spec), told_);
  }

 private:
  engines::Engine& real_;
  Told& told_;
};

TEST(Trainer, MovesWhileItWaitsForOthersToSetUp) {
  const auto errors = testing::run_rank_threads(2, [](const RankGroup& group) {
    Told told;
    HeldEngine engine(*group.engine, told);
    std::size_t ended = 0;
    RankGroup held = group;
    held.engine = &engine;
    held.peers.idle = [&] {
      for (; ended < told.size(); ++ended) {
        told[ended]->end();
      }
    };
    // Shares a profile, agrees on the plan, starts from rank 0's parameters.
    TrainerOptions options;
    plan::AlphaBeta& times = options.alpha_beta.emplace();
    times.world = 2;
    times.all_reduce = plan::alpha_beta_time_of(1e-4, 1e-9);
    const Trainer trainer(small_case("mlp", "mg-wfbp"), held, options);
    EXPECT_EQ(ended, 4U);
  });
  for (const std::string& error : errors) {
    EXPECT_EQ(error, "");
  }
}

}  // namespace
}  // namespace paceline::rank
