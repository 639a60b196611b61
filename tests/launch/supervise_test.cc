// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/supervise.h"

#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/marked_processes.h"
#include "launch/memory_store.h"
#include "paceline/base/clock.h"
#include "paceline/base/process.h"
#include "paceline/base/spawn.h"
#include "paceline/launch/failure_notice.h"
#include "paceline/launch/heartbeat.h"
#include "paceline/launch/signals.h"

namespace paceline::launch {
namespace {

using namespace std::chrono_literals;
using testing::MemoryStore;

// Shell scripts stand in for ranks.  Their processes carry a marker, so that what they leave behind
// can be found.
class Supervising : public ::testing::Test {
 protected:
  Outcome run(const std::vector<std::string>& scripts) {
    std::vector<ChildProcess> children;
    for (const auto& script : scripts) {
      const auto environment = environment_with({{"PACELINE_TEST_MARK", mark_}});
      children.push_back({.pid = spawn({"/bin/sh", {"sh", "-c", script}, environment}),
                          .first_rank = static_cast<int>(children.size()),
                          .host = "h"});
    }
    const auto outcome = supervise(children, store_, signals_, options_);
    // What the shells started has been killed, but dies in its own time.
    const auto deadline = steady_now() + 5s;
    while (left_behind() > 0 && steady_now() < deadline) {
      std::this_thread::sleep_for(1ms);
    }
    EXPECT_EQ(left_behind(), 0);
    return outcome;
  }

  int left_behind() const { return testing::marked_processes("PACELINE_TEST_MARK=" + mark_); }

  void TearDown() override { std::filesystem::remove(ready_); }

  std::shared_ptr<KeyValueStore> store() {
    return {&store_, [](KeyValueStore*) {}};
  }

  // Answers SIGTERM by `answer`, and lets the other know when it would.
  std::string ready_to_stop(const std::string& answer) const {
    return "trap '" + answer + "' TERM; : > " + ready_.string() + "; while :; do sleep 0.01; done";
  }

  // The other: signals this process when both would answer.
  std::string stops_us(const std::string& answer, const std::string& signal) const {
    return "trap '" + answer + "' TERM; while [ ! -e " + ready_.string() +
           " ]; do sleep 0.01; done; kill -" + signal + " " + std::to_string(getpid()) +
           "; while :; do sleep 0.01; done";
  }

  SupervisorSignals signals_;
  MemoryStore store_;
  SuperviseOptions options_{
      .heartbeat_timeout = 60s, .stop_grace = 5s, .failure_grace = 100ms, .notice_grace = 100ms};
  std::string mark_ = std::to_string(getpid());
  std::filesystem::path ready_ =
      std::filesystem::temp_directory_path() / ("paceline-ready-" + mark_);
};

TEST_F(Supervising, all_is_well) {
  for (const int rank : {0, 1}) {
    Heartbeat(store(), rank).finish();
  }
  const auto outcome = run({"exit 0", "sleep 0.1"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.message, "");
}

TEST_F(Supervising, a_rank_that_leaves_early_ends_the_others) {
  const auto outcome = run({"sleep 1000", "exit 0"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.message,
            "rank 1 on host h: left early: it ended with exit code 0 before it began");
}

TEST_F(Supervising, marks_are_seen) {
  const auto environment = environment_with({{"PACELINE_TEST_MARK", mark_}});
  const auto pid = spawn({"/bin/sleep", {"sleep", "100"}, environment});
  while (left_behind() == 0) {  // until it has become what we asked for
  }
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  EXPECT_EQ(left_behind(), 0);
}

TEST_F(Supervising, an_exit_code_ends_the_others) {
  const auto outcome = run({"sleep 1000", "exit 7", "sleep 1000 & wait"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.rank, 1);
  EXPECT_EQ(outcome.message, "rank 1 on host h: ended with exit code 7 before it began");
}

TEST_F(Supervising, a_rank_that_stopped_as_asked_names_the_signal) {
  EXPECT_EQ(run({"sleep 1000", "exit 143"}).message,
            "rank 1 on host h: ended because of a SIGTERM (exit code 143) before it began");
}

TEST_F(Supervising, what_all_ranks_have_lost_is_the_cause) {
  options_.lost = [] { return std::optional<std::string>("mpirun ended"); };
  const auto outcome = run({"sleep 1000", "exit 195"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.message, "rank 1 on host h: mpirun ended");
}

// Who waits for it has been silent for as long.
TEST_F(Supervising, a_rank_that_does_not_come_is_blamed) {
  options_.heartbeat_timeout = 300ms;
  store_.set(host_key(0), "h");
  const auto outcome = run({"sleep 1000", "sleep 1000"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_TRUE(outcome.message.starts_with("rank 1 on host h: did not join within "))
      << outcome.message;
}

TEST_F(Supervising, a_signal_is_named) {
  const auto outcome = run({"sleep 1000", "sleep 1000", "kill -9 $$"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.rank, 2);
  EXPECT_NE(outcome.message.find("was killed by signal 9 (Killed)"), std::string::npos)
      << outcome.message;
}

TEST_F(Supervising, those_who_ignore_sigterm_are_killed) {
  const auto outcome = run({"trap '' TERM; sleep 1000 & wait; sleep 1000", "exit 1"});
  EXPECT_EQ(outcome.rank, 1);
}

TEST_F(Supervising, a_stopped_rank_is_lost) {
  options_.heartbeat_timeout = 2s;
  Heartbeat alive(store(), 0, 0ms);
  std::jthread beating([&](const std::stop_token& stopped) {
    try {
      while (!stopped.stop_requested()) {
        alive.beat(3, "");
        std::this_thread::sleep_for(5ms);
      }
    } catch (const PeerTimeout&) {  // the supervisor ends the job
    }
  });
  const auto outcome = run({"sleep 1000", "kill -STOP $$"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.rank, 1);
  EXPECT_NE(outcome.message.find("stopped answering"), std::string::npos) << outcome.message;
}

TEST_F(Supervising, consequences_are_not_blamed) {
  options_.notice_grace = 20s;  // over as soon as both have ended
  post_failure(store_, {0, "h", "connection to a peer lost", true, 3});
  Heartbeat(store(), 1, 0ms).beat(12, "all-reduce, 9.4 MB");
  const auto outcome = run({"exit 3", "kill -9 $$"});
  EXPECT_EQ(outcome.rank, 1);
  EXPECT_NE(outcome.message.find("at step 12, all-reduce, 9.4 MB"), std::string::npos)
      << outcome.message;
}

TEST_F(Supervising, a_rank_that_left_early_is_to_blame) {
  options_.notice_grace = 20s;  // over as soon as both have ended
  post_failure(store_, {0, "h", "connection to a peer lost", true, 3});
  const auto outcome = run({"exit 3", "exit 0"});
  EXPECT_EQ(outcome.rank, 1);
  EXPECT_NE(outcome.message.find("left early"), std::string::npos) << outcome.message;
}

TEST_F(Supervising, a_filed_sentence_is_the_message) {
  post_failure(store_, {1, "h", "model larger than memory", false, 3});
  const auto outcome = run({"sleep 1000", "exit 3"});
  EXPECT_EQ(outcome.message, "rank 1 on host h: model larger than memory");
}

TEST_F(Supervising, a_users_mistake_keeps_its_exit_code) {
  const FailureNotice mistake{0, "h", "--model x: unknown", false, 2};
  post_failure(store_, mistake);
  post_failure(store_, {1, "h", mistake.text, false, 2});
  const auto outcome = run({"exit 2", "exit 2"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.message, "--model x: unknown");
}

TEST_F(Supervising, a_signal_to_us_stops_all) {
  const auto outcome = run({ready_to_stop("exit 0"), stops_us("exit 0", "INT")});
  EXPECT_EQ(outcome.stop_signal, SIGINT);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.message, "");
}

TEST_F(Supervising, who_waits_for_a_rank_that_stopped_is_killed_soon) {
  options_.stop_grace = 600s;
  const auto outcome = run({"sleep 1000", "trap '' TERM; kill -INT " + std::to_string(getpid()) +
                                              "; while :; do sleep 0.05; done"});
  EXPECT_EQ(outcome.stop_signal, SIGINT);
  EXPECT_EQ(outcome.rank, 1);
}

TEST_F(Supervising, who_does_not_stop_is_killed_and_named) {
  options_.stop_grace = 200ms;
  const auto outcome = run({ready_to_stop(""), stops_us("exit 0", "TERM")});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.rank, 0);
}

TEST_F(Supervising, two_signals_at_once_are_one_request) {
  const auto outcome =
      run({ready_to_stop("sleep 0.2; exit 0"),
           stops_us("sleep 0.2; exit 0", "HUP " + std::to_string(getpid()) + "; kill -TERM")});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.message;
  EXPECT_NE(outcome.stop_signal, 0);
}

TEST_F(Supervising, a_second_request_kills) {
  options_.stop_grace = 600s;
  options_.failure_grace = 600s;
  const auto outcome = run({ready_to_stop(""), stops_us("", "INT " + std::to_string(getpid()) +
                                                                "; sleep 0.5; kill -TERM")});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.rank, 0);
}

TEST(Spawn, the_child_dies_with_its_parent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    const pid_t child = spawn({"/bin/sleep", {"sleep", "1000"}, environment_with({})});
    (void)!write(ends[1], &child, sizeof child);
    kill(getpid(), SIGKILL);
  }
  pid_t child = 0;
  ASSERT_EQ(read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  waitpid(parent, nullptr, 0);
  const auto deadline = steady_now() + 5s;
  const auto alive = [&] {  // a zombie that init has not reaped counts as dead
    std::FILE* file = std::fopen(("/proc/" + std::to_string(child) + "/stat").c_str(), "r");
    char state = 'X';
    if (file) {
      if (std::fscanf(file, "%*d %*s %c", &state) != 1) {
        state = 'X';
      }
      std::fclose(file);
    }
    return state != 'X' && state != 'Z';
  };
  while (alive() && steady_now() < deadline) {
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_FALSE(alive());
  close(ends[0]);
  close(ends[1]);
}

TEST(StopSignals, are_seen_without_a_handler) {
  const auto run_child = [](int signal) {
    const pid_t child = fork();
    if (child == 0) {
      bool seen = false;
      {
        const StopSignals stop;
        seen = stop.requested();
        raise(signal);
        seen = !seen && stop.signal() == signal;
      }
      _exit(seen ? 0 : 1);  // having survived the end of 'stop'
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
  };
  EXPECT_EQ(run_child(SIGTERM), 0);
  EXPECT_EQ(run_child(SIGUSR1), 0);
}

}  // namespace
}  // namespace paceline::launch
