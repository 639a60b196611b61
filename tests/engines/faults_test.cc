// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "engines/rank_program.h"
#include "paceline/base/process.h"
#include "paceline/base/spawn.h"

namespace paceline {
namespace {

using namespace std::chrono_literals;
using testing::run_marked;

TEST(JobLaunch, ranks_work_together) {
  const auto said = run_marked("PROGRAM launch 4 20000 ok");
  EXPECT_EQ(said.exit_code, 0) << said.text;
  for (const auto* rank : {"0", "1", "2", "3"}) {
    EXPECT_TRUE(said.contains(std::string("rank ") + rank + " of 4, local " + rank +
                              " of 4, paceline, mean 10"))
        << said.text;
  }
}

TEST(Faults, a_killed_rank_is_named) {
  const auto said = run_marked("PROGRAM launch 4 20000 kill");
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_TRUE(said.contains("outcome: rank 3 on host ")) << said.text;
  EXPECT_TRUE(said.contains("was killed by signal 9 (Killed); last heartbeat at step "))
      << said.text;
  EXPECT_TRUE(said.contains("all-reduce, 8 B")) << said.text;
}

TEST(Faults, rank_0s_death_does_not_take_the_store) {
  const auto said = run_marked("PROGRAM launch 3 20000 kill-first");
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_TRUE(said.contains("outcome: rank 0 on host ")) << said.text;
  EXPECT_TRUE(said.contains("was killed by signal 9 (Killed)")) << said.text;
}

TEST(Faults, a_stopped_rank_is_named) {
  const auto said = run_marked("PROGRAM launch 3 4000 stop");
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_TRUE(said.contains("outcome: rank 2 on host ")) << said.text;
  EXPECT_TRUE(said.contains("stopped answering 4 s ago; last heartbeat at step ")) << said.text;
}

TEST(Faults, rank_0_that_is_stopped_is_named) {
  const auto said = run_marked("PROGRAM launch 3 4000 stop-first");
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_TRUE(said.contains("outcome: rank 0 on host ")) << said.text;
  EXPECT_TRUE(said.contains("stopped answering 4 s ago; last heartbeat at step ")) << said.text;
}

TEST(Faults, a_rank_that_exits_early_is_named) {
  const auto said = run_marked("PROGRAM launch 3 20000 exit");
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_TRUE(said.contains("outcome: rank 2 on host ")) << said.text;
  EXPECT_TRUE(said.contains("left early")) << said.text;
}

// While the others wait for it to connect.
TEST(Faults, a_rank_that_hangs_before_it_connects_is_named) {
  const auto said = run_marked("PROGRAM launch 3 4000 hang");
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_TRUE(said.contains("outcome: rank 2 on host ")) << said.text;
  EXPECT_TRUE(said.contains("the main thread has not moved for ")) << said.text;
}

// As a write to the connection of a rank that has died raises it.
TEST(Faults, a_closed_pipe_ends_no_rank) {
  const auto said = run_marked("PROGRAM launch 3 20000 closed-pipe");
  EXPECT_EQ(said.exit_code, 0) << said.text;
  EXPECT_TRUE(said.contains("rank 2 of 3")) << said.text;
}

TEST(Faults, an_exceptions_text_is_the_message) {
  const auto said = run_marked("PROGRAM launch 3 20000 throw");
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_TRUE(said.contains("outcome: rank 2 on host ")) << said.text;
  EXPECT_TRUE(said.contains(": failed: broken on purpose\n")) << said.text;
  EXPECT_FALSE(said.contains("Exception raised from")) << said.text;
}

TEST(Faults, a_users_mistake_is_told_once_without_a_rank) {
  const auto said = run_marked("PROGRAM launch 3 20000 usage");
  EXPECT_EQ(said.exit_code, 2);
  EXPECT_EQ(said.text, "outcome: --mode usage: rejected\n");
}

// The launcher, writing to a file, once its ranks are at work.
class Running : public ::testing::Test {
 protected:
  void SetUp() override {
    auto environment = environment_with({});
    environment.push_back(testing::mark());
    pid_ = spawn({"/bin/sh",
                  {"sh", "-c",
                   std::string("exec ") + PACELINE_RANK_PROGRAM + " launch 3 20000 forever > " +
                       output_.string() + " 2>&1"},
                  environment});
    const auto deadline = steady_now() + 60s;
    while (text().find("first step done") == std::string::npos) {
      ASSERT_LT(steady_now(), deadline) << text();
      std::this_thread::sleep_for(5ms);
    }
  }

  void TearDown() override {
    kill(pid_, SIGKILL);
    std::filesystem::remove(output_);
  }

  int wait() {
    int status = -1;
    waitpid(pid_, &status, 0);
    return status;
  }

  void expect_nothing_left() {
    const auto deadline = steady_now() + 10s;
    while (testing::marked_processes(testing::mark()) > 0 && steady_now() < deadline) {
      std::this_thread::sleep_for(5ms);
    }
    EXPECT_EQ(testing::marked_processes(testing::mark()), 0);
  }

  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(output_).rdbuf();
    return all.str();
  }

  std::filesystem::path output_ =
      std::filesystem::temp_directory_path() / ("paceline-faults-" + std::to_string(getpid()));
  pid_t pid_ = -1;
};

TEST_F(Running, signals_end_all_ranks_after_their_step) {
  kill(pid_, SIGINT);
  const int status = wait();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_NE(text().find("rank 2 of 3"), std::string::npos) << text();
  expect_nothing_left();
}

TEST_F(Running, one_ranks_wish_ends_all) {
  // SIGUSR1 as batch systems send it before the time is up.
  kill(pid_, SIGUSR1);
  EXPECT_EQ(WEXITSTATUS(wait()), 0) << text();
  expect_nothing_left();
}

TEST_F(Running, the_launchers_death_leaves_no_rank) {
  kill(pid_, SIGKILL);
  wait();
  expect_nothing_left();
}

}  // namespace
}  // namespace paceline
