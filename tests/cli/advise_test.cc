// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace paceline {
namespace {

using Advise = Program;

TEST_F(Advise, RanksNoPlacementsOfEmbeddingTables) {
  expect_rejected("advise hybrid " + kCluster,
                  "paceline: hybrid: strategies are ranked for networks without embedding tables; "
                  "`paceline predict hybrid --placement NAME` prices a placement\n");
}

TEST_F(Advise, HintsAtFlagsOfRunAndOfTheOriginal) {
  for (const std::string command : {"predict", "advise"}) {
    const std::string job = command + " hybrid " + kCluster + " ";
    expect_rejected(job + "--warmup-cycles 5",
                    "paceline: '--warmup-cycles' is '--warmup' of paceline run; paceline " +
                        command + " does not take it\n");
    expect_rejected(job + "--timeout=5",
                    "paceline: '--timeout' is a flag of paceline run; paceline " + command +
                        " does not take it\n");
    expect_rejected(job + "--algoritm ring",
                    "paceline: unknown flag '--algoritm'; did you mean '--algorithm'? paceline " +
                        command + " --help lists all\n");
  }
  expect_rejected(
      "predict hybrid " + kCluster + " --number-trainers 5",
      "paceline: unknown flag '--number-trainers'; here it is '--trainers'; paceline predict "
      "--help lists all\n");
  expect_rejected("run hybrid --warmup-cycles 5",
                  "paceline: unknown flag '--warmup-cycles'; here it is '--warmup'; paceline run "
                  "--help lists all\n");
}

TEST_F(Advise, EndsWithACommand) {
  const Outcome outcome = run("advise resnet50 " + kCluster + " --ranks 4 --bucket-mb 25");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("paceline run"), std::string::npos);
  EXPECT_NE(outcome.out.find("\n * "), std::string::npos);
}

TEST_F(Advise, HasTheFormatsOfOtherCommands) {
  const std::string job = "advise resnet50 " + kCluster + " --ranks 4 --bucket-mb 25 --top 1";
  const Outcome shown = run(job + " --format json");
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  const auto values = nlohmann::json::parse(shown.out);
  const auto& best = values.at("strategies").at(0);
  EXPECT_GT(values.at("strategies").size(), 1U);  // --top is of tables
  EXPECT_EQ(best.at("not_told_from_fastest"), true);
  EXPECT_LT(best.at("error_bar_low_s").get<double>(), best.at("step_s").get<double>());
  EXPECT_EQ(values.at("bucket_mb").at(0).at("best"), 25);
  EXPECT_TRUE(values.at("command").get<std::string>().starts_with("paceline run "));
  const Outcome csv = run(job + " --format csv");
  EXPECT_TRUE(csv.out.starts_with("strategy,step_s,error_bar_low_s,")) << csv.out;
  EXPECT_NE(csv.out.find(best.at("strategy").get<std::string>()), std::string::npos) << csv.out;
  EXPECT_EQ(std::ranges::count(csv.out, '\n'), 1 + std::ssize(values.at("strategies")));
  const Outcome markdown = run(job + " --format markdown");
  EXPECT_TRUE(markdown.out.starts_with("| | step, ms | ")) << markdown.out;
  EXPECT_NE(markdown.out.find("\n```sh\npaceline run "), std::string::npos) << markdown.out;
  expect_rejected(job + " --format tables", "paceline: --format: unknown format 'tables'");
}

/// The first world from which on all of `worlds` are below 90 %; null: there is none.
nlohmann::json knee_of(const nlohmann::json& worlds) {
  nlohmann::json knee;
  for (const auto& world : worlds) {
    const bool below = world.at("efficiency").get<double>() < 0.9;
    knee = !below ? nlohmann::json() : knee.is_null() ? world.at("ranks") : knee;
  }
  return knee;
}

TEST_F(Advise, SaysWhereScalingEnds) {
  const std::string job =
      "advise resnet50 " + kCluster + " --ranks 8 --bucket-mb 25 --engine nccl-2.4";
  const Outcome shown = run(job);
  const auto values = nlohmann::json::parse(run(job + " --format json").out);
  const auto& scaling = values.at("scaling");
  EXPECT_EQ(scaling.at("described_ranks"), 32);
  EXPECT_EQ(scaling.at("worlds").back().at("ranks"), 256);
  const auto knee = knee_of(scaling.at("worlds"));
  EXPECT_EQ(scaling.at("below_from_ranks"), knee);
  ASSERT_TRUE(knee.is_number());
  EXPECT_NE(shown.out.find("efficiency falls below 90 % from " + knee.dump() + " ranks on ("),
            std::string::npos)
      << shown.out;
  EXPECT_NE(shown.out.find("\nmore than 32 ranks: more hosts like the cluster's"),
            std::string::npos);
  // Four devices behind one bus, with a batch that takes long beside its gradients.
  const Outcome hidden = run("advise bert-base --cluster " PACELINE_SOURCE_DIR
                             "/clusters/8x8-h100-400gb.toml --device-rate 50 --ranks 8 "
                             "--batch-size 64 --bucket-mb 25 --error 1");
  EXPECT_NE(
      hidden.out.find("efficiency does not fall below 90 % up to 512 ranks (nor at the slower "
                      "end of the step's interval)"),
      std::string::npos)
      << hidden.out << hidden.err;
}

TEST_F(Advise, SaysWhatToMeasureNext) {
  const std::string job = "advise resnet50 " + kCluster + " --bucket-mb 25 --engine nccl-2.4";
  const Outcome none = run(job);
  EXPECT_NE(none.out.find("\nnothing was measured of the job; measure next: all hosts, --measured "
                          "\"ranks=32 batch=64 strategy="),
            std::string::npos)
      << none.out;
  EXPECT_NE(none.out.find("\nshort of it: "), std::string::npos) << none.out;
  const std::string measured = job + " --measured \"ranks=32 strategy=bsp rate=5000\"";
  const Outcome all = run(measured);
  EXPECT_NE(all.out.find("\n[]: 95 % intervals, by the fit to the measured figures"),
            std::string::npos)
      << all.out << all.err;
  const auto values = nlohmann::json::parse(run(measured + " --format json").out);
  const auto& next = values.at("measure_next");
  for (const auto& it : next.at("candidates")) {
    EXPECT_GT(it.at("error").get<double>(), 0);
  }
  EXPECT_EQ(values.at("scaling").at("base").at("ranks"), 32);
  EXPECT_EQ(values.at("scaling").at("base").at("measured"), true);
}

// What these figures lose is not lost in the described links.
TEST_F(Advise, RanksNothingByUnlikelyLinks) {
  const Outcome outcome =
      run("advise resnet50 --cluster " PACELINE_SOURCE_DIR
          "/clusters/8x8-h100-400gb.toml --batch-size 64 --measured 'ranks=8 rate=18000 "
          "strategy=ddp' --measured 'ranks=64 rate=130000 strategy=ddp'");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("paceline: --measured: no ranking of strategies and no end of scaling "
                             "follow from these figures: reached rate between hosts"),
            std::string::npos)
      << outcome.err;
}

// Sizes of buckets that cannot be told from the best leave PyTorch's own.
TEST_F(Advise, LeavesTheBucketsOfPyTorch) {
  const Outcome outcome = run("advise resnet50 " + kCluster + " --ranks 8 --engine nccl-2.4");
  EXPECT_NE(outcome.out.find("DistributedDataParallel(model), whose default bucket_cap_mb=25 is "
                             "not told from the best"),
            std::string::npos)
      << outcome.out;
}

TEST_F(Advise, SaysWhatItsBarsAre) {
  Outcome outcome =
      run("advise resnet50 " + kCluster + " --ranks 8 --bucket-mb 25 --engine nccl-2.4");
  EXPECT_EQ(outcome.err.find("no-throughput"), std::string::npos);
  EXPECT_NE(outcome.out.find("\n[]: 9 of 10 published cells"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\nnot validated: no published table tells of "), std::string::npos)
      << outcome.out;
  outcome = run("advise vgg16 " + kCluster + " --ranks 2 --bucket-mb 25");
  EXPECT_NE(outcome.err.find("no-throughput: "), std::string::npos);
  EXPECT_EQ(outcome.err.find("no-throughput: "), outcome.err.rfind("no-throughput: "));
  EXPECT_NE(outcome.out.find("\nno error bars: "), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("\n * "), std::string::npos) << outcome.out;
}

const std::string kProfile = PACELINE_SOURCE_DIR "/benchmarks/translator.profile.json";

TEST_F(Advise, ReplaysAProfile) {
  const Outcome outcome = run("advise " + kProfile + " " + kCluster + " --ranks 4 --bucket-mb 25");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find(" --replay " + kProfile), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(" --device cpu --engine gloo "), std::string::npos) << outcome.out;
  EXPECT_TRUE(
      outcome.out.ends_with("\n  --replay sleeps through the profile's layers on the CPU, moves "
                            "real bytes with gloo\n  and trains nothing\n"))
      << outcome.out;
  const Outcome trained = run("advise resnet50 " + kCluster + " --ranks 4 --bucket-mb 25");
  EXPECT_EQ(trained.out.find("--replay"), std::string::npos) << trained.out;
}

TEST_F(Advise, SaysWithWhatItRunsThatWasPricedOtherwise) {
  const std::string rest = kCluster + " --ranks 4 --bucket-mb 25 --engine ";
  const Outcome other = run("advise resnet50 " + rest + "bluefog");
  EXPECT_NE(other.out.find(" --engine nccl "), std::string::npos) << other.out;
  EXPECT_NE(other.out.find("\n  priced with --engine bluefog; it runs on nccl\n"),
            std::string::npos)
      << other.out;
  const Outcome replay = run("advise " + kProfile + " " + rest + "bluefog");
  EXPECT_NE(replay.out.find("\n  priced with --engine bluefog; it runs on gloo\n"),
            std::string::npos)
      << replay.out;
  const Outcome same = run("advise resnet50 " + rest + "nccl");
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_EQ(same.out.find("priced with"), std::string::npos) << same.out;
}

}  // namespace
}  // namespace paceline
