// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/child.h"

#include <array>
#include <csignal>
#include <cstring>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paceline/base/error.h"

namespace paceline::rank {
namespace {

constexpr std::chrono::seconds kPatience(20);

TEST(ChildTest, LinesThenExitCode) {
  Child child({"sh", "-c", "echo $WORD; cat; exit 7"}, {{"WORD", "one"}}, "two\n");
  EXPECT_EQ(child.read_line(kPatience, [] {}), "one");
  EXPECT_EQ(child.read_line(kPatience, [] {}), "two");
  EXPECT_EQ(child.read_line(kPatience, [] {}), std::nullopt);
  EXPECT_EQ(child.wait(), 7);
}

TEST(ChildTest, NoSuchCommand) { EXPECT_THROW(Child({"/no/such/command"}), WorldError); }

TEST(ChildTest, DiesWithAKilledParent) {
  // Orphans become our children, so that their end can be waited for.
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t rank = fork();
  if (rank == 0) {
    Child child({"sh", "-c", "echo $$; exec sleep 20"});
    const std::string line = *child.read_line(kPatience, [] {});
    const pid_t pid = std::stoi(line);
    _exit(write(pipe_ends[1], &pid, sizeof(pid)) == sizeof(pid) ? child.wait() : 1);
  }
  pid_t grandchild = 0;
  ASSERT_EQ(read(pipe_ends[0], &grandchild, sizeof(grandchild)),
            static_cast<ssize_t>(sizeof(grandchild)));
  kill(rank, SIGKILL);
  ASSERT_EQ(waitpid(rank, nullptr, 0), rank);
  int status = 0;
  ASSERT_EQ(waitpid(grandchild, &status, 0), grandchild);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it lived to its own end";
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

}  // namespace
}  // namespace paceline::rank
