// SPDX-License-Identifier: Apache-2.0
// How a run ends that does not come to its end: what it says, what it leaves
// in the file, and that no process of it is left.
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "cli/program.h"
#include "launch/marked_processes.h"
#include "paceline/base/clock.h"
#include "paceline/records/store.h"

namespace paceline {
namespace {

using namespace std::chrono_literals;

// One case that is soon over, and one that only an accident ends.
constexpr const char* kEndless =
    "run --model mlp --device cpu --ranks 2 --strategy bsp --batch-size 4 --warmup 1 --steps "
    "3,100000000 --yes --timeout 3 --format csv ";

// The same with a server, rank 1, and the master, rank 2.
constexpr const char* kEndlessServed =
    "run hybrid --device cpu --trainers 1 --servers 1 --warmup 1 "
    "--steps 3,100000000 --yes --timeout 10 --format csv ";

// The same with two trainers, whose dense part c10d::Reducer exchanges.
constexpr const char* kEndlessReducer =
    "run hybrid --device cpu --trainers 2 --servers 1 --strategy ddp --warmup 1 --steps "
    "3,100000000 --yes --timeout 8 --format csv ";

// The same with a neighbor, whose average waits for four micro-batches.
constexpr const char* kEndlessNeighbors =
    "run --model mlp --device cpu --ranks 2 --strategy fusion+neighbor-allreduce:topology=ring+awc "
    "--batch-size 4 --accumulate 4 --warmup 1 --steps 3,100000000 --yes --timeout 3 --format csv ";

class Endings : public Program {
 protected:
  Endings() { setenv(kMark, folder_.c_str(), 1); }

  std::size_t records() const {
    return records::completed_runs(records::read_records(folder_ / "r.jsonl").records).size();
  }

  /// The record of the case that the accident ended has the same steps of the ranks that lived on.
  void expect_samples_so_far(int survivor) const {
    const auto failed = records::read_records(folder_ / "r.jsonl").records;
    ASSERT_EQ(failed.size(), 2U);
    ASSERT_TRUE(failed[1].error);
    ASSERT_EQ(failed[1].ranks.size(), 1U);
    EXPECT_EQ(failed[1].ranks[0].rank, survivor);
    const auto& steps = failed[1].ranks[0].step_ns;
    EXPECT_FALSE(steps.empty());
    EXPECT_EQ(failed[1].ranks[0].phase_ns.at("forward").size(), steps.size());
  }

  /// Runs `job`, and `accident` as a script once the second case trains; in it,
  /// `rank R` prints the process of that rank.
  Outcome run_into(const std::string& accident, const std::string& job = kEndless) const {
    return run(job +
               "--records r.jsonl & program=$!; "
               "rank() { for p in $(cat /proc/$program/task/*/children); do "
               "grep -qz \"^RANK=$1\\$\" /proc/$p/environ && echo $p; done; }; until [ -s r.jsonl "
               "]; do sleep 0.05; done; sleep 3; " +
               accident + "; wait $program");
  }

  void expect_no_process_left() const {
    const std::string mark = std::string(kMark) + "=" + folder_.string();
    const auto deadline = steady_now() + 5s;
    while (testing::marked_processes(mark) > 0 && steady_now() < deadline) {
      std::this_thread::sleep_for(5ms);
    }
    EXPECT_EQ(testing::marked_processes(mark), 0);
  }

  void expect_named(const Outcome& outcome, const std::string& who, const std::string& fate,
                    const std::string& where = " at step ") const {
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("paceline: " + who + " on host "), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find(fate), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find(where), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("\nthat case is recorded as failed\n"), std::string::npos)
        << outcome.err;
    EXPECT_TRUE(outcome.err.ends_with("\npaceline: 1 case failed; --resume tries it again\n"))
        << outcome.err;
    EXPECT_EQ(records(), 1U);
    expect_no_process_left();
  }

  static constexpr const char* kMark = "PACELINE_TEST_MARK";
};

TEST_F(Endings, ACaseWithoutAPlanDoesNotEndTheOthers) {
  const Outcome outcome =
      run("run --model mlp --device cpu --ranks 2 --strategy fusion "
          "--strategy fusion+diloco:every=10,fragments=5 --batch-size 4 "
          "--warmup 1 --steps 3 --records r.jsonl");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(
      outcome.err.find("of mlp on 2 ranks: diloco:fragments=5: the schedule makes one bucket"),
      std::string::npos)
      << outcome.err;
  EXPECT_EQ(lines_of(folder_ / "r.jsonl"), 2);
}

TEST_F(Endings, ANetworkThatCannotBeBuiltDoesNotEndTheOthers) {
  for (const auto& [flags, why] :
       {std::pair{"--model lenet,vgg16 --image-size 28 --batch-size 2",
                  "image size 28 is too small for vgg16: 32 or more is needed"},
        {"--model bert-tiny --sequence-length 16,1000 --batch-size 2",
         "sequence length 1000 is above the 512 positions of BERT"},
        {"--model lenet,resnet18 --image-size 32 --batch-size 1",
         "Expected more than 1 value per channel when training, got input size [1, 512, 1, 1]"}}) {
    fs::remove(folder_ / "r.jsonl");
    const Outcome outcome = run(std::string("run ") + flags +
                                " --device cpu --ranks 2 --strategy bsp --warmup 1 "
                                "--steps 3 --runs 2 --records r.jsonl");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(
        outcome.err.find(std::string("paceline: ") + why + "\nthat case is recorded as failed\n"),
        std::string::npos)
        << outcome.err;
    EXPECT_EQ(lines_of(folder_ / "r.jsonl"), 4);
  }
}

TEST_F(Endings, AStoppedRank0IsNamed) {
  expect_named(run_into("kill -STOP $(rank 0)"), "rank 0", ": stopped answering 3 s ago; ");
}

TEST_F(Endings, AStoppedRank1IsNamed) {
  expect_named(run_into("kill -STOP $(rank 1)"), "rank 1", ": stopped answering 3 s ago; ");
}

TEST_F(Endings, AKilledRankIsNamed) {
  expect_named(run_into("kill -KILL $(rank 1)"), "rank 1", "was killed by signal 9 (Killed)");
  expect_samples_so_far(0);
}

TEST_F(Endings, ANeighborThatIsKilledAmongMicroBatchesIsNamed) {
  expect_named(run_into("kill -KILL $(rank 1)", kEndlessNeighbors), "rank 1",
               "was killed by signal 9 (Killed)");
  expect_samples_so_far(0);
}

TEST_F(Endings, ANeighborThatStopsAmongMicroBatchesIsNamed) {
  expect_named(run_into("kill -STOP $(rank 1)", kEndlessNeighbors), "rank 1",
               ": stopped answering 3 s ago; ");
}

TEST_F(Endings, AKilledServerIsNamed) {
  expect_named(run_into("kill -KILL $(rank 1)", kEndlessServed), "server 0 (rank 1)",
               "was killed by signal 9 (Killed)");
  expect_samples_so_far(0);
}

TEST_F(Endings, AStoppedServerIsNamed) {
  expect_named(run_into("kill -STOP $(rank 1)", kEndlessServed), "server 0 (rank 1)",
               ": stopped answering 10 s ago; ");
  expect_samples_so_far(0);
}

// The others do not wait for the master, and train on until they are told.
TEST_F(Endings, AMasterThatIsKilledOrStopsIsNamed) {
  for (const auto& [signal, fate] : {std::pair{"KILL", "was killed by signal 9 (Killed)"},
                                     {"STOP", ": stopped answering 10 s ago; "}}) {
    SCOPED_TRACE(signal);
    fs::remove(folder_ / "r.jsonl");
    expect_named(run_into(std::string("kill -") + signal + " $(rank 2)", kEndlessServed),
                 "master (rank 2)", fate, " waiting for others\n");
    expect_samples_so_far(0);
    const auto failed = records::read_records(folder_ / "r.jsonl").records;
    EXPECT_GT(failed[1].ranks[0].lookups->rows, 0);
  }
}

// Rank 1 is killed after 4 s of processor time, most of them of steps.
TEST_F(Endings, AFailedFirstCaseSaysWhereItsSamplesAre) {
  const Outcome outcome =
      run("run --model mlp --device cpu --ranks 2 --strategy bsp --batch-size 4 --warmup 1 --steps "
          "100000000 --yes --records r.jsonl & program=$!; rank() { for p in $(cat "
          "/proc/$program/task/*/children); do grep -qz \"^RANK=$1\\$\" /proc/$p/environ && echo "
          "$p; done; }; until [ -n \"$(rank 1)\" ] && [ $(cut -d' ' -f14 /proc/$(rank 1)/stat) -gt "
          "400 ]; do sleep 0.05; done; kill -KILL $(rank 1); wait $program");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_TRUE(
      outcome.err.ends_with("0 of 1 case finished, the failure is in r.jsonl; the same command "
                            "with --records r.jsonl --resume runs the rest\n"))
      << outcome.err;
  EXPECT_NE(outcome.out.find("was killed by signal 9 (Killed)"), std::string::npos) << outcome.out;
  const auto failed = records::read_records(folder_ / "r.jsonl").records;
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_FALSE(failed[0].ranks.empty());
  EXPECT_FALSE(failed[0].environment.hosts.empty());
}

// The other trainer hangs inside of the reducer.
TEST_F(Endings, AStoppedTrainerIsNamed) {
  expect_named(run_into("kill -STOP $(rank 1)", kEndlessReducer), "trainer 1 (rank 1)",
               ": stopped answering 8 s ago; ");
}

#if PACELINE_HAVE_MPI
TEST_F(Endings, AKilledServerOverMpiIsNamed) {
  expect_named(run_into("kill -KILL $(rank 1)", std::string(kEndlessServed) + "--engine mpi "),
               "server 0 (rank 1)", "was killed by signal 9 (Killed)");
  expect_samples_so_far(0);
}

TEST_F(Endings, AStoppedServerOverMpiIsNamed) {
  expect_named(run_into("kill -STOP $(rank 1)", std::string(kEndlessServed) + "--engine mpi "),
               "server 0 (rank 1)", ": stopped answering 10 s ago; ");
}
#endif

// Rank 1 alone is asked to stop, which the others cannot know.
TEST_F(Endings, ARankThatStoppedAloneNamesTheSignal) {
  expect_named(run_into("kill -TERM $(rank 1)"), "rank 1",
               "ended because of a SIGTERM (exit code 143)");
}

TEST_F(Endings, AWishToStopSaysWhatIsDoneAndHowToGoOn) {
  for (const char* signal : {"INT", "TERM"}) {
    SCOPED_TRACE(signal);
    fs::remove(folder_ / "r.jsonl");
    const Outcome outcome = run_into(std::string("kill -") + signal + " $program");
    EXPECT_EQ(outcome.exit_code, signal == std::string("INT") ? 130 : 143);
    EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 2) << outcome.out;
    EXPECT_TRUE(
        outcome.err.ends_with(std::string("paceline: SIG") + signal +
                              " ended the run: 1 of 2 cases finished, recorded in r.jsonl; the "
                              "same command with --records r.jsonl --resume runs the rest\n"))
        << outcome.err;
    EXPECT_EQ(records(), 1U);
    expect_no_process_left();
  }
}

TEST_F(Endings, AWishBeforeTheFirstRecordLeavesNoFile) {
  const Outcome outcome =
      run("run --model mlp --device cpu --ranks 2 --strategy bsp --batch-size 4 --steps 100000000 "
          "--yes & program=$!; until [ -n \"$(ls results 2>/dev/null)\" ]; do sleep 0.05; done; "
          "kill -INT $program; wait $program");
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_TRUE(outcome.err.ends_with(
      "paceline: SIGINT ended the run: 0 of 1 case finished, so there is no record\n"))
      << outcome.err;
  EXPECT_FALSE(fs::exists(folder_ / "results"));
}

TEST_F(Endings, AWishAfterAFailedCaseNamesTheFileOfTheFailure) {
  const Outcome outcome =
      run_into("kill -INT $program",
               "run --model mlp --device cpu --ranks 1 --strategy none --learning-rate 1e30 "
               "--batch-size 4 --warmup 0 --steps 20,100000000 --yes --format csv ");
  EXPECT_TRUE(
      outcome.err.ends_with("0 of 2 cases finished, the failure is in r.jsonl; the same command "
                            "with --records r.jsonl --resume runs the rest\n"))
      << outcome.err;
}

TEST_F(Endings, RepetitionsAreNotCountedAsCases) {
  const std::string line =
      "run --model mlp --device cpu --ranks 1 --strategy none --batch-size 4 --warmup 1 --steps 3 "
      "--runs 2 --records r.jsonl --format csv ";
  ASSERT_EQ(run(line).exit_code, 0);
  EXPECT_TRUE(run(line + "--resume")
                  .err.starts_with("nothing is left to run: 2 runs of 1 case finished\n"));
}

TEST_F(Endings, ARunThatIsCompleteSaysSo) {
  const std::string line =
      "run --model mlp --device cpu --ranks 1 --strategy none --batch-size 4 --warmup 1 --steps 3 "
      "--records r.jsonl --format csv ";
  const Outcome first = run(line);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const Outcome again = run(line + "--resume");
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.out, first.out);
  EXPECT_EQ(again.err, "nothing is left to run: 1 case finished\nrecords: r.jsonl\n");
  EXPECT_EQ(records(), 1U);
}

// A record whose check of the exchanged values failed, as another machine may have written it.
TEST_F(Endings, WrongValuesAreAnExitCode) {
  const std::string line =
      "run --model mlp --device cpu --ranks 2 --strategy bsp --batch-size 4 --warmup 1 --steps 3 "
      "--records r.jsonl --format csv ";
  ASSERT_EQ(run(line).exit_code, 0);
  auto all = records::read_records(folder_ / "r.jsonl").records;
  ASSERT_EQ(all.size(), 1U);
  ASSERT_TRUE(all[0].verified.contains("integer_sums"));
  all[0].verified["integer_sums"] = false;
  std::filesystem::remove(folder_ / "r.jsonl");
  records::RecordWriter(folder_ / "r.jsonl").append(all[0]);
  const Outcome again = run(line + "--resume");
  EXPECT_EQ(again.exit_code, 3);
  EXPECT_NE(again.err.find("paceline: 1 run with wrong values (verification-failed)\n"),
            std::string::npos)
      << again.err;
}

}  // namespace
}  // namespace paceline
