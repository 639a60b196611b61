// SPDX-License-Identifier: Apache-2.0
// `paceline diff` and `paceline ab` from outside.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "paceline/records/json.h"
#include "paceline/records/store.h"
#include "report/fixed_diff.h"

namespace paceline {
namespace {

using nlohmann::json;
using records::RunRecord;

class DiffProgram : public Program {
 protected:
  void write_records(const std::string& name, const std::vector<RunRecord>& records) const {
    std::string text;
    for (const RunRecord& r : records) {
      text += records::to_line(r) + "\n";
    }
    write(name, text);
  }

  /// The six runs in turns of report/fixed_diff.h.
  void write_sides() const {
    const report::Sides sides = report::fixed_sides();
    write_records("base.jsonl", sides.base);
    write_records("test.jsonl", sides.test);
  }
};

long lines_in(const fs::path& path) {
  std::ifstream in(path);
  return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
}

std::string golden(const std::string& name) {
  std::ifstream in(std::string(PACELINE_SOURCE_DIR) + "/tests/report/golden/" + name);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(DiffProgram, AProvenRegressionExitsWithOne) {
  write_sides();
  const Outcome slower = run("diff base.jsonl test.jsonl --threshold 1");
  EXPECT_EQ(slower.exit_code, 1) << slower.err;
  EXPECT_NE(slower.out.find("slower beyond 1 %, proven: 1M/2G"), std::string::npos) << slower.out;
  EXPECT_EQ(slower.err, "");
  const Outcome beyond = run("diff base.jsonl test.jsonl --threshold 10");
  EXPECT_EQ(beyond.exit_code, 0);
  EXPECT_NE(beyond.out.find("no proven regression beyond 10 %"), std::string::npos);
}

TEST_F(DiffProgram, NoRegressionExitsWithZero) {
  write_sides();
  EXPECT_EQ(run("diff base.jsonl base.jsonl").exit_code, 0);
  // The case that grew slower is the one that is faster the other way round.
  EXPECT_EQ(run("diff base.jsonl test.jsonl --base ranks=4 --test ranks=4").exit_code, 0);
}

TEST_F(DiffProgram, PrintsTheOriginalsLayout) {
  write_sides();
  EXPECT_EQ(run("diff base.jsonl test.jsonl --format ddp").out, golden("diff.ddp.txt"));
}

TEST_F(DiffProgram, ReadsTheOriginalsJsonOnEitherSide) {
  write_records("base.jsonl", {report::fixed_record({"a", "ddp", 2, 100})});
  write("report.json",
        R"({"pytorch_version": "1.4.0", "cuda_version": "10.0",
            "distributed_backend": "nccl", "bucket_size": 25,
            "benchmark_results": [{"model": "resnet50", "batch_size": 32,
            "result": [{"ranks": [0], "measurements": [0.1]},
            {"ranks": [0, 1], "measurements": [0.2, 0.2]}]}]})");
  fs::copy(folder_ / "report.json", folder_ / "again.json");
  for (const char* sides :
       {"base.jsonl report.json", "report.json base.jsonl", "report.json report.json,again.json"}) {
    const Outcome outcome = run(std::string("diff --format json ") + sides);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const json diff = json::parse(outcome.out);
    EXPECT_EQ(diff["cases"].back()["ranks"], 2);
    EXPECT_EQ(diff["cases"].back()["verdict"], "too few runs");
    EXPECT_EQ(diff["needed_runs"], 4);
  }
  const Outcome report = run("report report.json base.jsonl --format csv");
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_NE(report.out.find(",imported,"), std::string::npos) << report.out;
  EXPECT_NE(report.out.find(",measured,"), std::string::npos) << report.out;
}

TEST_F(DiffProgram, ComparesCasesOfOneFile) {
  std::vector<RunRecord> records;
  for (int repetition = 0; repetition < 6; ++repetition) {
    for (const char* strategy : {"ddp:bucket-mb=25", "fusion"}) {
      RunRecord r = report::fixed_record({strategy, strategy, 2, strategy[0] == 'd' ? 100.0 : 90.0},
                                         repetition);
      r.started_at = "2024-05-06T07:0" + std::to_string(repetition) + ":00Z";
      records.push_back(r);
    }
  }
  write_records("r.jsonl", records);
  const Outcome outcome =
      run("diff --base strategy=ddp --test strategy=fusion r.jsonl --format json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const json diff = json::parse(outcome.out);
  ASSERT_EQ(diff["cases"].size(), 1u);
  EXPECT_EQ(diff["cases"][0]["verdict"], "faster");
  EXPECT_EQ(diff["order"], "interleaved");
}

TEST_F(DiffProgram, RejectsWhatCannotBeCompared) {
  write_sides();
  write_records("other.jsonl", {report::fixed_record({"a", "ddp", 64, 100})});
  write("broken.jsonl", "{\"version\":1\n{}\n");
  write("future.jsonl", "{\"version\":2}\n");
  write("report.json", "{\"benchmark_results\":\n [7]}");
  write("empty.jsonl", "");
  expect_rejected("diff base.jsonl", "paceline: TEST: a second file is missing");
  expect_rejected("diff", "paceline: BASE");
  expect_rejected("diff base.jsonl none.jsonl", "paceline: cannot read none.jsonl: ");
  expect_rejected("diff base.jsonl broken.jsonl", "paceline: broken.jsonl:1: not JSON");
  expect_rejected("diff base.jsonl future.jsonl", "paceline: future.jsonl:1: version: 2 is newer");
  expect_rejected("diff report.json base.jsonl",
                  "paceline: report.json:2: benchmark_results[0]: '7' is not an object");
  expect_rejected("diff base.jsonl empty.jsonl", "paceline: empty.jsonl: holds no record");
  expect_rejected("diff base.jsonl,./base.jsonl test.jsonl",
                  "paceline: ./base.jsonl: given twice; its runs would count");
  expect_rejected("diff base.jsonl test.jsonl --format tabel",
                  "paceline: --format: unknown format 'tabel'; did you mean 'table'?");
  expect_rejected("diff base.jsonl test.jsonl --step-time p75",
                  "paceline: --step-time: unknown step time 'p75'. Known: median, mean");
  expect_rejected("diff base.jsonl test.jsonl --step-time mean --format ddp",
                  "paceline: --format ddp: PyTorch's diff.py prints percentiles of steps");
  expect_rejected("diff base.jsonl test.jsonl --threshold -1",
                  "paceline: --threshold: -1: must be a number from 0 to 1000");
  expect_rejected("diff base.jsonl test.jsonl --base strategy",
                  "paceline: --base strategy: expected KEY=VALUE");
  expect_rejected("diff base.jsonl test.jsonl --base ranks=3",
                  "paceline: --base ranks=3: no record has ranks '3'");
  const Outcome nothing = run("diff base.jsonl other.jsonl");
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_EQ(
      nothing.err,
      "paceline: nothing was compared, for no case of base.jsonl is in other.jsonl; they differ in "
      "ranks, strategy: --base KEY=VALUE and --test KEY=VALUE choose among cases of the same "
      "work\n");
  EXPECT_NE(nothing.out.find("only in the base: no ddp"), std::string::npos);
}

TEST_F(DiffProgram, AbTakesTurnsAndComparesWallTimes) {
  const Outcome outcome =
      run("ab --runs 6 --out d --format json -- sleep 0.02 -- "
          "WAIT=0.2 sh -c 'sleep $WAIT'");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  const json diff = json::parse(outcome.out);
  ASSERT_EQ(diff["cases"].size(), 1u);
  EXPECT_EQ(diff["cases"][0]["verdict"], "slower");
  EXPECT_EQ(diff["cases"][0]["corrected_p"], 2 / 64.0);
  EXPECT_EQ(diff["order"], "interleaved");
  EXPECT_EQ(diff["base"], "A: sleep 0.02");
  const auto a = records::read_records(folder_ / "d/a.jsonl").records;
  ASSERT_EQ(a.size(), 6u);
  EXPECT_EQ(a[5].run, 5);
  EXPECT_EQ(a[0].source, records::Source::kExternal);
  // The order is drawn, and each command is first in half of the runs.
  int first = 0;
  for (int run = 1; run <= 6; ++run) {
    const std::string line = "run " + std::to_string(run) + " of 6: ";
    const std::size_t at = outcome.err.find(line);
    ASSERT_NE(at, std::string::npos) << outcome.err;
    first += outcome.err[at + line.size()] == 'A' ? 1 : 0;
  }
  EXPECT_EQ(first, 3) << outcome.err;
  expect_rejected("ab --out d -- true -- true", "paceline: --out d: holds a.jsonl of an earlier");
}

// Their default name is the second, which three in a row hardly ever differ in.
TEST_F(DiffProgram, AbBeginsAFolderOfItsOwnEachTime) {
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = run("ab --runs 1 -- true -- true");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "results"), fs::directory_iterator()),
            3);
}

TEST_F(DiffProgram, AbSpeaksOfCommandsNotOfSteps) {
  const Outcome outcome = run("ab --runs 2 --out d -- sh -c : -- sh -c 'exit 0'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* words :
       {"whole commands\n", "wall time, ", "differs     command: sh -c : -> sh -c 'exit 0'",
        "wall time   of the whole command, from its start"}) {
    EXPECT_NE(outcome.out.find(words), std::string::npos) << words;
  }
  for (const char* words : {"step", "rank", "batch", "strategy"}) {
    EXPECT_EQ(outcome.out.find(words), std::string::npos) << words << "\n" << outcome.out;
  }
  const Outcome rejected = run("ab --runs 6 --out e --format ddp -- true -- true");
  EXPECT_EQ(rejected.exit_code, 2);
  EXPECT_EQ(rejected.out, "");
  EXPECT_NE(rejected.err.find("paceline: --format ddp: neither command left records"),
            std::string::npos)
      << rejected.err;
  EXPECT_EQ(rejected.err.find("run 2 of 6"), std::string::npos);
  expect_rejected("diff d/a.jsonl d/b.jsonl --format ddp",
                  "paceline: --format ddp: these records hold wall times");
}

TEST_F(DiffProgram, HelpSaysTheExitCodes) {
  for (const char* command : {"diff --help", "ab --help"}) {
    const Outcome help = run(command);
    EXPECT_EQ(help.exit_code, 0);
    for (const char* words : {"Exit code: 0 no proven regression of ", "1 one (corrected p < 0.05",
                              "2 nothing could be compared"}) {
      EXPECT_NE(help.out.find(words), std::string::npos) << help.out;
    }
  }
}

TEST_F(DiffProgram, AbTakesTheRecordsThatCommandsLeave) {
  write_records("r.jsonl", {report::fixed_record({"a", "ddp", 2, 100}, 3)});
  const Outcome outcome =
      run("ab --runs 2 --out d --format json -- cp r.jsonl {records} -- sh -c 'cp r.jsonl "
          "$PACELINE_RECORDS'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const json diff = json::parse(outcome.out);
  EXPECT_EQ(diff["cases"][0]["case"], "a");
  EXPECT_EQ(diff["cases"][0]["base_runs"], 2);
  EXPECT_EQ(diff["cases"][0]["verdict"], "too few runs");
  EXPECT_EQ(records::read_records(folder_ / "d/b.jsonl").records[1].run, 1);
}

TEST_F(DiffProgram, AbComparesWhatPacelineRunMeasures) {
  const std::string command =
      std::string("'") + PACELINE_PROGRAM +
      "' run --model mlp --device cpu --ranks 1 --batch-size 4 --warmup 1 --steps 3 --strategy ";
  const Outcome outcome =
      run("ab --runs 1 --out d --format json -- " + command + "none -- " + command + "bsp");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const json diff = json::parse(outcome.out);
  ASSERT_EQ(diff["cases"].size(), 1u);
  EXPECT_EQ(diff["cases"][0]["model"], "mlp");
  EXPECT_EQ(diff["cases"][0]["differences"][0]["name"], "strategy");
  EXPECT_FALSE(fs::exists(folder_ / "results"));
}

TEST_F(DiffProgram, AbEndsWhatFailsAndKeepsWhatWasMeasured) {
  const Outcome outcome =
      run("ab --runs 3 --out d -- true -- sh -c 'echo no luck >&2; test ! -e again || exit 7; "
          "touch again'");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.err.find("paceline: B ended with exit code 7 in run 2: no luck (d/b.log)"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.out.find("too few runs (6 a side are needed for p < 0.05)"), std::string::npos);
  EXPECT_EQ(records::read_records(folder_ / "d/b.jsonl").records.size(), 1u);
}

// How many processes run with just these words.
int processes(const std::vector<std::string>& words) {
  std::string wanted;
  for (const std::string& word : words) {
    wanted += word + '\0';
  }
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "cmdline", std::ios::binary);
    const std::string found(std::istreambuf_iterator<char>(in), {});
    count += found == wanted ? 1 : 0;
  }
  return count;
}

TEST_F(DiffProgram, AbEndsCommandsAtTheDeadlineWithAllThatTheyStarted) {
  const Outcome outcome =
      run("ab --runs 1 --timeout 0.5 --out d -- sh -c 'sleep 61.25 & echo "
          "$!; sleep 61.25' -- true");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.err.find("paceline: A had not ended after 0.5 s in run 1"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(lines_in(folder_ / "d/a.log"), 1);  // the first one was there
  // Killed, yet perhaps not gone from the machine's table at once.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (processes({"sleep", "61.25"}) > 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(processes({"sleep", "61.25"}), 0);
}

TEST_F(DiffProgram, AbShowsWhatItHasWhenInterrupted) {
  // The third execution of A asks its parent to stop, as Ctrl-C would.
  write("stop.sh",
        "echo x >> count\n"
        "if [ $(wc -l < count) = 3 ]; then kill -INT $PPID; exec sleep 30; "
        "fi\n");
  const Outcome outcome = run("ab --runs 9 --out d --format json -- sh stop.sh -- true");
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  const json diff = json::parse(outcome.out);
  EXPECT_EQ(diff["cases"][0]["base_runs"], 2);
}

TEST_F(DiffProgram, AbRejectsWhatItCannotRun) {
  expect_rejected("ab -- true", "paceline: two commands are needed");
  expect_rejected("ab -- -- true", "paceline: two commands are needed");
  expect_rejected("ab --runs 0 -- true -- true",
                  "paceline: --runs: 0: must be a whole number of at least 1");
  expect_rejected("ab --timeout 0 -- true -- true",
                  "paceline: --timeout: 0: must be a number from 0.001 to ");
  expect_rejected("ab --format xml -- true -- true", "paceline: --format: unknown format 'xml'");
  const Outcome outcome = run("ab --runs 1 --out d -- true -- no-such-command-here");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.err.find("paceline: B could not be started in run 1: "), std::string::npos)
      << outcome.err;
}

TEST_F(DiffProgram, AbRejectsRecordsBesideWallTimes) {
  write_records("r.jsonl", {report::fixed_record({"a", "ddp", 2, 100})});
  const Outcome outcome = run("ab --runs 3 --out d -- cp r.jsonl {records} -- true");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("paceline: only A left records, in the file that {records} or the "
                             "variable PACELINE_RECORDS"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(outcome.err.find("run 2 of 3"), std::string::npos);
}

}  // namespace
}  // namespace paceline
