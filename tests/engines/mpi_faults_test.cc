// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engines/rank_program.h"
#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/launch/mpi_manager.h"

namespace paceline {
namespace {

using namespace std::chrono_literals;
using testing::run_marked;

// Where Open MPI puts the memory that ranks share.
std::string shared_memory_of(const launch::MpiManager& manager) {
  return manager.variables().at(0).at("OMPI_MCA_btl_vader_backing_directory");
}

pid_t only_child() {
  pid_t child = 0;
  std::ifstream("/proc/thread-self/children") >> child;
  return child;
}

TEST(MpiFaults, a_killed_mpirun_is_lost) {
  launch::MpiManager manager(PACELINE_MPIRUN, 2, 60s);
  EXPECT_EQ(manager.lost(), std::nullopt);
  ASSERT_EQ(kill(only_child(), SIGKILL), 0);
  std::optional<std::string> lost;
  while (!(lost = manager.lost())) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(lost, "mpirun was killed by signal 9 (Killed)");
}

// At each moment of its start, which takes some 50 ms.
TEST(MpiFaults, an_mpirun_that_ends_while_it_starts_leaves_nothing) {
  setenv("PACELINE_TEST_MARK", std::to_string(getpid()).c_str(), 1);
  for (int moment = 0; moment < 40; moment += 2) {
    {
      int asked = 0;
      const launch::MpiManager stopped(PACELINE_MPIRUN, 3, 60s, [&] { return asked++ >= moment; });
      EXPECT_TRUE(moment > 0 || stopped.variables().size() < 3U);
    }
    SCOPED_TRACE(moment);
    testing::expect_none_marked();
    ASSERT_FALSE(HasFailure());
  }
  unsetenv("PACELINE_TEST_MARK");
}

TEST(MpiFaults, a_missing_mpirun_is_an_error_of_the_user) {
  try {
    const launch::MpiManager missing("/no/such/mpirun", 2, 60s);
    FAIL() << "a program that does not exist has started";
  } catch (const UsageError& error) {
    EXPECT_TRUE(
        std::string(error.what()).starts_with("engine mpi: mpirun ended with exit code 127: env: "))
        << error.what();
  }
}

TEST(MpiFaults, the_start_of_mpirun_ends_at_the_timeout) {
  try {
    const launch::MpiManager late(PACELINE_MPIRUN, 2, 1ms);
    FAIL() << "mpirun started within a millisecond";
  } catch (const WorldError& error) {
    EXPECT_TRUE(std::string(error.what())
                    .starts_with("engine mpi: mpirun did not start 2 ranks within 0.001 s"))
        << error.what();
  }
}

TEST(MpiFaults, shared_memory_of_killed_ranks_is_removed) {
  std::filesystem::path folder;
  {
    const launch::MpiManager manager(PACELINE_MPIRUN, 2, 60s);
    folder = shared_memory_of(manager);
    ASSERT_TRUE(std::filesystem::is_directory(folder));
  }
  EXPECT_FALSE(std::filesystem::exists(folder)) << folder;
}

TEST(MpiFaults, shared_memory_of_a_killed_launcher_is_removed) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t launcher = fork();
  if (launcher == 0) {
    const launch::MpiManager manager(PACELINE_MPIRUN, 2, 60s);
    const std::string folder = shared_memory_of(manager);
    _exit(write(pipe_ends[1], folder.data(), folder.size()) > 0 ? pause() : 1);
  }
  std::string folder(1000, '\0');
  folder.resize(read(pipe_ends[0], folder.data(), folder.size()));
  ASSERT_TRUE(std::filesystem::is_directory(folder)) << folder;
  ASSERT_EQ(kill(launcher, SIGKILL), 0);
  EXPECT_EQ(waitpid(launcher, nullptr, 0), launcher);
  const Stopwatch watch;
  while (std::filesystem::exists(folder) && watch.elapsed() < 10s) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_FALSE(std::filesystem::exists(folder)) << folder;
}

TEST(MpiFaults, ranks_work_together) {
  const auto said = run_marked("PROGRAM launch 4 20000 ok mpi");
  EXPECT_EQ(said.exit_code, 0) << said.text;
  for (const auto* rank : {"0", "1", "2", "3"}) {
    EXPECT_TRUE(said.contains(std::string("rank ") + rank + " of 4, local " + rank +
                              " of 4, paceline, mean 10"))
        << said.text;
  }
}

// One sentence, and nothing of what MPI and mpirun say about it.
void expect_named(const testing::Said& said, const std::string& cause) {
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_TRUE(said.contains(cause)) << said.text;
  EXPECT_FALSE(said.contains("mpirun")) << said.text;
  EXPECT_FALSE(said.contains("MPI_")) << said.text;
  EXPECT_FALSE(said.contains("PMIX")) << said.text;
  EXPECT_FALSE(said.contains("----")) << said.text;
}

TEST(MpiFaults, a_killed_rank_is_named) {
  const auto said = run_marked("PROGRAM launch 3 20000 kill mpi");
  expect_named(said, "outcome: rank 2 on host ");
  EXPECT_TRUE(said.contains("was killed by signal 9 (Killed); last heartbeat at step "))
      << said.text;
}

TEST(MpiFaults, rank_0s_death_is_named) {
  expect_named(run_marked("PROGRAM launch 3 20000 kill-first mpi"), "outcome: rank 0 on host ");
}

TEST(MpiFaults, a_stopped_rank_is_named) {
  const auto said = run_marked("PROGRAM launch 3 4000 stop mpi");
  expect_named(said, "outcome: rank 2 on host ");
  EXPECT_TRUE(said.contains("stopped answering 4 s ago; last heartbeat at step ")) << said.text;
}

TEST(MpiFaults, a_rank_that_exits_early_is_named) {
  const auto said = run_marked("PROGRAM launch 3 20000 exit mpi");
  expect_named(said, "outcome: rank 2 on host ");
  EXPECT_TRUE(said.contains("left early: it ended with exit code 0; ")) << said.text;
}

TEST(MpiFaults, a_rank_that_hangs_before_it_connects_is_named) {
  const auto said = run_marked("PROGRAM launch 3 4000 hang mpi");
  expect_named(said, "outcome: rank 2 on host ");
  EXPECT_TRUE(said.contains("the main thread has not moved for ")) << said.text;
}

TEST(MpiFaults, a_rank_of_srun_without_PMIx_is_rejected) {
  const auto said = run_marked("SLURM_PROCID=0 PROGRAM rank 20000 ok mpi");
  EXPECT_EQ(said.exit_code, 2);
  EXPECT_TRUE(said.contains("engine mpi: srun started this rank without PMIx")) << said.text;
}

TEST(MpiFaults, an_exceptions_text_is_the_message) {
  expect_named(run_marked("PROGRAM launch 3 20000 throw mpi"), ": failed: broken on purpose\n");
}

}  // namespace
}  // namespace paceline
