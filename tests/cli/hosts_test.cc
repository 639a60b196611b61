// SPDX-License-Identifier: Apache-2.0
// Ranks on several hosts, from outside.  The other host is this machine again: by a shell that
// reads the line for a remote shell, or, where this machine has an sshd (PACELINE_SSHD), by a real
// ssh to one of our own.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "cli/program.h"
#ifdef PACELINE_SSHD
#include "cli/sshd.h"
#endif
#include "cli/terminal.h"
#include "paceline/base/clock.h"
#include "paceline/records/store.h"

namespace paceline {
namespace {

using namespace std::chrono_literals;

bool warns_of_one_host(const records::RunRecord& record) {
  return std::ranges::any_of(record.warnings,
                             [](const auto& warning) { return warning.code == "one-host-alone"; });
}

class HostsTest : public Program {
 protected:
  HostsTest() {
    setenv("PACELINE_TEST_MARK", folder_.c_str(), 1);
#ifdef PACELINE_SSHD
    sshd_.emplace(folder_, "PACELINE_TEST_MARK=" + folder_.string());
    // Named as the command is that paceline calls where it is told nothing.
    script("ssh",
           "for last; do host=$before before=$last; done\n"
           "echo \"$host\" >> ssh.log\nexec " +
               sshd_->client() + " \"$@\"\n");
    const std::string path = std::getenv("PATH");
    setenv("PATH", (folder_.string() + ":" + path).c_str(), 1);
#else
    script("ssh_here", "echo \"$1\" >> ssh.log\nshift\nexec sh -c \"$*\"\n");
#endif
  }

  void script(const std::string& name, const std::string& body) const {
    write(name, "#!/bin/sh\n" + body);
    fs::permissions(folder_ / name, fs::perms::owner_all);
  }

  std::string text(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// Processes of this test that have `assignment`, too, in the environment they were started with.
  std::vector<pid_t> marked(const std::string& assignment = "") const {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::ifstream file(entry.path() / "environ");
      std::string all{std::istreambuf_iterator<char>(file), {}};
      all.insert(0, 1, '\0');
      const auto has = [&](const std::string& one) {
        return all.find('\0' + one + '\0') != std::string::npos;
      };
      if (has("PACELINE_TEST_MARK=" + folder_.string()) &&
          (assignment.empty() || has(assignment))) {
        found.push_back(std::stoi(entry.path().filename()));
      }
    }
    return found;
  }

  /// Whether nothing of this test's is left, once it has had the time to die.
  bool all_gone() const {
    const auto deadline = steady_now() + 10s;
    while (!marked().empty() && steady_now() < deadline) {
      std::this_thread::sleep_for(20ms);
    }
    return marked().empty();
  }

  std::string two_hosts(const std::string& ssh = kSsh) const {
    return " -H localhost:2,far:2 --interface lo " + ssh;
  }

#ifdef PACELINE_SSHD
  static constexpr const char* kSsh = "";
  std::optional<testing::Sshd> sshd_;
#else
  static constexpr const char* kSsh = "--ssh-command ./ssh_here";
#endif

  const std::string kJob =
      " --model lenet --batch-size 4 --warmup 1 --threads 1 --yes --records r.jsonl --format csv ";
};

TEST_F(HostsTest, RanksOfBothTrainTogether) {
  write("lab.toml",
        "[[hosts]]\nname = \"localhost\"\nslots = 2\ninterface = \"lo\"\n"
        "[[hosts]]\nname = \"far\"\nslots = 2\ninterface = \"lo\"\n");
  const Outcome outcome =
      run("run --cluster lab.toml " + std::string(kSsh) +
          " --steps 3 --strategy wfbp,dear --runs 2 --label 'it'\\''s \"$HOME\"; x'" + kJob);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(text("ssh.log"), "far\nfar\n");  // once a repetition
  const auto records = records::read_records(folder_ / "r.jsonl").records;
  ASSERT_EQ(records.size(), 4u);
  for (const records::RunRecord& one : records) {
    EXPECT_EQ(one.configuration.label, "it's \"$HOME\"; x");
    ASSERT_EQ(one.ranks.size(), 4u);
    EXPECT_NE(one.ranks[0].host, "far");
    EXPECT_NE(one.ranks[1].host, "far");
    EXPECT_EQ(one.ranks[2].host, "far");
    EXPECT_EQ(one.ranks[3].host, "far");
    EXPECT_EQ(one.environment.hosts.size(), 2u);
    EXPECT_FALSE(one.error);
  }
  EXPECT_TRUE(all_gone());
}

TEST_F(HostsTest, StrategiesSeeWhichRanksShareOne) {
  const std::string line = "run" + two_hosts() + kJob +
                           " --steps 3 --strategy hierarchical,hierarchical-neighbor-allreduce";
  const Outcome outcome = run(line);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto records = records::read_records(folder_ / "r.jsonl").records;
  ASSERT_EQ(records.size(), 2u);
  for (const records::RunRecord& one : records) {
    EXPECT_EQ(one.configuration.ranks_per_host, (std::vector<int>{2, 2}));
    EXPECT_EQ(one.wire.measured_per_step, one.wire.planned_per_step);
    EXPECT_FALSE(warns_of_one_host(one)) << one.configuration.strategy;
  }
  // Of the parts of a host one reduce-scatter, one all-reduce, one all-gather.
  EXPECT_EQ(records[0].wire.by_pattern.size(), 3u);
  const std::string plan = run(line + " --dry-run").out;
  EXPECT_NE(plan.find("all-reduce"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("note: "), std::string::npos) << plan;
}

TEST_F(HostsTest, OneAloneIsToldOfWhereAStrategyWantsSeveral) {
  const std::string line = "run --ranks 2" + kJob + " --steps 3 --strategy hierarchical ";
  const std::string note = "'hierarchical' exchanges between hosts, and all its ranks are on one";
  EXPECT_NE(run(line + "--dry-run").out.find("note: " + note), std::string::npos);
  ASSERT_EQ(run(line).exit_code, 0);
  EXPECT_TRUE(warns_of_one_host(records::read_records(folder_ / "r.jsonl").records.at(0)));
  std::string table = run("report r.jsonl").out;
  std::ranges::replace(table, '\n', ' ');
  EXPECT_NE(table.find("one-host-alone: "), std::string::npos) << table;
  EXPECT_EQ(run(line + "--local-size 1 --dry-run").out.find("note: "), std::string::npos);
}

TEST_F(HostsTest, ADeathThereIsNamed) {
  std::jthread killer([this](const std::stop_token& stopped) {
    std::vector<pid_t> victims;
    while (victims.empty() && !stopped.stop_requested()) {
      std::this_thread::sleep_for(20ms);
      victims = marked("RANK=3");
    }
    std::this_thread::sleep_for(1s);
    for (const pid_t pid : victims) {
      kill(pid, SIGKILL);
    }
  });
  const Outcome outcome = run("run --steps 1000000 --strategy wfbp" + two_hosts() + kJob);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.err.find("paceline: rank 3 on host far: was killed by signal 9"),
            std::string::npos)
      << outcome.err;
  EXPECT_TRUE(all_gone());
}

TEST_F(HostsTest, NobodySurvivesWhoStartedThem) {
  const Outcome outcome =
      run("run --steps 1000000 --strategy wfbp" + two_hosts() + kJob +
          "& job=$!; while [ ! -s ssh.log ]; do sleep 0.05; done; sleep 1; kill -9 $job");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(all_gone());
}

TEST_F(HostsTest, AStopReachesThem) {
  const Outcome outcome = run(
      "run --steps 1000000 --strategy wfbp" + two_hosts() + kJob +
      "& job=$!; while [ ! -s ssh.log ]; do sleep 0.05; done; sleep 2; kill -INT $job; wait $job");
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_TRUE(all_gone());
}

TEST_F(HostsTest, AHostThatIsNotReachedIsNamed) {
  script("no_ssh", "exit 255\n");
  const Outcome outcome = run("run --steps 3" + two_hosts("--ssh-command ./no_ssh") + kJob);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.err.find(
                "paceline: rank 2 on host far: ./no_ssh ended with exit code 255 before it began"),
            std::string::npos)
      << outcome.err;
  EXPECT_TRUE(all_gone());
}

TEST_F(HostsTest, ControlCReachesThem) {
  OnTerminal terminal("env -C '" + folder_.string() + "' '" + PACELINE_PROGRAM +
                      "' run --steps 1000000 --strategy wfbp" + two_hosts() + kJob);
  ASSERT_TRUE(terminal.see(": step 3 of ")) << terminal.shown();
  terminal.type('\x03');
  EXPECT_EQ(terminal.end(), 130) << terminal.shown();
  EXPECT_NE(terminal.shown().find("SIGINT ended the run"), std::string::npos) << terminal.shown();
  EXPECT_TRUE(all_gone());
}

// It neither rejects nor begins.
TEST_F(HostsTest, AHostThatDoesNotAnswerIsNamedAtTheDeadline) {
  script("slow_ssh", "exec sleep 1000\n");
  const Outcome outcome =
      run("run --steps 3 --timeout 3 " + two_hosts("--ssh-command ./slow_ssh") + kJob);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err.rfind("paceline: rank 2 on host far: did not join within ", 0), 0U)
      << outcome.err;
  EXPECT_NE(outcome.err.find(" s; ./slow_ssh has not started it\n"), std::string::npos)
      << outcome.err;
  EXPECT_TRUE(all_gone());
}

#ifdef PACELINE_SSHD
TEST_F(HostsTest, AHostWhoseKeyIsUnknownIsRejected) {
  sshd_->forget_host_key();
  const Outcome outcome = run("run --steps 3" + two_hosts() + kJob);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.err.find("Host key verification failed."), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find(
                "paceline: rank 2 on host far: ssh ended with exit code 255 before it began"),
            std::string::npos)
      << outcome.err;
  EXPECT_TRUE(all_gone());
}

// A shell there reads the program's path alone.
TEST_F(HostsTest, APathWithBlanksAndQuotesIsOneWord) {
  const fs::path odd = folder_ / "it's a \"place\"; $HOME";
  fs::create_directory(odd);
  fs::copy(PACELINE_PROGRAM, odd / "paceline");
  setenv("ODD", odd.c_str(), 1);
  const Outcome outcome =
      run("list > /dev/null; cd \"$ODD\" && ./paceline run --steps 2 --strategy wfbp" +
          two_hosts() + kJob);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(records::read_records((odd / "r.jsonl").string()).records.size(), 1U);
  EXPECT_TRUE(all_gone());
}
#endif

TEST_F(HostsTest, CommMeasuresBetweenThem) {
  write("hosts", "localhost slots=1\nfar:1\n");
  const Outcome outcome = run("comm --hostfile hosts --interface lo " + std::string(kSsh) +
                              " --max 1KiB --only all-reduce --iterations 2 --records r.jsonl");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("all-reduce, 2 ranks (1+1), gloo"), std::string::npos) << outcome.out;
  EXPECT_EQ(text("ssh.log"), "far\n");
  EXPECT_TRUE(all_gone());
}

TEST_F(HostsTest, ADryRunNeedsNoneOfThem) {
  write("hosts", "far slots=2\nfarther slots=2\n");
  const Outcome outcome =
      run("run --hostfile hosts --model lenet --device cpu --strategy ddp --ranks 4 --interface "
          "nosuch --dry-run");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find(" --ranks 4 --batch-size 32 "), std::string::npos) << outcome.out;
  EXPECT_TRUE(
      outcome.err.starts_with("note: the first host is 'far', and this "
                              "machine is '"))
      << outcome.err;
}

TEST_F(HostsTest, BadHostsAreOneSentence) {
  expect_rejected("run -H far:2,localhost:2 --model lenet",
                  "paceline: the first host is 'far', but this machine is '");
  expect_rejected("run -H localhost:2,127.0.0.1:2 --model lenet",
                  "paceline: hosts 'localhost' and '127.0.0.1' are both this");
  expect_rejected("run -H localhost:x --model lenet", "paceline: --hosts ");
  expect_rejected("run -H localhost:1,far:1 --model lenet --ranks 3",
                  "paceline: --ranks: '3', but ");
  expect_rejected("run -H localhost:1,far:1 --model lenet --rendezvous file:x",
                  "paceline: --rendezvous file:x: with -H give HOST:PORT");
  expect_rejected("comm -H far:2", "paceline: the first host is 'far'");
  expect_rejected("rank", "paceline: rank is how paceline run");
  expect_rejected("host-agent", "paceline: host-agent is how paceline run");
}

}  // namespace
}  // namespace paceline
