// SPDX-License-Identifier: Apache-2.0
// A rank that hangs inside c10d::Reducer cannot be woken: the case files why,
// with its host and the operation, and ends the process.
#include <iostream>
#include <thread>

#include <gtest/gtest.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "launch/memory_board.h"
#include "paceline/engines/c10d_store.h"
#include "paceline/launch/failure_notice.h"
#include "paceline/measure/case_run.h"

namespace paceline::measure {
namespace {

using std::chrono::milliseconds;

// Says on stderr what is posted about a failure.
class TellingBoard final : public launch::Board {
 public:
  void post(const std::string& key, const std::string& text) override {
    board_.post(key, text);
  }
  std::string post_first(const std::string& key,
                         const std::string& text) override {
    const std::string now = board_.post_first(key, text);
    if (const auto failure = launch::job_failure(*this)) {
      std::cerr << launch::sentence(*failure) << std::endl;
    }
    return now;
  }
  std::optional<std::string> read(const std::string& key) override {
    return board_.read(key);
  }

 private:
  paceline::testing::MemoryBoard board_;
};

// Both ranks train; after its second step rank 1 takes no further part.
void train_with_a_rank_that_withdraws() {
  const auto store = std::make_shared<engines::JobStore>(
      engines::JobStore{c10::make_intrusive<c10d::HashStore>()});
  const auto board = std::make_shared<TellingBoard>();
  records::Configuration c;
  c.model = "mlp";
  c.device = "cpu";
  c.engine = "gloo";
  c.strategy = "ddp";
  c.ranks = 2;
  c.batch_size = 4;
  c.threads = 1;
  const auto run = [&](int rank) {
    engines::World world;
    world.place.rank = rank;
    world.place.world = 2;
    world.place.launcher = "paceline";
    world.place.host = rank == 0 ? "left" : "right";
    world.hosts = {"left", "right"};
    world.store = store;
    world.board = board;
    Bulletin bulletin(world, "case/", {});
    CaseOptions options;
    options.name = "case";
    options.timeout = milliseconds(1000);
    options.progress = [&](int done, int) {
      if (rank == 1 && done == 2) {
        std::this_thread::sleep_for(std::chrono::minutes(10));
      }
    };
    run_case(world, c, bulletin, options);
  };
  std::thread other(run, 1);
  run(0);
  other.join();
}

TEST(ReducerHangDeathTest, IsFiledWithHostAndOperationAndEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(train_with_a_rank_that_withdraws(),
              ::testing::ExitedWithCode(3),
              "rank 0 on host left: step 2: .*all-reduce.* is not done after ");
}

}  // namespace
}  // namespace paceline::measure
