// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/host_launch.h"

#include <chrono>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "paceline/base/error.h"
#include "paceline/launch/detect_launch.h"

namespace paceline::launch {
namespace {

TEST(HostLaunch, crosses_as_one_line) {
  const HostLaunch launch{.host = "b",
                          .first_rank = 4,
                          .ranks = 2,
                          .executable = "/opt/pace line/bin",
                          .argv = {"paceline", "--label", "it's \"$HOME\"\n;"},
                          .variables = {{"NAME", "a b"}},
                          .folder = "/tmp"};
  const std::string line = to_line(launch);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const HostLaunch back = host_launch_from(line);
  EXPECT_EQ(back.host, launch.host);
  EXPECT_EQ(back.first_rank, launch.first_rank);
  EXPECT_EQ(back.ranks, launch.ranks);
  EXPECT_EQ(back.executable, launch.executable);
  EXPECT_EQ(back.argv, launch.argv);
  EXPECT_EQ(back.variables, launch.variables);
  EXPECT_EQ(back.folder, launch.folder);
  EXPECT_THROW(host_launch_from("{}"), UsageError);
  EXPECT_THROW(host_launch_from("paceline"), UsageError);
}

void expect_exit_codes(const HostLaunch& launch) {
  const SupervisorSignals signals;
  const auto children = start_ranks(launch, signals);
  ASSERT_EQ(children.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    const ChildProcess& child = children[static_cast<std::size_t>(i)];
    EXPECT_EQ(child.first_rank, 4 + i);
    EXPECT_EQ(child.host, "b");
    int status = 0;
    waitpid(child.pid, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 140 + 11 * i);
  }
}

TEST(HostLaunch, every_rank_gets_its_numbers) {
  expect_exit_codes({.host = "b",
                     .first_rank = 4,
                     .ranks = 2,
                     .executable = "/bin/sh",
                     .argv = {"sh", "-c", "exit $((RANK * 10 + LOCAL_RANK + SHIFT))"},
                     .variables = {{"SHIFT", "100"}},
                     .folder = ""});
}

// Starting many takes time, and the wish to stop waits until `supervise` runs.
TEST(HostLaunch, a_signal_ends_the_starting) {
  const SupervisorSignals signals;
  raise(SIGINT);
  const auto started = start_ranks({.host = "b",
                                    .first_rank = 0,
                                    .ranks = 1000,
                                    .executable = "/bin/sh",
                                    .argv = {"sh", "-c", "exit 0"},
                                    .variables = {},
                                    .folder = ""},
                                   signals);
  EXPECT_EQ(started.size(), 1u);
  waitpid(started.front().pid, nullptr, 0);
  int signal = signals.wait(std::chrono::seconds(10));
  while (signal == SIGCHLD) {
    signal = signals.wait(std::chrono::seconds(10));
  }
  EXPECT_EQ(signal, SIGINT);
}

TEST(HostLaunch, knows_this_machine) {
  for (const std::string& name : {std::string("localhost"), std::string("127.0.0.1"),
                                  std::string("127.0.1.1"), std::string("::1"), host_name()}) {
    EXPECT_TRUE(is_this_host(name)) << name;
  }
  EXPECT_FALSE(is_this_host(host_name() + "x"));
  EXPECT_FALSE(is_this_host("127"));
}

}  // namespace
}  // namespace paceline::launch
