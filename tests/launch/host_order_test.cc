// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/host_order.h"

#include <chrono>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "paceline/base/error.h"
#include "paceline/launch/place.h"

namespace paceline::launch {
namespace {

TEST(HostOrder, crosses_as_one_line) {
  const HostOrder order{.host = "b",
                        .first_rank = 4,
                        .ranks = 2,
                        .executable = "/opt/pace line/bin",
                        .argv = {"paceline", "--label", "it's \"$HOME\"\n;"},
                        .order = "{}\n",
                        .variables = {{"NAME", "a b"}},
                        .folder = "/tmp"};
  const std::string line = to_line(order);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const HostOrder back = host_order_from(line);
  EXPECT_EQ(back.host, order.host);
  EXPECT_EQ(back.first_rank, order.first_rank);
  EXPECT_EQ(back.ranks, order.ranks);
  EXPECT_EQ(back.executable, order.executable);
  EXPECT_EQ(back.argv, order.argv);
  EXPECT_EQ(back.order, order.order);
  EXPECT_EQ(back.variables, order.variables);
  EXPECT_EQ(back.folder, order.folder);
  EXPECT_THROW(host_order_from("{}"), UsageError);
  EXPECT_THROW(host_order_from("paceline"), UsageError);
}

void expect_exit_codes(const HostOrder& order) {
  const SupervisorSignals signals;
  const StartedRanks started(order, signals);
  const auto& children = started.watched();
  ASSERT_EQ(children.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    const Watched& child = children[static_cast<std::size_t>(i)];
    EXPECT_EQ(child.first_rank, 4 + i);
    EXPECT_EQ(child.host, "b");
    int status = 0;
    waitpid(child.pid, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 140 + 11 * i);
  }
}

TEST(HostOrder, every_rank_gets_its_numbers) {
  expect_exit_codes(
      {.host = "b",
       .first_rank = 4,
       .ranks = 2,
       .executable = "/bin/sh",
       .argv = {"sh", "-c", "exit $((RANK * 10 + LOCAL_RANK + SHIFT))"},
       .order = "",
       .variables = {{"SHIFT", "100"}},
       .folder = ""});
}

// Starting many takes time, and the wish to stop waits until `supervise` runs.
TEST(HostOrder, a_signal_ends_the_starting) {
  const SupervisorSignals signals;
  raise(SIGINT);
  const StartedRanks started({.host = "b",
                              .first_rank = 0,
                              .ranks = 1000,
                              .executable = "/bin/sh",
                              .argv = {"sh", "-c", "exit 0"},
                              .order = "",
                              .variables = {},
                              .folder = ""},
                             signals);
  EXPECT_EQ(started.watched().size(), 1u);
  waitpid(started.watched().front().pid, nullptr, 0);
  int signal = signals.wait(std::chrono::seconds(10));
  while (signal == SIGCHLD) {
    signal = signals.wait(std::chrono::seconds(10));
  }
  EXPECT_EQ(signal, SIGINT);
}

// sh takes the words after the script as $0 and $1.
TEST(HostOrder, every_rank_reads_the_text) {
  expect_exit_codes(
      {.host = "b",
       .first_rank = 4,
       .ranks = 2,
       .executable = "/bin/sh",
       .argv = {"sh",
                "-c",
                "[ $0 = --order ] && exit $((RANK * 10 + LOCAL_RANK + "
                "$(cat $1)))"},
       .order = "100",
       .variables = {},
       .folder = ""});
}

TEST(HostOrder, knows_this_machine) {
  for (const std::string& name : {std::string("localhost"),
                                  std::string("127.0.0.1"),
                                  std::string("127.0.1.1"),
                                  std::string("::1"),
                                  host_name()}) {
    EXPECT_TRUE(is_this_host(name)) << name;
  }
  EXPECT_FALSE(is_this_host(host_name() + "x"));
  EXPECT_FALSE(is_this_host("127"));
}

}  // namespace
}  // namespace paceline::launch
