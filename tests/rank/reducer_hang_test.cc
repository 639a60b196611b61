// SPDX-License-Identifier: Apache-2.0
// A rank that hangs inside c10d::Reducer cannot be woken: the case files why, with its host and the
// operation, and ends the process.
#include <iostream>
#include <thread>

#include <gtest/gtest.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "launch/memory_store.h"
#include "paceline/engines/channel_spec.h"
#include "paceline/launch/failure_notice.h"
#include "paceline/rank/case_run.h"

namespace paceline::rank {
namespace {

using std::chrono::milliseconds;

// Prints on stderr what rank 0 posts about its failure.
class PrintingStore final : public launch::KeyValueStore {
 public:
  void set(const std::string& key, const std::string& value) override { values_.set(key, value); }
  std::string set_if_absent(const std::string& key, const std::string& value) override {
    const std::string now = values_.set_if_absent(key, value);
    if (const auto failure = launch::failure_notice_of(*this, 0)) {
      std::cerr << launch::failure_message(*failure) << std::endl;
    }
    return now;
  }
  std::optional<std::string> get(const std::string& key) override { return values_.get(key); }

 private:
  paceline::testing::MemoryStore values_;
};

// Both ranks train; after its second step rank 1 takes no further part.
void train_with_a_rank_that_withdraws() {
  const auto c10d = std::make_shared<engines::C10dStore>(
      engines::C10dStore{c10::make_intrusive<c10d::HashStore>()});
  const auto store = std::make_shared<PrintingStore>();
  cases::Case c;
  c.model = "mlp";
  c.device = "cpu";
  c.engine = "gloo";
  c.strategy = "ddp";
  c.ranks = 2;
  c.batch_size = 4;
  c.threads = 1;
  const auto run = [&](int rank) {
    engines::World world;
    world.self.rank = rank;
    world.self.world = 2;
    world.self.launcher = "paceline";
    world.self.host = rank == 0 ? "left" : "right";
    world.hosts = {"left", "right"};
    world.c10d = c10d;
    world.store = store;
    launch::PrefixStore case_store(store, rank, "case/");
    CaseOptions options;
    options.name = "case";
    options.limits.timeout = milliseconds(1000);
    options.progress = [&](int done, int) {
      if (rank == 1 && done == 2) {
        std::this_thread::sleep_for(std::chrono::minutes(10));
      }
    };
    run_case(world, c, case_store, options);
  };
  std::thread other(run, 1);
  run(0);
  other.join();
}

TEST(ReducerHangDeathTest, IsFiledWithHostAndOperationAndEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(train_with_a_rank_that_withdraws(), ::testing::ExitedWithCode(3),
              "rank 0 on host left: step 2: .*all-reduce.* is not done after ");
}

}  // namespace
}  // namespace paceline::rank
