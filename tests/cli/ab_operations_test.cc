// SPDX-License-Identifier: Apache-2.0
// `paceline diff` and `paceline ab` of operations of engines.
#include <cmath>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "paceline/base/random.h"

namespace paceline {
namespace {

class AbOperations : public Program {
 protected:
  /// What all_reduce_perf prints of two sizes; run `run` scatters by 1 %.
  static std::string table(int run, double factor) {
    Random random(17, static_cast<std::uint64_t>(run));
    std::string rows;
    double sum = 0;  // of bus bandwidths
    for (const std::int64_t bytes : {1 << 20, 4 << 20}) {
      std::string columns;
      for (int place = 0; place < 2; ++place) {
        const double us = std::round(factor * static_cast<double>(bytes) * 1e-4 *
                                     std::exp(0.01 * random.normal()) * 100) /
                          100;
        const double algbw = static_cast<double>(bytes) / us * 1e-3;
        sum += algbw * 1.5;
        columns += fmt::format(" {:9.2f} {:6.2f} {:6.2f} {:6}", us, algbw, algbw * 1.5, 0);
      }
      rows += fmt::format("{:12} {:12} float sum -1{}\n", bytes, bytes / 4, columns);
    }
    return "# nThread 1 nGpus 4 minBytes 1048576 maxBytes 4194304 step: 4(factor) warmup iters: 5 "
           "iters: 20 agg iters: 1 validation: 1 graph: 0\n#\n# Using devices\n"
           "#  Rank  0 Group  0 Pid     70 on      alpha device  0 "
           "[0000:10:00] NVIDIA H100 80GB HBM3\n"
           "#  Rank  1 Group  0 Pid     70 on      alpha device  1 "
           "[0000:11:00] NVIDIA H100 80GB HBM3\n"
           "#  Rank  2 Group  0 Pid     70 on      alpha device  2 "
           "[0000:12:00] NVIDIA H100 80GB HBM3\n"
           "#  Rank  3 Group  0 Pid     70 on      alpha device  3 "
           "[0000:13:00] NVIDIA H100 80GB HBM3\n#\n"
           "#                              out-of-place   in-place\n"
           "#       size         count      type   redop    root     time   algbw   busbw #wrong   "
           "  time   algbw   busbw #wrong\n"
           "#        (B)    (elements)                               (us)  "
           "(GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n" +
           rows + "# Out of bounds values : 0 OK\n" +
           fmt::format("# Avg bus bandwidth    : {:g}\n", sum / 4);
  }

  void write_logs(int runs, double factor) const {
    for (int run = 0; run < runs; ++run) {
      write(fmt::format("a{}.log", run), "./build/all_reduce_perf -g 4\n" + table(2 * run, 1));
      write(fmt::format("b{}.log", run),
            "./build/all_reduce_perf -g 4\n" + table(2 * run + 1, factor));
    }
  }

  static std::string files(const char* side, int runs) {
    std::string all;
    for (int run = 0; run < runs; ++run) {
      all += fmt::format("{}{}{}.log", run == 0 ? "" : ",", side, run);
    }
    return all;
  }
};

TEST_F(AbOperations, DiffReadsTablesOfNcclTests) {
  write_logs(4, 1.2);
  const Outcome outcome = run("diff --format json " + files("a", 4) + " " + files("b", 4));
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  const auto diff = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(diff["compared"], "time of operations");
  ASSERT_EQ(diff["cases"].size(), 2u);
  EXPECT_EQ(diff["cases"][0]["case"], "all-reduce in-place 1 MiB to 4 MiB");
  EXPECT_NEAR(diff["cases"][0]["change"].get<double>(), 0.2, 0.05);
  EXPECT_EQ(diff["cases"][0]["verdict"], "slower");
  // A copy is no further run.
  fs::copy(folder_ / "a0.log", folder_ / "copy.log");
  const Outcome copied = run("diff --format json a0.log,copy.log b0.log");
  EXPECT_NE(copied.err.find("copy.log: has the content of a0.log"), std::string::npos)
      << copied.err;
  EXPECT_EQ(nlohmann::json::parse(copied.out)["cases"][0]["base_runs"], 1);
}

TEST_F(AbOperations, AbReadsWhatAProgramPrints) {
  write_logs(6, 1.2);
  for (const char* side : {"a", "b"}) {
    write(std::string(side) + ".sh", fmt::format("n=$(cat {0}.turn 2>/dev/null || echo 0)\n"
                                                 "cat {0}$n.log\necho $((n + 1)) > {0}.turn\n",
                                                 side));
  }
  const Outcome outcome = run("ab --runs 6 --out d --format json -- sh a.sh -- sh b.sh");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  const auto diff = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(diff["compared"], "time of operations");
  EXPECT_EQ(diff["order"], "interleaved");
  EXPECT_EQ(diff["cases"][0]["base_runs"], 6);
  EXPECT_EQ(diff["cases"][0]["verdict"], "slower");
  // What it left is read again.
  const Outcome again = run("diff d/a.jsonl d/b.jsonl --format json");
  EXPECT_EQ(nlohmann::json::parse(again.out)["cases"], diff["cases"]);
}

TEST_F(AbOperations, AbComparesVariablesOfAProgramThatPrints) {
  write_logs(1, 1);
  const Outcome outcome =
      run("ab --runs 1 --out d --format json -- NCCL_ALGO=Ring cat a0.log -- NCCL_ALGO=Tree cat "
          "a0.log");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto differences = nlohmann::json::parse(outcome.out)["software_differences"];
  ASSERT_EQ(differences.size(), 1u) << differences;
  EXPECT_EQ(differences[0]["name"], "NCCL_ALGO");
  EXPECT_EQ(differences[0]["base"], "Ring");
  EXPECT_EQ(differences[0]["test"], "Tree");
}

TEST_F(AbOperations, AbComparesWhatPacelineCommMeasures) {
  const std::string command = std::string("'") + PACELINE_PROGRAM +
                              "' comm --ranks 2 --only all-reduce --max 4KiB --iterations 3";
  const Outcome outcome = run("ab --runs 2 --out d --format json -- " + command + " -- " + command);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto diff = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(diff["compared"], "time of operations");
  EXPECT_EQ(diff["cases"][0]["case"], "all-reduce 4 B to 1 KiB");
  EXPECT_EQ(diff["decision"], "not decided");
  EXPECT_FALSE(fs::exists(folder_ / "results"));
  // The records keep what they say of their machine.
  std::ifstream in(folder_ / "d/a.jsonl");
  std::string line;
  ASSERT_TRUE(std::getline(in, line));
  const auto environment = nlohmann::json::parse(line)["environment"];
  EXPECT_FALSE(environment["hosts"].empty());
  EXPECT_FALSE(environment["paceline_version"].is_null());
}

TEST_F(AbOperations, RejectsWhatCannotBeCompared) {
  write_logs(1, 1);
  write("runs.json",
        R"({"pytorch_version": "1.4.0", "cuda_version": "10.0",
            "distributed_backend": "nccl", "bucket_size": 25,
            "benchmark_results": [{"model": "resnet50", "batch_size": 32,
            "result": [{"ranks": [0], "measurements": [0.1]}]}]})");
  expect_rejected("diff a0.log runs.json",
                  "paceline: a0.log has records of operations, and runs.json "
                  "of trainings or commands");
  expect_rejected("diff a0.log,runs.json b0.log",
                  "paceline: runs.json: some of the files are results of");
  expect_rejected("diff a0.log b0.log --format ddp",
                  "paceline: --format ddp: these records hold times of operations");
  expect_rejected("diff a0.log b0.log --base strategy=ddp --test strategy=ddp",
                  "paceline: --base strategy=ddp: chooses cases of trainings");
  write("broken.jsonl", "{\"kind\":\"comm\",\"version\":1}\n{}\n");
  expect_rejected("diff broken.jsonl b0.log", "paceline: broken.jsonl:1: ");
}

}  // namespace
}  // namespace paceline
