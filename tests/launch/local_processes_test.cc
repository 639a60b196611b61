// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/local_processes.h"

#include <chrono>
#include <memory>
#include <thread>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/memory_store.h"

namespace paceline::launch {
namespace {

using namespace std::chrono_literals;
using testing::MemoryStore;

// The key of another rank, as that rank writes it, with another process.
void set_process(MemoryStore& store, int rank, pid_t process) {
  const std::string own = *store.get("process/0");
  store.set("process/" + std::to_string(rank),
            own.substr(0, own.rfind(' ') + 1) + std::to_string(process));
}

pid_t start_sleeping() {
  const pid_t child = fork();
  if (child == 0) {
    for (;;) {
      pause();
    }
  }
  return child;
}

TEST(LocalProcesses, SayWhichRankWasKilled) {
  const auto store = std::make_shared<MemoryStore>();
  LocalProcesses processes(store, 0, {"a", "a", "a"});
  EXPECT_TRUE(processes.ended().empty()) << "none has joined";
  const pid_t one = start_sleeping(), two = start_sleeping();
  set_process(*store, 1, one);
  set_process(*store, 2, two);
  EXPECT_TRUE(processes.ended().empty());
  kill(two, SIGKILL);
  siginfo_t end{};
  waitid(P_PID, static_cast<id_t>(two), &end, WEXITED | WNOWAIT);
  EXPECT_EQ(processes.ended(), std::vector{2}) << "before it is reaped";
  waitpid(two, nullptr, 0);
  store->vanish();
  EXPECT_EQ(processes.ended(), std::vector{2}) << "afterwards, and without store";
  kill(one, SIGKILL);
  waitpid(one, nullptr, 0);
  EXPECT_EQ(processes.ended(), (std::vector{1, 2}));
}

TEST(LocalProcesses, SayThatARankHasEndedBeforeItWasLookedFor) {
  const auto store = std::make_shared<MemoryStore>();
  LocalProcesses processes(store, 0, {"a", "a"});
  const pid_t one = start_sleeping();
  set_process(*store, 1, one);
  kill(one, SIGKILL);
  waitpid(one, nullptr, 0);
  EXPECT_EQ(processes.ended(), std::vector{1});
}

TEST(LocalProcesses, LookAtNoOtherMachine) {
  const auto store = std::make_shared<MemoryStore>();
  LocalProcesses processes(store, 0, {"a", "a", "b"});
  const pid_t ended = start_sleeping();
  kill(ended, SIGKILL);
  waitpid(ended, nullptr, 0);
  store->set("process/1", "another-boot/pid:[1] " + std::to_string(ended));
  set_process(*store, 2, ended);
  EXPECT_TRUE(processes.ended().empty());
}

}  // namespace
}  // namespace paceline::launch
