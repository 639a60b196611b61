// SPDX-License-Identifier: Apache-2.0
// What a survey that is left alone does: repeats failed cases, writes a log a case, and goes on
// where it was stopped.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/program.h"
#include "launch/marked_processes.h"
#include "paceline/base/clock.h"
#include "paceline/records/store.h"

namespace paceline {
namespace {

using namespace std::chrono_literals;

/// While it lives no file of this process and of those that it starts grows beyond so many bytes: a
/// write ends short there, then fails, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    on_signal_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~FullDisk() {
    std::signal(SIGXFSZ, on_signal_);
    setrlimit(RLIMIT_FSIZE, &before_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*on_signal_)(int) = nullptr;
};

/// While it lives this process and those that it starts have so much memory of their own at most.
class MemoryLimit {
 public:
  explicit MemoryLimit(rlim_t bytes) {
    getrlimit(RLIMIT_DATA, &before_);
    const rlimit limit{std::min(bytes, before_.rlim_max), before_.rlim_max};
    setrlimit(RLIMIT_DATA, &limit);
  }
  ~MemoryLimit() { setrlimit(RLIMIT_DATA, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

// Three cases: the second's loss is not finite, whatever the machine.
constexpr const char* kDiverging = R"(
model = "mlp"
device = "cpu"
ranks = 1
strategy = "none"
batch_size = 4
warmup = 0
steps = 20

[sweep]
learning_rate = [0.01, 1e30, 0.02]
)";

class Survey : public Program {
 protected:
  Survey() {
    setenv(kMark, folder_.c_str(), 1);
    write("survey.toml", kDiverging);
  }

  std::vector<records::RunRecord> records() const {
    return records::read_records(folder_ / "r.jsonl").records;
  }

  static std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// The reason of each record; empty: it did not fail.
  std::vector<std::string> reasons() const {
    std::vector<std::string> all;
    for (const records::RunRecord& record : records()) {
      all.push_back(record.error.value_or(""));
    }
    return all;
  }

  static constexpr const char* kMark = "PACELINE_TEST_MARK";
};

// Two ranks that train alone drift apart, the mean of both is one network, and what all-reduce
// keeps equal is not measured.
TEST_F(Survey, SaysHowFarRanksAreFromTheirMean) {
  const Outcome outcome =
      run("run --model mlp --device cpu --ranks 2 --batch-size 4 --warmup 0 --steps 3 --strategy "
          "none,neighbor-allreduce+atc,all-reduce --records r.jsonl");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto all = records();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_GT(all[0].consensus_distance.value_or(0), 0);
  EXPECT_EQ(all[1].consensus_distance.value_or(1), 0);
  EXPECT_FALSE(all[2].consensus_distance);
}

TEST_F(Survey, ALossThatIsNotFiniteIsAFailedCaseWithItsReason) {
  const Outcome outcome = run("run survey.toml --records r.jsonl --format csv");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  const auto found = reasons();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], "");
  EXPECT_NE(found[1].find("the loss of the last step is "), std::string::npos) << found[1];
  EXPECT_NE(found[1].find("1e+30"), std::string::npos) << found[1];
  EXPECT_EQ(found[2], "");
}

TEST_F(Survey, RetriesRepeatTheFailedCaseAlone) {
  const Outcome outcome = run("run survey.toml --records r.jsonl --format csv --retries 2");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  int failed = 0, good = 0;
  for (const std::string& reason : reasons()) {
    ++(reason.empty() ? good : failed);
  }
  EXPECT_EQ(good, 2);
  EXPECT_EQ(failed, 3) << "the first try and two more";
}

TEST_F(Survey, RetriesDoNotRepeatARejectedCase) {
  const Outcome outcome =
      run("run --model mlp --device cpu --ranks 2 --strategy fusion "
          "--strategy fusion+diloco:every=10,fragments=5 --batch-size 4 --warmup 1 --steps 3 "
          "--records r.jsonl --retries 2");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  const auto all = records();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].status + all[1].status, "rejected");
}

TEST_F(Survey, LogsAreOneACaseWithTheLinesOfTheOriginal) {
  const Outcome outcome =
      run("run --model mlp --device cpu --ranks 1 --strategy none,bsp --batch-size 4 --warmup 1 "
          "--steps 3 --records r.jsonl --logs logs --format csv");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::size_t logs = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "logs")) {
    ++logs;
    const std::string text = text_of(entry.path());
    EXPECT_NE(text.find("\nTotal img/sec on 1 CPU(s): "), std::string::npos)
        << entry.path() << ": " << text;
    EXPECT_NE(text.find("--model mlp"), std::string::npos) << text;
  }
  EXPECT_EQ(logs, 2U);
}

TEST_F(Survey, LogsAreOfOneRecordFile) {
  const std::string line =
      "run --model mlp --device cpu --ranks 1 --strategy none --batch-size 4 --warmup 0 --steps 2 "
      "--logs logs --format csv --records ";
  ASSERT_EQ(run(line + "r.jsonl").exit_code, 0);
  const fs::path log = fs::directory_iterator(folder_ / "logs")->path();
  const std::string text = text_of(log);
  expect_rejected(
      line + "other.jsonl",
      "paceline: --logs logs: " + log.filename().string() +
          " there is of the records in r.jsonl, and this run's records are in other.jsonl; take "
          "another folder, or go on with --records r.jsonl --resume\n");
  EXPECT_EQ(text_of(log), text);
  EXPECT_EQ(run(line + "./r.jsonl --resume").exit_code, 0);
  ASSERT_EQ(run(line + "r.jsonl").exit_code, 0);
  const std::string both = text_of(log);
  const std::string total = "\nTotal img/sec on 1 CPU(s): ";
  const std::size_t first = both.find(total);
  ASSERT_NE(first, std::string::npos) << both;
  EXPECT_NE(both.find(total, first + 1), std::string::npos)
      << "has the tries of both runs: " << both;
  ASSERT_EQ(run(line + "r.jsonl --seed 2").exit_code, 0);
  EXPECT_EQ(text_of(log), both);
  EXPECT_TRUE(fs::exists(folder_ / "logs" / (log.stem().string() + "-2.log")));
}

// The codec has no plan for three ranks, which is known before the first case; so is that this
// machine is too small.
TEST_F(Survey, ACaseThatIsRejectedBeforeItStartsIsAFailedOne) {
  const std::string line =
      "run --model mlp --device cpu --batch-size 4 --warmup 0 --steps 2 --records r.jsonl --format "
      "csv --strategy ";
  expect_rejected(line + "bsp+gtopk --ranks 3", "paceline: bsp+gtopk");
  EXPECT_EQ(lines_of(folder_ / "r.jsonl"), 0);
  const Outcome planned = run(line + "bsp+gtopk,bsp --ranks 3");
  EXPECT_EQ(planned.exit_code, 1) << planned.err;
  const auto of_plan = reasons();
  ASSERT_EQ(of_plan.size(), 2U);
  EXPECT_NE(of_plan[0].find("wants a power of two of them, and there are 3"), std::string::npos)
      << of_plan[0];
  EXPECT_EQ(of_plan[1], "");
  fs::remove(folder_ / "r.jsonl");
  for (const char* resume : {"", " --resume"}) {
    const Outcome outcome = run(line + "bsp --ranks 1000000,1" + resume);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_TRUE(outcome.err.ends_with("paceline: 1 case failed; --resume tries it again\n"))
        << outcome.err;
    EXPECT_NE(outcome.out.find("--ranks: '1000000' on "), std::string::npos) << outcome.out;
    const auto of_machine = reasons();
    ASSERT_EQ(of_machine.size(), 2U) << "nothing is left to resume";
    EXPECT_TRUE(of_machine[0].starts_with("--ranks: '1000000' on ")) << of_machine[0];
    EXPECT_EQ(of_machine[1], "");
  }
  const Outcome dry = run(line + "bsp --ranks 1000000,1 --dry-run");
  EXPECT_EQ(dry.exit_code, 1) << dry.err;
  EXPECT_NE(dry.out.find(": rejected: --ranks: '1000000' on "), std::string::npos) << dry.out;
}

// PowerSGD takes whole tensors, and whether the schedule cuts them is known once layers and
// collectives have been timed.
TEST_F(Survey, ACaseThatIsRejectedOnceItHasBegunIsAFailedOne) {
  const std::string line =
      "run --model mlp --device cpu --ranks 2 --batch-size 4 --warmup 0 --steps 2 --records "
      "r.jsonl --format csv --strategy ";
  const std::string rejected = "bytescheduler:partition-mb=0.01+powersgd";
  const Outcome alone = run(line + rejected);
  EXPECT_EQ(alone.exit_code, 2) << alone.err;
  EXPECT_FALSE(fs::exists(folder_ / "r.jsonl"));
  for (const std::size_t failed : {1U, 2U}) {
    const Outcome outcome = run(line + rejected + ",bsp" + (failed == 2 ? " --resume" : ""));
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_TRUE(outcome.err.ends_with("paceline: 1 case failed; --resume tries it again\n"))
        << outcome.err;
    const auto found = reasons();
    ASSERT_EQ(found.size(), failed + 1);
    EXPECT_TRUE(found[0].starts_with("powersgd takes whole tensors")) << found[0];
    EXPECT_EQ(found[1], "") << "bsp goes on, and is not repeated";
    EXPECT_EQ(found.back(), failed == 2 ? found[0] : "");
  }
}

TEST_F(Survey, ACaseThatDoesNotFitIsRejected) {
  fs::create_directory(folder_ / "experiments");
  write("experiments/grid.toml",
        "replay = 'huge.json'\nranks = 2\nstrategy = 'bsp'\n"
        "[section.small]\nmodel = 'mlp'\n");
  write("huge.json", R"({"paceline_profile": 1,
 "model": "huge", "batch_size": 2, "update_us": 100,
 "modules": [{"name": "a", "forward_us": 1}],
 "parameters": [{"name": "a.w", "sizes": [60000, 60000], "module": "a",
   "backward_us": 1}],
 "ready_order": ["a.w"]})");
  const MemoryLimit limit(rlim_t{8} << 30);
  const Outcome outcome = run("run grid --section all");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(outcome.err.starts_with("paceline: huge with batch 2 on 2 ranks needs more than "))
      << outcome.err;
  EXPECT_TRUE(
      outcome.err.ends_with(" GB; use fewer ranks, or a smaller network, batch or table.\n"))
      << outcome.err;
}

TEST_F(Survey, SaysTheTableOfARunWhoseRecordsAreThrownAway) {
  const Outcome outcome =
      run("run --model mlp --device cpu --ranks 1 --strategy none --batch-size 4 --warmup 0 "
          "--steps 2 --records /dev/null --format csv");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 2) << outcome.out;
  EXPECT_TRUE(outcome.err.ends_with("\nrecords: /dev/null\n")) << outcome.err;
}

TEST_F(Survey, ASecondRunOfAFileIsRejectedAndClaimsNoneOfItsRecords) {
  write("r.jsonl", "");
  const records::RecordWriter first((folder_ / "r.jsonl").string());
  const Outcome outcome = run("run --model mlp --device cpu --ranks 1 --records r.jsonl");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err, "paceline: --records r.jsonl: another run is writing this file\n");
}

// The second case takes long enough that it is under way when the first's record is there.
TEST_F(Survey, GoesOnAfterCtrlCAndAfterAKill) {
  const std::string line =
      "run --model mlp --device cpu --ranks 2 --strategy bsp --batch-size 4 --warmup 1 --steps "
      "3,400 --records r.jsonl --page p.html --format csv ";
  for (const char* signal : {"INT", "KILL"}) {
    SCOPED_TRACE(signal);
    fs::remove(folder_ / "r.jsonl");
    fs::remove(folder_ / "p.html");
    run(line +
        "& program=$!; until [ -s r.jsonl ]; do sleep 0.01; done; "
        "kill -" +
        signal + " $program; wait $program");
    ASSERT_EQ(records().size(), 1U);
    const records::RunRecord first = records().front();
    EXPECT_EQ(first.configuration.steps, 3);
    EXPECT_EQ(text_of(folder_ / "p.html").find("\"steps\":3,") != std::string::npos,
              signal == std::string("INT"))
        << "the page has what there is";
    EXPECT_EQ(text_of(folder_ / "p.html").find("\"steps\":400,"), std::string::npos);
    const std::string mark = std::string(kMark) + "=" + folder_.string();
    const auto deadline = steady_now() + 20s;
    while (testing::marked_processes(mark) > 0 && steady_now() < deadline) {
      std::this_thread::sleep_for(5ms);
    }
    EXPECT_EQ(testing::marked_processes(mark), 0);

    const Outcome resumed = run(line + "--resume");
    EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
    ASSERT_EQ(records().size(), 2U);
    EXPECT_EQ(records()[0], first) << "is not run again";
    EXPECT_EQ(records()[1].configuration.steps, 400);
    EXPECT_FALSE(records()[1].error) << *records()[1].error;
    EXPECT_NE(text_of(folder_ / "p.html").find("\"steps\":400,"), std::string::npos);
  }
}

// The disk is full in the middle of the second record.
TEST_F(Survey, GoesOnAfterAFullDisk) {
  const std::string line =
      "run --model mlp --device cpu --ranks 2 --strategy bsp --batch-size 4 --warmup 1 --steps 3 "
      "--seed 1,2,3 --records r.jsonl --format csv ";
  ASSERT_EQ(run(line).exit_code, 0);
  const auto whole = fs::file_size(folder_ / "r.jsonl");
  fs::remove(folder_ / "r.jsonl");
  {
    const FullDisk disk(whole / 2);
    const Outcome stopped = run(line);
    EXPECT_EQ(stopped.exit_code, 3) << stopped.err;
    EXPECT_NE(stopped.err.find("r.jsonl: a record could not be written: "), std::string::npos)
        << stopped.err;
    EXPECT_TRUE(
        stopped.err.ends_with("1 of 3 cases finished, recorded in r.jsonl; the same command with "
                              "--records r.jsonl --resume runs the rest\n"))
        << stopped.err;
  }
  EXPECT_EQ(fs::file_size(folder_ / "r.jsonl"), whole / 2);
  EXPECT_EQ(lines_of(folder_ / "r.jsonl"), 1);

  const Outcome resumed = run(line + "--resume");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  ASSERT_EQ(records().size(), 3U);
  EXPECT_EQ(lines_of(folder_ / "r.jsonl"), 3);
  for (const int seed : {1, 2, 3}) {
    const auto record = records()[static_cast<std::size_t>(seed - 1)];
    EXPECT_EQ(record.configuration.seed, seed);
    EXPECT_FALSE(record.error) << *record.error;
  }
}

// The bytes without a codec are counted for a strategy that has no gamma.
TEST_F(Survey, ACodecOfAveragesTakesAStepOfItsOwn) {
  const Outcome outcome =
      run("run --model mlp --ranks 2 --batch-size 2 --warmup 0 --steps 2 --strategy "
          "neighbor-allreduce:gamma=0.3+qsgd --records r.jsonl");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto all = records();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].coding.has_value());
}

}  // namespace
}  // namespace paceline
