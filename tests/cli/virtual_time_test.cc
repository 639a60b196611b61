// SPDX-License-Identifier: Apache-2.0
// What --virtual-time prices and what it leaves alone.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/program.h"
#include "paceline/records/samples.h"
#include "paceline/records/store.h"

namespace paceline {
namespace {

constexpr const char* kTraining =
    "run --model mlp --data digits --batch-size 4 --ranks 4 --threads 1 --warmup 0 --steps 4 "
    "--evaluate-every 2 --target 0.01 --bucket-mb 1 --learning-rate 0.05 --device cpu --engine "
    "gloo --yes --strategy hierarchical-neighbor-allreduce+atc ";

class VirtualTime : public Program {
 protected:
  VirtualTime() {
    write("two.toml",
          "name = \"two nodes\"\n"
          "[[hosts]]\nname = \"node\"\ncount = 2\nslots = 2\n"
          "[[links]]\nname = \"pcie\"\njoins = \"devices\"\n"
          "rate = \"10GB/s\"\nlatency = \"1us\"\n"
          "[[links]]\nname = \"wire\"\njoins = \"hosts\"\n"
          "rate = \"1GB/s\"\nlatency = \"20us\"\n");
  }

  std::vector<records::RunRecord> records(const std::string& file) const {
    return records::read_records(folder_ / file).records;
  }

  std::string rejection(const std::string& flags) const {
    const Outcome outcome = run(flags);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
    return outcome.err;
  }
};

/// Losses of all ranks' evaluations.
std::vector<double> losses(const records::RunRecord& record) {
  std::vector<double> all;
  for (const records::RankSamples& rank : record.ranks) {
    for (const records::Evaluation& one : rank.evaluations) {
      all.push_back(one.loss.value_or(-1));
    }
  }
  return all;
}

TEST_F(VirtualTime, IsTheRealRunWithAPredictionOfItsPlanBeside) {
  const Outcome priced =
      run(std::string(kTraining) + "--virtual-time two.toml --records virtual.jsonl");
  ASSERT_EQ(priced.exit_code, 0) << priced.err;
  EXPECT_NE(priced.out.find("Cluster 1: two nodes"), std::string::npos) << priced.out;
  const Outcome real = run(std::string(kTraining) + "--ranks-per-host 2+2 --records real.jsonl");
  ASSERT_EQ(real.exit_code, 0) << real.err;
  const auto both = records("virtual.jsonl");
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].configuration.key(), records("real.jsonl").at(0).configuration.key());
  EXPECT_EQ(losses(both[0]).size(), 12u);
  EXPECT_EQ(losses(both[0]), losses(records("real.jsonl").at(0)));
  EXPECT_EQ(both[1].source, records::Source::kPredicted);
  EXPECT_EQ(both[1].configuration.strategy, both[0].configuration.strategy);
  EXPECT_EQ(both[1].configuration.ranks_per_host, (std::vector<int>{2, 2}));
}

TEST_F(VirtualTime, AddsNoSecondPredictionToAResumedRun) {
  const std::string line = std::string(kTraining) + "--virtual-time two.toml --records r.jsonl ";
  ASSERT_EQ(run(line).exit_code, 0);
  const Outcome again = run(line + "--resume");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.out.find("Cluster 1: two nodes"), std::string::npos) << again.out;
  EXPECT_EQ(lines_of(folder_ / "r.jsonl"), 2);
}

TEST_F(VirtualTime, PricesAResumedRunOnAnotherCluster) {
  const std::string line = std::string(kTraining) + "--records r.jsonl ";
  ASSERT_EQ(run(line + "--virtual-time two.toml").exit_code, 0);
  write("slow.toml",
        "name = \"slow nodes\"\n"
        "[[hosts]]\nname = \"node\"\ncount = 2\nslots = 2\n"
        "[[links]]\njoins = \"hosts\"\nrate = \"1MB/s\"\n"
        "latency = \"20us\"\n");
  const Outcome slow = run(line + "--virtual-time slow.toml --resume");
  EXPECT_EQ(slow.exit_code, 0) << slow.err;
  EXPECT_NE(slow.out.find("Cluster 1: slow nodes"), std::string::npos) << slow.out;
  EXPECT_EQ(slow.out.find("two nodes"), std::string::npos) << slow.out;
  const auto all = records("r.jsonl");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_GT(records::slowest_step_s(all[2])[0], 10 * records::slowest_step_s(all[1])[0]);
}

TEST_F(VirtualTime, ComputesAsFastAsTheNamedDevice) {
  const std::string line = std::string(kTraining) + "--virtual-time two.toml ";
  ASSERT_EQ(run(line + "--device-rate 0.01 --records slow.jsonl").exit_code, 0);
  // 4 samples at 0.01 samples/s.  Links take milliseconds.  The update takes the share of the 400 s
  // that it takes on this machine, and may end in the next step.
  const auto steps = records::slowest_step_s(records("slow.jsonl").at(1));
  ASSERT_FALSE(steps.empty());
  EXPECT_GT(steps[0], 200.0);
  EXPECT_LT(steps[0], 800.0);
}

TEST_F(VirtualTime, KeepsTwoRatesOfADeviceApart) {
  const std::string line = std::string(kTraining) + "--virtual-time two.toml --records r.jsonl ";
  ASSERT_EQ(run(line + "--device-rate 100").exit_code, 0);
  const Outcome second = run(line + "--device-rate 200 --resume");
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_NE(second.out.find("two nodes; device 200 samples/s"), std::string::npos) << second.out;
  const auto all = records("r.jsonl");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_NE(all[1].configuration.key(), all[2].configuration.key());
  const std::string table = run("report r.jsonl").out;
  for (const char* rate : {"100", "200"}) {
    const std::string name = "two nodes; device " + std::string(rate) + " samples/s";
    EXPECT_NE(table.find("cluster=" + name), std::string::npos) << table;
    EXPECT_NE(table.find(": " + name + "."), std::string::npos) << table;
  }
}

TEST_F(VirtualTime, RejectsWhatItCannotTell) {
  EXPECT_EQ(rejection("run --model mlp --ranks 2 --virtual-time two.toml"),
            "paceline: virtual_time: 'fusion:bucket-mb=25' of mlp on 2 ranks trains on no data; "
            "name some (--data digits), or take `paceline predict`\n");
  const std::string digits = "run --model mlp --data digits --ranks 2 ";
  EXPECT_NE(rejection(digits + "--virtual-time two.toml --strategy win-put+awc")
                .find("averages what has arrived"),
            std::string::npos);
  EXPECT_NE(rejection(digits + "--virtual-time two.toml --ranks-per-host 1+1")
                .find("leave out --local-size and --ranks-per-host"),
            std::string::npos);
  EXPECT_NE(
      rejection(digits + "--virtual-time two.toml --accumulate 2").find("take accumulate 1, fp32"),
      std::string::npos);
  EXPECT_NE(
      rejection(digits + "--virtual-time two.toml -H localhost:2").find("leave out the hosts"),
      std::string::npos);
  EXPECT_NE(
      rejection("run --model mlp --data digits --ranks 5 --batch-size 4 --virtual-time two.toml")
          .find("world of 5 ranks does not fit on cluster 'two nodes'"),
      std::string::npos);
  EXPECT_NE(rejection(digits + "--device-rate 100").find("give that too"), std::string::npos);
}

}  // namespace
}  // namespace paceline
