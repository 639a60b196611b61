// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/calibrate.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/predict/engines.h"
#include "paceline/predict/kernel_costs.h"
#include "paceline/stats/quantile.h"

namespace paceline::predict {
namespace {

using records::RunRecord;

/// A machine that the fit knows nothing of: a link of each rank's own, whose
/// collectives have a start, and compute that transfers slow down.
struct Truth {
  double samples_per_s = 250;
  cluster::LinkModel link{.bytes_per_s = 4'000'000'000, .latency = 50'000'000};
  plan::Picoseconds start = 80'000'000;
  double slowdown = 0.06;
  plan::Picoseconds update = 4'000'000'000;
  const char* engine = "gloo";
};

PredictRequest request_of(const Truth& truth,
                          plan::Rank ranks,
                          const std::string& strategy) {
  PredictRequest request;
  request.network = plan::network_shape("resnet50");
  request.cluster.name = "truth";
  request.cluster.hosts = {{.name = "a", .slots = ranks, .interface = {}}};
  request.cluster.device.name = "cpu";
  request.ranks = ranks;
  request.strategy = strategy;
  request.batch_size = 16;
  request.samples_per_s = truth.samples_per_s;
  request.machine = cluster::Machine{};
  request.machine->device = request.machine->network = truth.link;
  request.machine->interference.compute_under_transfer =
      1 / (1 + truth.slowdown);
  request.software = cluster::SoftwareCosts{};
  request.software->collective = truth.start;
  const cluster::SoftwareCosts& known = engine_costs_named(truth.engine).costs;
  request.software->concurrent_collectives = known.concurrent_collectives;
  request.software->one_issue_order = known.one_issue_order;
  request.steps = 12;
  request.engine = truth.engine;
  plan::PlanInput input;
  input.model = request.network.model;
  request.software->kernels = {
      {.bytes_per_s = update_bytes(input) / plan::seconds_of(truth.update)}};
  return request;
}

/// What a run would have recorded: beside the steps those of `none`, while all
/// ranks compute.
RunRecord run_of(const Truth& truth,
                 plan::Rank ranks,
                 const std::string& strategy) {
  RunRecord record = predict(request_of(truth, ranks, strategy)).record;
  const plan::Picoseconds alone =
      predict(request_of(truth, 1, "none")).times.step;
  for (records::RankSamples& rank : record.ranks) {
    rank.compute_only_step_ns.assign(12, alone / 1000);
  }
  record.source = records::Source::kMeasured;
  record.configuration.device = "cuda";
  return record;
}

std::vector<RunRecord> runs_of(const Truth& truth,
                               const std::vector<plan::Rank>& worlds,
                               const std::vector<std::string>& strategies) {
  std::vector<RunRecord> records{run_of(truth, 1, "none")};
  for (const plan::Rank ranks : worlds) {
    for (const std::string& strategy : strategies) {
      records.push_back(run_of(truth, ranks, strategy));
    }
  }
  return records;
}

/// Debug builds simulate slowly.
CalibrationOptions few() {
  CalibrationOptions options;
  options.resamples = 8;
  return options;
}

std::string message_of(const std::vector<RunRecord>& records) {
  try {
    calibrate(records, few());
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

double error_at(const Calibration& calibration,
                const Truth& truth,
                plan::Rank ranks,
                const std::string& strategy) {
  const plan::Picoseconds step =
      predict(request_of(truth, ranks, strategy)).times.step;
  const Forecast at = forecast(calibration, ranks, strategy, 25);
  EXPECT_LE(at.step_s.low, at.step_s.high);
  return static_cast<double>(at.prediction.times.step) /
             static_cast<double>(step) -
         1;
}

TEST(Calibrate, FindsALinkAndForeseesLargerWorlds) {
  const Truth truth;
  const auto records =
      runs_of(truth, {2, 4}, {"bsp", "wfbp", "fusion:bucket-mb=25"});
  const Calibration calibration = calibrate(records, few());
  for (const ExplainedCase& it : calibration.cases) {
    EXPECT_NEAR(it.simulated_s / it.measured_s, 1, 0.002);
  }
  for (const char* strategy : {"bsp", "wfbp", "fusion", "dear"}) {
    SCOPED_TRACE(strategy);
    EXPECT_NEAR(error_at(calibration, truth, 8, strategy), 0, 0.01);
    EXPECT_NEAR(error_at(calibration, truth, 16, strategy), 0, 0.02);
  }
}

// What a server gets and what it sends back take turns on NCCL.
TEST(Calibrate, FitsInTheOneOrderOfNccl) {
  Truth truth;
  truth.engine = "nccl";
  const Calibration calibration =
      calibrate(runs_of(truth, {2, 4}, {"bsp", "wfbp+ps"}), few());
  for (const ExplainedCase& it : calibration.cases) {
    EXPECT_NEAR(it.simulated_s / it.measured_s, 1, 0.002);
  }
  EXPECT_NEAR(error_at(calibration, truth, 8, "wfbp+ps"), 0, 0.02);
}

TEST(Calibrate, HonoursAKnownLink) {
  Truth truth;
  truth.engine = "link";
  CalibrationOptions options = few();
  options.link = cluster::LinkSpec{.bytes_per_s = 4e9, .latency_ns = 50'000};
  const Calibration calibration =
      calibrate(runs_of(truth, {2}, {"bsp", "wfbp"}), options);
  EXPECT_EQ(calibration.job.machine->device.bytes_per_s, 4'000'000'000);
  EXPECT_EQ(calibration.job.machine->device.latency, 50'000'000);
  EXPECT_NEAR(error_at(calibration, truth, 16, "wfbp"), 0, 0.01);
}

// One case of more than one rank pays for one constant.
TEST(Calibrate, FitsFewerConstantsToFewCases) {
  const Truth truth;
  const auto fitted = [&](const std::vector<std::string>& strategies) {
    int count = 0;
    for (const CalibratedConstant& it :
         calibrate(runs_of(truth, {2}, strategies), few()).constants) {
      count += it.from.starts_with("fit") ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(fitted({"bsp"}), 1);
  EXPECT_EQ(fitted({"bsp", "wfbp"}), 2);
  EXPECT_EQ(fitted({"bsp", "wfbp", "fusion"}), 3);
}

TEST(Calibrate, SaysWhatRecordsDoNotTell) {
  const Truth truth;
  const auto codes = [](const Calibration& calibration) {
    std::string all;
    for (const records::Warning& warning : calibration.measured.warnings) {
      all += warning.code + " ";
    }
    return all;
  };
  EXPECT_EQ(codes(calibrate(runs_of(truth, {2}, {"bsp", "wfbp"}), few())),
            "unknown-sharing one-world one-host ");
  EXPECT_EQ(codes(calibrate(runs_of(truth, {2}, {"bsp"}), few())),
            "unknown-sharing one-world one-host ");
  Truth fast = truth;
  fast.link.bytes_per_s = 100'000'000'000;
  fast.link.latency = fast.start = 0;
  fast.slowdown = 1e-9;
  EXPECT_EQ(codes(calibrate(runs_of(fast, {2, 4}, {"wfbp"}), few())),
            "unknown-sharing hidden-communication one-host ");
}

TEST(Calibrate, RefusesInOneSentence) {
  const Truth truth;
  const RunRecord one = run_of(truth, 1, "none"), two = run_of(truth, 2, "bsp");
  EXPECT_EQ(message_of({two}),
            "no record of one rank: what a step costs without communication "
            "is not known; run the same command with --ranks 1 too");
  EXPECT_EQ(message_of({one}),
            "no record of more than one rank: nothing is known of the link; "
            "run the same command with --ranks 2 and --ranks 4 too");
  RunRecord other = two;
  other.configuration.batch_size = 8;
  EXPECT_EQ(message_of({one, other}),
            "records of batch_size 16 and of 8 do not tell of one job: only "
            "ranks and strategy may differ");
  RunRecord failed = two;
  failed.error = "lost";
  EXPECT_NE(message_of({one, failed}).find("no record of more than one rank"),
            std::string::npos);
  RunRecord timeless = two;
  timeless.ranks.back().step_ns.back() = 0;
  EXPECT_NE(message_of({one, timeless}).find("no record of more than one rank"),
            std::string::npos);
  RunRecord small = one, small_two = two;
  small.configuration.image_size = small_two.configuration.image_size = 64;
  EXPECT_NE(message_of({small, small_two}).find("give its --profile"),
            std::string::npos);
}

TEST(Calibrate, IntervalsHoldTheScatterOfRuns) {
  const Truth truth;
  std::vector<RunRecord> records;
  for (int run = 0; run < 4; ++run) {
    for (RunRecord record : runs_of(truth, {2, 4}, {"bsp", "wfbp"})) {
      for (records::RankSamples& rank : record.ranks) {
        for (std::int64_t& step : rank.step_ns) {
          step += step / 100 * run;  // up to 3 % longer
        }
      }
      record.run = run;
      records.push_back(record);
    }
  }
  const Calibration calibration = calibrate(records, few());
  const Forecast at = forecast(calibration, 8, "bsp", 25);
  const double width = (at.step_s.high - at.step_s.low) /
                       plan::seconds_of(at.prediction.times.step);
  const auto& bar = at.prediction.record.predicted->error_bar;
  ASSERT_TRUE(bar && bar->known());
  EXPECT_EQ(*bar->low_ns, std::llround(at.step_s.low * 1e9));
  EXPECT_EQ(*bar->high_ns, std::llround(at.step_s.high * 1e9));
  EXPECT_EQ(bar->level, calibration.level);
  EXPECT_TRUE(summary_of(at).starts_with(
      "8 ranks, bsp: " + records::words_of(*bar) + "\n"));
  EXPECT_GT(width, 0.005);
  EXPECT_LT(width, 0.1);
}

// Two ranks that were faster than one alone: no rate of a link explains that,
// and all residuals are of one sign.
TEST(Calibrate, IntervalsReachToAStepThatTheFitMisses) {
  const Truth truth;
  RunRecord two = run_of(truth, 2, "bsp");
  for (records::RankSamples& rank : two.ranks) {
    for (std::size_t k = 0; k < rank.step_ns.size(); ++k) {
      rank.step_ns[k] = rank.compute_only_step_ns[k] * 9 / 10;
    }
  }
  const Calibration calibration =
      calibrate(std::vector<RunRecord>{run_of(truth, 1, "none"), two}, few());
  const Forecast at = forecast(calibration, 8, "bsp", 25);
  const double step = plan::seconds_of(at.prediction.times.step);
  EXPECT_LT(at.step_s.low, 0.95 * step);
  EXPECT_EQ(at.step_s.high, step);
  EXPECT_EQ(at.prediction.record.predicted->error_bar->how,
            "fits to resampled runs and their residuals, widened to the "
            "predicted step");
}

}  // namespace
}  // namespace paceline::predict
