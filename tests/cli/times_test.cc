// SPDX-License-Identifier: Apache-2.0
// Where the times come from by which strategies decide, from outside.
#include <string>

#include <gtest/gtest.h>

#include "cli/inputs.h"
#include "cli/program.h"
#include "paceline/records/store.h"

namespace paceline {
namespace {

class TimesOfPlans : public Program {
 protected:
  TimesOfPlans() { write("theirs.json", kTwoTensors); }

  /// A cluster file whose devices have one fit: start-up and engine are given.
  void describe(const std::string& file, const std::string& alpha, const std::string& engine,
                int ranks = 2) const {
    write(file,
          "[[hosts]]\nname = \"localhost\"\nslots = 4\n[[links]]\njoins = \"devices\"\nrate = "
          "\"1GB/s\"\n[[links.fits]]\noperation = \"all-reduce\"\nranks = " +
              std::to_string(ranks) + "\nengine = \"" + engine +
              "\"\ndevice = \"cpu\"\npieces = [{ alpha = \"" + alpha +
              "\", beta_ps_per_byte = 1.5 }]\n");
  }

  std::vector<records::RunRecord> records() const {
    return records::read_records((folder_ / "r.jsonl").string()).records;
  }

  records::RunRecord only_record() const {
    const auto all = records();
    EXPECT_EQ(all.size(), 1U);
    return all.at(0);
  }

  const std::string kReplay =
      "run --replay theirs.json --ranks 2 --strategy mg-wfbp --warmup 0 --steps 2 --records "
      "r.jsonl --cluster ";
};

// Where starting costs a second, two tensors cross as one.
TEST_F(TimesOfPlans, FitsOfTheClusterFileDecide) {
  for (const auto& [alpha, calls] : {std::pair{"1s", 1}, {"0ps", 2}}) {
    SCOPED_TRACE(alpha);
    fs::remove(folder_ / "r.jsonl");
    describe("lab.toml", alpha, "gloo");
    const Outcome outcome = run(kReplay + "lab.toml");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::string origin = "lab.toml, fits of link 'devices', gloo on cpu among 2 ranks";
    EXPECT_NE(outcome.err.find("times of collectives: " + origin + "\n"), std::string::npos)
        << outcome.err;
    const records::RunRecord one = only_record();
    EXPECT_EQ(one.wire.calls_per_step, calls);
    ASSERT_TRUE(one.planned_by);
    EXPECT_EQ(one.planned_by->costs_origin, origin);
    ASSERT_EQ(one.planned_by->costs.size(), 1U);
    const auto& pieces = one.planned_by->costs.at("all-reduce");
    ASSERT_EQ(pieces.size(), 1U);
    EXPECT_EQ(pieces[0].alpha_s, calls == 1 ? 1.0 : 0.0);
  }
}

TEST_F(TimesOfPlans, AFileOfAnExperimentNamesTheCluster) {
  describe("lab.toml", "1s", "gloo");
  write("sweep.toml",
        "cluster = 'lab.toml'\nreplay = 'theirs.json'\nranks = 2\nwarmup = 0\nsteps = 2\nstrategy "
        "= 'mg-wfbp'\n");
  const Outcome outcome = run("run sweep.toml --records r.jsonl");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(only_record().wire.calls_per_step, 1);
  EXPECT_TRUE(only_record().planned_by->costs_origin.starts_with("lab.toml, "));
}

TEST_F(TimesOfPlans, FitsOfAnotherEngineOrWorldAreNotTaken) {
  describe("lab.toml", "1s", "nccl");
  describe("four.toml", "1s", "gloo", 4);
  for (const auto& [file, known] :
       {std::pair{"lab.toml", "nccl on cpu among 2"}, {"four.toml", "gloo on cpu among 4"}}) {
    SCOPED_TRACE(file);
    fs::remove(folder_ / "r.jsonl");
    const Outcome outcome = run(kReplay + file);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(
        outcome.err.find(std::string("link 'devices' of ") + file + " has fits of " + known +
                         ", none of gloo on cpu among 2 ranks; they are measured before the run\n"),
        std::string::npos)
        << outcome.err;
    EXPECT_EQ(only_record().planned_by->costs_origin, "measured before the run, gloo");
  }
}

// A line through times needs two sizes; this network is smaller than the first.
TEST_F(TimesOfPlans, AreMeasuredForTheSmallestNetwork) {
  const Outcome outcome =
      run("run --model linear --image-size 4 --batch-size 2 --device cpu --ranks 2 --strategy "
          "mg-wfbp --warmup 0 --steps 2");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(TimesOfPlans, ASweepMeasuresOnce) {
  const Outcome outcome =
      run("run --model lenet --batch-size 4 --device cpu --ranks 2 --threads 1 --strategy "
          "optimal-merge,mg-wfbp --warmup 0 --steps 2 --runs 2 --records r.jsonl --yes");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto all = records();
  ASSERT_EQ(all.size(), 4U);
  const records::PlannerTimes& first = *all[0].planned_by;
  EXPECT_EQ(first.costs_origin, "measured before the run beside compute, gloo");
  EXPECT_EQ(first.profile_origin, "measured before the run, rank 0");
  for (std::size_t i = 1; i < all.size(); ++i) {
    SCOPED_TRACE(i);
    const records::PlannerTimes& later = *all[i].planned_by;
    EXPECT_EQ(later.costs_origin,
              "measured before the run beside compute, gloo, for an earlier case of this run");
    EXPECT_EQ(later.profile_origin,
              "measured before the run, rank 0, for an earlier case of this "
              "run");
    EXPECT_EQ(later.costs, first.costs);
    EXPECT_EQ(later.forward_ps, first.forward_ps);
    EXPECT_EQ(later.backward_ps, first.backward_ps);
  }
}

// Dropout draws random numbers; the first case measures, the second does not.
TEST_F(TimesOfPlans, DrawNoRandomNumbersOfTheRun) {
  const Outcome outcome =
      run("run --model bert-tiny --sequence-length 4 "
          "--batch-size 2 --device cpu --ranks 2 --threads 1 --strategy "
          "optimal-merge,mg-wfbp --warmup 0 --steps 2 --records r.jsonl --yes");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto all = records();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].training->last_loss, all[1].training->last_loss);
}

}  // namespace
}  // namespace paceline
