// SPDX-License-Identifier: Apache-2.0
// Replays and emulated links, from outside.
#include <algorithm>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "cli/inputs.h"
#include "cli/program.h"
#include "paceline/base/clock.h"
#include "paceline/records/store.h"

namespace paceline {
namespace {

constexpr std::int64_t kComputeNs = 10'000'000;

class ReplayCommand : public Program {
 protected:
  ReplayCommand() { write("theirs.json", kTwoTensors); }

  std::vector<records::RunRecord> records(const std::string& name) const {
    return records::read_records((folder_ / name).string()).records;
  }
};

TEST_F(ReplayCommand, EightRanksOfANetworkThatIsNotBuiltIn) {
  const Outcome outcome =
      run("run --replay theirs.json --ranks 8 --strategy bsp,wfbp,dear --warmup 0 --steps 3 "
          "--records r.jsonl");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("theirs, batch 2 per rank"), std::string::npos) << outcome.out;
  const auto all = records("r.jsonl");
  ASSERT_EQ(all.size(), 3U);
  for (const records::RunRecord& one : all) {
    EXPECT_EQ(one.source, records::Source::kReplayed);
    EXPECT_EQ(one.configuration.model, "theirs");
    EXPECT_EQ(one.configuration.replay, "theirs.json");
    EXPECT_EQ(one.ranks.size(), 8U);
    EXPECT_TRUE(one.wire.measured_per_step.has_value());
    EXPECT_EQ(one.wire.measured_per_step, one.wire.planned_per_step);
    EXPECT_FALSE(one.link_check.has_value());
    for (const records::RankSamples& rank : one.ranks) {
      EXPECT_GE(rank.window_ns, 3 * kComputeNs);
    }
  }
}

TEST_F(ReplayCommand, AnEstimateCountsWhatCrossesTheLink) {
  const Outcome outcome =
      run("run --replay theirs.json --ranks 2 --strategy bsp --warmup 0 --steps 9000 --link "
          "1Mbit,50us");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("more than 30 minutes"), std::string::npos) << outcome.err;
}

TEST_F(ReplayCommand, ADryRunShowsThePlanThatItsTimesMake) {
  const std::string job =
      "run --dry-run --replay theirs.json --ranks 2 "
      "--strategy optimal-merge";
  EXPECT_NE(run(job).out.find("no plan yet"), std::string::npos);
  const Outcome outcome = run(job + " --link 1Gbit,10us");
  EXPECT_NE(outcome.out.find("52.0 kB on the wire per rank and step"), std::string::npos)
      << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find(" --replay theirs.json --link 1Gbit,10us"), std::string::npos)
      << outcome.out;
}

TEST_F(ReplayCommand, TimesOfAStretchedCaseAreThoseOfTheModel) {
  const std::int64_t began_ns = steady_ns();
  const Outcome outcome =
      run("run --replay theirs.json --link 10Mbit,1ms --stretch 8 --ranks 2 --strategy bsp "
          "--warmup 0 --steps 2 --records r.jsonl");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::int64_t took_ns = steady_ns() - began_ns;
  const auto all = records("r.jsonl");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].configuration.stretch, 8);
  EXPECT_EQ(all[0].configuration.link, "10Mbit,1ms");
  ASSERT_TRUE(all[0].link_check.has_value());
  EXPECT_EQ(all[0].link_check->operations, 2);
  // 52 kB at 1.25 MB/s and two latencies.
  const std::int64_t modelled_ns = 2 * (kComputeNs + 43'600'000);
  for (const records::RankSamples& rank : all[0].ranks) {
    EXPECT_GE(rank.window_ns + rank.flush_ns.value_or(0), modelled_ns / 2);
    EXPECT_LE(8 * (rank.window_ns + rank.flush_ns.value_or(0)), took_ns);
  }
}

TEST_F(ReplayCommand, ALinkThatNoEngineReachesIsSaidEverywhere) {
  const std::string job =
      "run --replay theirs.json --link 100000Gbit --ranks 2 --strategy wfbp --warmup 1 --steps 2 "
      "--records ";
  const Outcome outcome = run(job + "r.jsonl");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("INVALID"), std::string::npos) << outcome.out;
  const auto all = records("r.jsonl");
  ASSERT_EQ(all.size(), 1U);
  ASSERT_TRUE(all[0].link_check.has_value());
  EXPECT_EQ(all[0].link_check->late, all[0].link_check->operations);
  EXPECT_GE(all[0].link_check->operations, 4);  // the warm-up's last ones too
  EXPECT_LT(all[0].link_check->slack_ns, 0);
  EXPECT_FALSE(all[0].valid());
  EXPECT_NE(run("report r.jsonl").out.find("slower-than-link"), std::string::npos);
  const Outcome diff = run("diff r.jsonl r.jsonl");
  EXPECT_NE((diff.out + diff.err).find("slower-than-link"), std::string::npos)
      << diff.out << diff.err;
}

// 40 kB of float32 gradients, coded in 2 s.
TEST_F(ReplayCommand, CodingIsPricedByTheProfile) {
  std::string slow = kTwoTensors;
  slow.insert(slow.find('{') + 1,
              R"("codecs": [{"codec": "sign", "bytes": 52000, "memcpy_us": 1,
  "encode_us": 1000000, "decode_us": 1000000, "kernels": [
  {"kernel": "sign", "bytes": 53000, "us": 1000000},
  {"kernel": "unsign", "bytes": 53000, "us": 1000000}]}],)");
  write("slow.json", slow);
  const Outcome outcome =
      run("run --replay slow.json --link 10Mbit,1ms --ranks 2 --strategy bsp+sign --warmup 0 "
          "--steps 1 --records r.jsonl");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::size_t row = outcome.out.find("bsp+sign, 2 ranks");
  ASSERT_NE(row, std::string::npos) << outcome.out;
  const double predicted_ms = std::stod(outcome.out.substr(row + 17));
  EXPECT_GT(predicted_ms, 1900) << outcome.out;
  EXPECT_LT(predicted_ms, 2500) << outcome.out;
}

TEST_F(ReplayCommand, ACaseThatCannotBePredictedSaysWhy) {
  write("bare.toml", "[[hosts]]\nname = \"localhost\"\nslots = 2\n");
  const Outcome outcome =
      run("run --replay theirs.json --cluster bare.toml --strategy bsp --warmup 0 --steps 1 "
          "--records r.jsonl");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("  not predicted: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\nno valid comparison\n"), std::string::npos);
}

TEST_F(ReplayCommand, ContradictionsAreRejected) {
  write("narrow.json", R"({"paceline_profile": 1, "model": "narrow", "dtype": "fp8",
 "batch_size": 2, "modules": [{"name": "a", "forward_us": 1}], "parameters": [
 {"name": "a.weight", "sizes": [4], "module": "a", "backward_us": 1}],
 "ready_order": ["a.weight"]})");
  expect_rejected("run --replay narrow.json --ranks 2",
                  "paceline: --replay: 'narrow.json' has gradients of 8 bits, which no engine ");
  expect_rejected("run --replay nowhere.json --ranks 2", "paceline: cannot read nowhere.json");
  for (const char* flag : {"--device cuda", "--engine nccl"}) {
    expect_rejected(std::string("run --replay theirs.json --ranks 2 ") + flag,
                    std::string("paceline: ") + std::string(flag).substr(0, 8) + ": '");
  }
  expect_rejected("run --model lenet --link fast --ranks 2", "paceline: --link");
  expect_rejected("run --model lenet --stretch 2 --ranks 2",
                  "paceline: --stretch: '2' slows compute and network alike");
}

}  // namespace
}  // namespace paceline
