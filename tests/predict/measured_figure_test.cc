// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/measured_figure.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/predict/measured_fit.h"
#include "paceline/predict/predict.h"
#include "paceline/predict/roofline.h"

namespace paceline::predict {
namespace {

using records::RunRecord;

std::string rejection_of(const std::string& words) {
  try {
    parse_figure(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(MeasuredFigure, ReadsItsWords) {
  const ParsedFigure rate = parse_figure("ranks=8 rate=3821");
  EXPECT_EQ(rate.figure.ranks, 8);
  EXPECT_EQ(rate.figure.samples_per_s, 3821);
  EXPECT_EQ(rate.figure.batch_size, 0);
  const ParsedFigure step = parse_figure(" ranks=64  batch=24 step=141ms strategy=bsp");
  EXPECT_EQ(step.figure.batch_size, 24);
  EXPECT_DOUBLE_EQ(*step.figure.step_s, 0.141);
  EXPECT_EQ(step.figure.strategy, "bsp");
  EXPECT_EQ(parse_figure("ranks=2 file=a.log").file, "a.log");
}

TEST(MeasuredFigure, RejectsInOneSentence) {
  EXPECT_EQ(
      rejection_of("ranks=8"),
      "--measured 'ranks=8': determines nothing: give rate=, the samples/s of all ranks, or step=");
  EXPECT_EQ(rejection_of("rate=3"), "--measured 'rate=3': says no number of ranks: give ranks=");
  EXPECT_NE(rejection_of("ranks=8 rate=0").find("rate=0: must be"), std::string::npos);
  EXPECT_NE(rejection_of("ranks=0 rate=1").find("ranks=0: must be a whole"), std::string::npos);
  EXPECT_NE(rejection_of("ranks=8 step=141").find("step"), std::string::npos);
  EXPECT_NE(rejection_of("ranks=8 rate=1 rate=2").find("rate is given twice"), std::string::npos);
  EXPECT_NE(rejection_of("ranks=8 rat=1").find("did you mean 'rate'"), std::string::npos);
  EXPECT_NE(rejection_of("ranks=8 rate=1 file=a").find("leave out rate="), std::string::npos);
}

/// A link of each rank's own, whose collectives have a start, and compute that transfers slow down;
/// no description of it is given to the fit.
struct Truth {
  cluster::LinkModel link{.bytes_per_s = 4'000'000'000, .latency = 50'000'000};
  plan::Picoseconds start = 80'000'000;
  double slowdown = 0.06;
  plan::Picoseconds update = 4'000'000'000;
};

PredictRequest request_of(const Truth& truth, plan::Rank ranks, const std::string& strategy) {
  PredictRequest request;
  request.network = plan::network_shape("resnet50");
  request.cluster.name = "truth";
  request.cluster.hosts = {{.name = "a", .slots = ranks, .interface = {}}};
  request.cluster.device.name = "cpu";
  request.ranks = ranks;
  request.strategy = strategy;
  request.batch_size = 16;
  request.samples_per_s = 250;
  request.machine = cluster::Machine{};
  request.machine->device = request.machine->network = truth.link;
  request.machine->interference.compute_under_transfer = 1 / (1 + truth.slowdown);
  request.engine = "gloo";
  request.measured.collective = truth.start - engine_costs_named("gloo").costs.collective;
  request.update = truth.update;
  return request;
}

/// What a run would have recorded: beside the steps those of `none`, while all ranks compute.
RunRecord run_of(const Truth& truth, plan::Rank ranks, const std::string& strategy) {
  RunRecord record = predict(request_of(truth, ranks, strategy)).record;
  const plan::Picoseconds alone = predict(request_of(truth, 1, "none")).times.step;
  for (records::RankSamples& rank : record.ranks) {
    rank.compute_only_step_ns.assign(10, alone / 1000);
  }
  record.source = records::Source::kMeasured;
  record.configuration.cluster.clear();
  return record;
}

PredictRequest unknown_job() {
  PredictRequest job;
  job.network = plan::network_shape("resnet50");
  job.cluster.name = "as the records";
  job.batch_size = 16;
  job.engine = "gloo";
  return job;
}

TEST(MeasuredRecords, FindALinkAndForeseeMoreRanks) {
  const Truth truth;
  std::vector<RunRecord> records{run_of(truth, 1, "none")};
  for (const plan::Rank ranks : {2, 4}) {
    for (const char* strategy : {"bsp", "wfbp", "fusion:bucket-mb=25"}) {
      records.push_back(run_of(truth, ranks, strategy));
    }
  }
  const MeasuredRecords measured = measured_figures_of(records);
  ASSERT_EQ(measured.figures.size(), 7u);
  PredictRequest job = unknown_job();
  set_layer_times(measured, job);
  const MeasuredFit fit(job, measured.figures);
  for (const CheckedFigure& it : fit.checked()) {
    EXPECT_NEAR(it.fitted_s / it.measured_s, 1, 0.003) << it.figure.words;
  }
  for (const char* strategy : {"bsp", "wfbp", "dear"}) {
    for (const plan::Rank ranks : {8, 16}) {
      PredictRequest more = job;
      more.ranks = ranks;
      more.strategy = strategy;
      const double step = plan::seconds_of(step_of(request_of(truth, ranks, strategy)).step);
      EXPECT_NEAR(plan::seconds_of(step_of(fit.priced(more)).step) / step, 1, 0.04)
          << strategy << " " << ranks;
      EXPECT_TRUE(fit.interval_of(more).contains(step)) << strategy << " " << ranks;
    }
  }
}

// One node's figures are enough: what a device does alone follows from them.
TEST(MeasuredRecords, NeedNoRunOfOneRank) {
  RunRecord eight = run_of({}, 8, "bsp");
  for (records::RankSamples& rank : eight.ranks) {
    rank.compute_only_step_ns.clear();
  }
  const MeasuredRecords measured = measured_figures_of(std::vector{eight});
  ASSERT_EQ(measured.figures.size(), 1u);
  EXPECT_EQ(measured.figures[0].ranks, 8);
  EXPECT_TRUE(measured.warnings.empty());
  PredictRequest job = request_of({}, 8, "bsp");
  job.samples_per_s.reset();
  const MeasuredFit fit(job, measured.figures);
  EXPECT_NEAR(fit.checked()[0].fitted_s / fit.checked()[0].measured_s, 1, 1e-6);
}

// What a command or an imported log measured is of the job's strategy.
TEST(MeasuredRecords, HoldCommandsAndLogs) {
  RunRecord command = run_of({}, 4, "bsp");
  command.source = records::Source::kExternal;
  command.configuration.command = "torchrun train.py";
  command.configuration.model = "command";
  command.configuration.strategy = "external";
  RunRecord log = run_of({}, 8, "bsp");
  log.source = records::Source::kImported;
  log.configuration.unstated = {"model", "strategy", "batch_size", "engine", "ranks_per_host"};
  const MeasuredRecords measured = measured_figures_of(std::vector{command, log});
  ASSERT_EQ(measured.figures.size(), 2u);
  EXPECT_TRUE(measured.warnings.empty());
  EXPECT_EQ(measured.figures[0].strategy, "");
  EXPECT_EQ(measured.figures[0].batch_size, 16);
  EXPECT_EQ(measured.figures[1].batch_size, 0);
  EXPECT_FALSE(measured.job);
}

// Of one rank's lines of a log, which count the samples of all ranks.
TEST(MeasuredRecords, TakeTheBatchFromTheSamplesOfAStep) {
  RunRecord log = run_of({}, 8, "bsp");
  log.source = records::Source::kImported;
  log.configuration.unstated = {"model", "strategy", "batch_size", "engine", "ranks_per_host"};
  log.ranks.resize(1);
  log.ranks.front().examples_of_step.assign(10, 1024);
  const MeasuredRecords measured = measured_figures_of(std::vector{log});
  EXPECT_EQ(measured.figures.at(0).samples_per_step, 1024);
  EXPECT_EQ(measured.figures.at(0).batch_size, 128);
  RunRecord growing = log;
  growing.ranks.front().examples_of_step.back() = 2048;
  EXPECT_EQ(measured_figures_of(std::vector{log, growing}).warnings.at(0).why,
            "its steps have different numbers of samples");
}

TEST(MeasuredRecords, SayWhyOneIsLeftOut) {
  const RunRecord good = run_of({}, 2, "bsp");
  RunRecord failed = good, nameless = good, timeless = good;
  failed.error = "lost";
  nameless.configuration.unstated = {"ranks"};
  timeless.ranks.back().step_ns.back() = 0;
  const MeasuredRecords measured =
      measured_figures_of(std::vector{failed, good, nameless, timeless});
  ASSERT_EQ(measured.warnings.size(), 3u);
  EXPECT_EQ(measured.warnings[0].why, "it failed");
  EXPECT_NE(measured.warnings[1].why.find("\"ranks=N file=FILE\""), std::string::npos);
  EXPECT_EQ(measured.warnings[2].why, "a step took no time");
  EXPECT_THROW(measured_figures_of(std::vector{failed}), UsageError);
}

TEST(MeasuredRecords, AreOfOneJob) {
  const RunRecord one = run_of({}, 1, "none");
  RunRecord other = run_of({}, 2, "bsp");
  other.configuration.dtype = "bf16";
  try {
    measured_figures_of(std::vector{one, other});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "--measured: records of dtype fp32 and of bf16 do not tell of one job: only "
                 "ranks, batch and strategy may differ");
  }
  other.configuration.dtype = "fp32";
  other.configuration.batch_size = 8;
  EXPECT_EQ(measured_figures_of(std::vector{one, other}).figures.size(), 2u);
}

}  // namespace
}  // namespace paceline::predict
