// SPDX-License-Identifier: Apache-2.0
// `paceline ab --until`, two environments, and what `--fail-on` says.
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "paceline/records/json.h"
#include "paceline/records/store.h"
#include "report/fixed_diff.h"

namespace paceline {
namespace {

using records::RunRecord;

class Ab : public Program {
 protected:
  /// A command that leaves the record of fixed_diff.h of its turn, in which the steps of B take
  /// `factor` times as long.
  std::string side(const std::string& name, double factor, int runs) const {
    const report::Sides sides = report::repeated(runs, factor);
    const auto& records = name == "a" ? sides.base : sides.test;
    for (int run = 0; run < runs; ++run) {
      RunRecord one = records[static_cast<std::size_t>(run)];
      one.run = 0;
      write(name + std::to_string(run), records::to_line(one) + "\n");
    }
    write(name + ".sh", "n=$(cat " + name +
                            ".turn 2>/dev/null || echo 0)\n"
                            "cp " +
                            name +
                            "$n $PACELINE_RECORDS\n"
                            "echo $((n + 1)) > " +
                            name + ".turn\n");
    return "sh " + name + ".sh";
  }

  static long count(const std::string& text, const std::string& words) {
    long found = 0;
    for (std::size_t at = text.find(words); at != std::string::npos;
         at = text.find(words, at + 1)) {
      ++found;
    }
    return found;
  }
};

TEST_F(Ab, EndsWhenTheChangeIsProven) {
  const std::string commands = " -- " + side("a", 1.05, 20) + " -- " + side("b", 1.05, 20);
  const Outcome outcome = run("ab --until 2% --budget 20 --out d --format json" + commands);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  const auto diff = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(diff["decision"], "changed");
  EXPECT_EQ(diff["until"]["within"], 0.02);
  const auto runs = diff["cases"][0]["base_runs"].get<long>();
  EXPECT_GE(runs, 3);
  EXPECT_LT(runs, 10);
  EXPECT_EQ(count(outcome.err, "after "), runs) << outcome.err;
  EXPECT_NE(outcome.err.find(": slower\n"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("run 1 of at most 20: "), std::string::npos);
}

TEST_F(Ab, EndsWhenTheChangeIsProvenSmaller) {
  const std::string commands = " -- " + side("a", 1, 50) + " -- " + side("b", 1, 50);
  const Outcome outcome = run("ab --until 2% --out d" + commands);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("not changed by more than 2 %"), std::string::npos) << outcome.out;
}

TEST_F(Ab, ASpentBudgetIsUndecided) {
  const std::string commands = " -- " + side("a", 1, 9) + " -- " + side("b", 1, 9);
  const Outcome outcome = run("ab --until 0.1% --budget 4 --fail-on undecided --out d" + commands);
  EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
  EXPECT_NE(outcome.out.find("not decided: no interval within the margin of 0.1 %: 1M/2G"),
            std::string::npos)
      << outcome.out;
  EXPECT_EQ(outcome.out.find("no proven regression"), std::string::npos);
  // No run begins once the time is spent.
  const Outcome timed = run("ab --until 0.1% --budget 0.3s --out e -- sleep 0.2 -- sleep 0.2");
  EXPECT_EQ(timed.exit_code, 0) << timed.err;
  EXPECT_EQ(count(timed.err, "after "), 1) << timed.err;
}

TEST_F(Ab, RunsOneCommandInTwoEnvironments) {
  const Outcome outcome =
      run("ab --runs 2 --out d -- WORD=one sh -c 'echo $WORD $MORE >> said' -- WORD=two MORE=3 sh "
          "-c 'echo $WORD $MORE >> said'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::ifstream in(folder_ / "said");
  const std::string said(std::istreambuf_iterator<char>(in), {});
  EXPECT_EQ(count(said, "one\n"), 2) << said;
  EXPECT_EQ(count(said, "two 3\n"), 2) << said;
  EXPECT_NE(outcome.out.find("WORD=one"), std::string::npos) << outcome.out;
}

TEST_F(Ab, PreparesAndCleansUpOutsideTheTime) {
  const Outcome outcome = run(
      "ab --runs 1 --out d --format json --prepare 'echo p >> said; sleep 1' --cleanup 'echo ca >> "
      "said' --cleanup 'echo cb >> said' -- sh -c 'echo a >> said' -- sh -c 'echo b >> said'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::ifstream in(folder_ / "said");
  const std::string said(std::istreambuf_iterator<char>(in), {});
  EXPECT_TRUE(said == "p\na\nca\np\nb\ncb\n" || said == "p\nb\ncb\np\na\nca\n") << said;
  const auto diff = nlohmann::json::parse(outcome.out);
  EXPECT_LT(diff["cases"][0]["base_step_median_s"].get<double>(), 1);
  const Outcome failed = run("ab --runs 2 --out e --prepare 'exit 5' -- true -- true");
  EXPECT_EQ(failed.exit_code, 3);
  EXPECT_NE(failed.err.find("paceline: --prepare of "), std::string::npos);
  EXPECT_NE(failed.err.find("ended with exit code 5 in run 1"), std::string::npos) << failed.err;
}

TEST_F(Ab, CleansUpAfterARunThatFails) {
  const Outcome failed =
      run("ab --runs 2 --out d --cleanup 'echo clean >> said' -- "
          "sh -c 'exit 7' -- sh -c 'exit 7'");
  EXPECT_EQ(failed.exit_code, 3);
  EXPECT_NE(failed.err.find("ended with exit code 7 in run 1"), std::string::npos) << failed.err;
  std::ifstream in(folder_ / "said");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "clean\n");
  // What failed first is named.
  const Outcome both =
      run("ab --runs 2 --out e --cleanup 'exit 8' -- sh -c 'exit 7' -- "
          "sh -c 'exit 7'");
  EXPECT_NE(both.err.find("exit code 7"), std::string::npos) << both.err;
}

TEST_F(Ab, RejectsWhatContradictsItself) {
  expect_rejected("ab --runs 3 --until 2% -- true -- true",
                  "paceline: --runs 3: runs end by --until");
  expect_rejected("ab --budget 9 -- true -- true", "paceline: --budget 9: goes with --until");
  expect_rejected("ab --until -2% -- true -- true",
                  "paceline: --until: -2%: must be a percentage above 0");
  expect_rejected("ab --until 2% --budget 9days -- true -- true",
                  "paceline: --budget: 9days: must be a whole number of runs");
  expect_rejected("ab --until 2% --threshold 3 -- true -- true",
                  "paceline: --threshold 3: is more than --until 2%");
  expect_rejected("run --model mlp --ranks 1 --until 2% --budget 2",
                  "paceline: --budget 2: each case is run 3 times before");
  expect_rejected("ab -- true", "paceline: two commands are needed");
  expect_rejected("ab --fail-on luck -- true -- true",
                  "paceline: --fail-on: unknown verdict 'luck'");
}

TEST_F(Ab, FailOnSaysWhichVerdictFails) {
  const auto write_sides = [this](const report::Sides& sides) {
    for (const auto* side : {&sides.base, &sides.test}) {
      std::string text;
      for (const RunRecord& r : *side) {
        text += records::to_line(r) + "\n";
      }
      write(side == &sides.base ? "a.jsonl" : "b.jsonl", text);
    }
  };
  const auto code = [this](const std::string& flags) {
    return run("diff a.jsonl b.jsonl " + flags).exit_code;
  };
  write_sides(report::repeated(6, 1.05));
  EXPECT_EQ(code(""), 1);
  EXPECT_EQ(code("--fail-on undecided"), 1);
  EXPECT_EQ(code("--fail-on none"), 0);
  write_sides(report::repeated(6, 0.95));
  EXPECT_EQ(code(""), 0);
  EXPECT_EQ(code("--fail-on change"), 1);
  EXPECT_EQ(code("--fail-on undecided"), 0);
  write_sides(report::repeated(5, 1));
  EXPECT_EQ(code(""), 0);
  EXPECT_EQ(code("--fail-on undecided"), 4);
  EXPECT_EQ(code("--fail-on change,undecided"), 4);
}

}  // namespace
}  // namespace paceline
