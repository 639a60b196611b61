// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/measured_fit.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/predict/roofline.h"
#include "predict/two_nodes.h"

namespace paceline::predict {
namespace {

/// What the fit is to find: the rate of a device, and what is reached between hosts.
PredictRequest truth(plan::Rank ranks, const std::string& strategy = "bsp") {
  PredictRequest job = request(strategy, ranks);
  job.batch_size = 64;
  job.samples_per_s = 300;
  job.measured.network_share = 0.6;
  return job;
}

/// The job as somebody describes it who knows no rate.
PredictRequest described(plan::Rank ranks) {
  PredictRequest job = request("bsp", ranks);
  job.batch_size = 64;
  return job;
}

double step_s(const PredictRequest& job) { return plan::seconds_of(step_of(job).step); }

MeasuredFigure figure_of(const PredictRequest& job) {
  MeasuredFigure figure;
  figure.words = fmt::format("{} x {}", job.ranks, job.batch_size);
  figure.ranks = job.ranks;
  figure.batch_size = job.batch_size;
  figure.strategy = job.strategy;
  figure.step_s = step_s(job);
  return figure;
}

std::vector<MeasuredFigure> steps(const std::vector<std::pair<int, double>>& ms_of_ranks) {
  std::vector<MeasuredFigure> figures;
  for (const auto& [ranks, ms] : ms_of_ranks) {
    MeasuredFigure figure;
    figure.words = fmt::format("{} ranks", ranks);
    figure.ranks = ranks;
    figure.step_s = ms * 1e-3;
    for (int left = ranks; left > 0; left -= 8) {
      figure.ranks_per_host.push_back(std::min(left, 8));
    }
    figures.push_back(figure);
  }
  return figures;
}

std::string rejection_of(const std::vector<MeasuredFigure>& figures) {
  try {
    const MeasuredFit fit(described(8), figures);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(MeasuredFit, OneFigureDeterminesCompute) {
  const MeasuredFit fit(described(8), {figure_of(truth(8))});
  ASSERT_EQ(fit.constants().size(), 3u);  // and the links, of which it says nothing
  EXPECT_EQ(fit.constants()[0].by, "8 x 64");
  EXPECT_EQ(fit.constants()[1].by, "");
  EXPECT_EQ(fit.constants()[2].by, "");
  EXPECT_NEAR(step_s(fit.priced(described(8))) / step_s(truth(8)), 1, 1e-6);
  EXPECT_FALSE(fit.checked()[0].predicted_from_others_s);
}

TEST(MeasuredFit, ARateIsThatOfAllRanks) {
  MeasuredFigure figure = figure_of(truth(8));
  figure.samples_per_s = 8 * 64 / *figure.step_s;
  figure.step_s.reset();
  const MeasuredFit fit(described(8), {figure});
  EXPECT_NEAR(fit.checked()[0].measured_s / step_s(truth(8)), 1, 1e-9);
  figure.step_s = 2 * step_s(truth(8));
  EXPECT_NE(rejection_of({figure}).find("the rate is that of steps of"), std::string::npos);
}

TEST(MeasuredFit, TwoNumbersOfRanksDetermineTheNetwork) {
  MeasuredFit fit(described(8), {figure_of(truth(4)), figure_of(truth(8))});
  double share = 0;
  for (const MeasuredConstant& it : fit.constants()) {
    if (it.name == "reached rate between hosts") {
      share = it.value;
      EXPECT_EQ(it.by, "8 x 64");
      EXPECT_TRUE(it.interval.contains(0.6)) << it.interval.low;
    }
  }
  EXPECT_NEAR(share, 0.6, 0.02);
  EXPECT_NEAR(step_s(fit.priced([] {
                PredictRequest job = described(8);
                job.strategy = "wfbp";
                return job;
              }())) /
                  step_s(truth(8, "wfbp")),
              1, 0.01);
  fit.predict_each_from_others();
  // By 4 ranks alone the network is as described, so 8 are foreseen too fast.
  EXPECT_LT(*fit.checked()[1].predicted_from_others_s, 0.95 * fit.checked()[1].measured_s);
}

// Of a network so slow that communication no longer hides, while at the described rate all of it
// does.
TEST(MeasuredFit, FindsARateThatHidesAtFirst) {
  const auto slow = [](plan::Rank ranks) {
    PredictRequest job = truth(ranks, "fusion");
    job.measured.network_share = 0.1;
    return job;
  };
  const MeasuredFit fit(described(8), {figure_of(slow(4)), figure_of(slow(8))});
  for (const CheckedFigure& it : fit.checked()) {
    EXPECT_NEAR(it.fitted_s / it.measured_s, 1, 0.005) << it.figure.words;
  }
}

TEST(MeasuredFit, TwoBatchesSayHowComputeGrows) {
  const auto at = [](int batch, double rate) {
    PredictRequest job = truth(4);
    job.batch_size = batch;
    job.samples_per_s = rate;
    return job;
  };
  // Alone 100 ms for 16 and 250 ms for 64: 50 ms and 3.125 ms a sample.
  const MeasuredFit fit(described(4), {figure_of(at(16, 160)), figure_of(at(64, 256))});
  for (const auto& [batch, ms] : {std::pair{16, 100.0}, {32, 150.0}, {64, 250.0}, {128, 450.0}}) {
    PredictRequest job = described(1);
    job.strategy = "none";
    job.batch_size = batch;
    EXPECT_NEAR(step_s(fit.priced(job)) * 1e3, ms, ms * 2e-3) << batch;
  }
}

// A rate of links alone would explain these steps, and so would a start that grows with the ranks:
// nothing but the prior tells the two apart.
// The network's modules are 107, whose kernels start 3 times each; the rest of a quarter of the
// batch takes a quarter in a network of which nobody knows the work of layers.
TEST(MeasuredFit, OneBatchLeavesUpdateAndStartsOfKernelsAsTheyAre) {
  PredictRequest job = described(1);
  job.strategy = "none";
  job.profile = roofline_profile(job.network, job.batch_size);
  job.network.work.clear();
  job.optimizer = "adamw";
  job.engine = "nccl";
  job.cluster.device.memory_bytes_per_s = 1e12;
  MeasuredFigure figure;
  figure.words = "one device";
  figure.ranks = 1;
  figure.batch_size = 64;
  figure.strategy = "none";
  figure.step_s = 0.2;
  const MeasuredFit fit(job, {figure});
  job.batch_size = 16;
  const double update = update_seconds_of(job);
  EXPECT_GT(update, 0.0005);
  const double fixed = update + 107 * 3 * 5e-6;
  EXPECT_NEAR(step_s(fit.priced(job)), fixed + (0.2 - fixed) / 4, 1e-6);
}

TEST(MeasuredFit, OneMoreFigureDoesNotBendAForecast) {
  const std::vector<std::pair<int, double>> three{{1, 100}, {8, 101}, {16, 102.5}};
  std::vector<std::pair<int, double>> four = three;
  four.emplace_back(32, 103.5);
  PredictRequest job = described(8);
  job.cluster = {.name = "as the records", .source = {}, .hosts = {}, .links = {}};
  job.engine = "nccl";
  const auto at_512 = [&](const auto& ms_of_ranks) {
    const MeasuredFit fit(job, steps(ms_of_ranks));
    PredictRequest many = job;
    many.ranks = 512;
    const double step = step_s(fit.priced(many));
    const stats::Interval interval = fit.interval_of(many);
    EXPECT_TRUE(interval.contains(step));
    EXPECT_GT(interval.high / interval.low, 1.05);
    return step;
  };
  const double before = at_512(three), after = at_512(four);
  EXPECT_GT(before, 0.1025);
  EXPECT_LT(before, 0.2);
  EXPECT_NEAR(after / before, 1, 0.1);
}

TEST(MeasuredFit, IntervalsGrowWithTheDistance) {
  const MeasuredFit fit(described(8), {figure_of(truth(4))});
  const auto width = [&](plan::Rank ranks, int batch) {
    PredictRequest job = described(ranks);
    job.cluster.hosts.front().slots = 64;
    job.batch_size = batch;
    const stats::Interval interval = fit.interval_of(job);
    return std::log(interval.high / interval.low);
  };
  EXPECT_LT(width(4, 64), width(8, 64));
  EXPECT_LT(width(8, 64), width(64, 64));
  EXPECT_LT(width(4, 64), width(4, 32));
}

/// Eight devices behind a link that hides all communication.
PredictRequest on_fast_host(plan::Rank ranks, const std::string& strategy) {
  PredictRequest job = described(ranks);
  job.strategy = strategy;
  job.engine = "nccl";
  job.cluster.hosts.resize(1);
  job.cluster.hosts.front().slots = 8;
  job.cluster.links.front().bytes_per_s = 450e9;
  job.cluster.device.name = "H100-SXM5-80GB";
  return job;
}

// Links that are described as fast do not lose 4.7 %: devices of a host take it from each other.
TEST(MeasuredFit, WorldsOfAHostLieBetweenTheMeasuredOnes) {
  for (const char* strategy : {"ddp", "fusion", "bsp"}) {
    MeasuredFit fit(on_fast_host(8, strategy), steps({{1, 96}, {8, 100.5}}));
    double before = 0;
    for (const plan::Rank ranks : {1, 2, 3, 4, 5, 6, 7, 8}) {
      const double step = step_s(fit.priced(on_fast_host(ranks, strategy)));
      EXPECT_GT(step, before) << strategy << " " << ranks;
      before = step;
    }
    EXPECT_NEAR(step_s(fit.priced(on_fast_host(1, strategy))), 0.096, 0.0001) << strategy;
    EXPECT_NEAR(before, 0.1005, 0.0001) << strategy;
    EXPECT_TRUE(fit.warnings().empty()) << strategy;
  }
}

TEST(MeasuredFit, RejectsDevicesThatAreFasterTogether) {
  try {
    const MeasuredFit fit(on_fast_host(8, "ddp"), steps({{1, 100}, {8, 90}}));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(
        error.what(),
        "--measured '8 ranks': a device that computes faster the more of them share a host "
        "is what explains the figures best, so they contradict each other");
  }
}

TEST(MeasuredFit, OneDeviceIsAsFarFromSeveralAsSeveralFromOne) {
  const auto width = [](plan::Rank measured, plan::Rank asked) {
    const MeasuredFit fit(on_fast_host(8, "ddp"), steps({{measured, 100}}));
    const stats::Interval interval = fit.interval_of(on_fast_host(asked, "ddp"));
    return std::log(interval.high / interval.low);
  };
  EXPECT_NEAR(width(8, 1) / width(1, 8), 1, 0.02);
  EXPECT_GT(width(8, 1), 2 * width(8, 2));
}

TEST(MeasuredFit, RejectsSamplesThatALogDeniesItself) {
  MeasuredFigure figure = figure_of(truth(8));
  figure.samples_per_step = 512;
  EXPECT_EQ(rejection_of({figure}), "no error");
  figure.samples_per_step = 1024;
  EXPECT_EQ(rejection_of({figure}),
            "--measured '8 x 64': 8 ranks with a batch of 64 each take 512 samples a step, and its "
            "log says 1024");
}

TEST(MeasuredFit, TheErrorGrowsWithTheDistanceFromMeasuredBatches) {
  const auto at = [](int batch) {
    PredictRequest job = truth(4);
    job.batch_size = batch;
    return job;
  };
  const MeasuredFit fit(described(4), {figure_of(at(16)), figure_of(at(64))});
  const auto job_error = [&](int batch) {
    PredictRequest job = described(4);
    job.batch_size = batch;
    return fit.errors_of(job).job;
  };
  EXPECT_NEAR(job_error(64), 0.003, 1e-9);
  EXPECT_NEAR(job_error(32), std::hypot(0.003, 0.02), 1e-9);
  EXPECT_NEAR(job_error(128), std::hypot(0.003, 0.13), 1e-9);
  EXPECT_NEAR(job_error(256), std::hypot(0.003, 0.26), 1e-9);
}

// The null model of a prediction from figures is that of the smallest measured world.
TEST(MeasuredFit, ScalesLinearlyFromTheFewestMeasuredRanks) {
  const MeasuredFit fit(described(8), {figure_of(truth(4))});
  Prediction prediction = predict(fit.priced(described(8)));
  set_measured_results(fit, described(8), prediction);
  EXPECT_EQ(prediction.linear_from, "4 ranks, as measured");
  EXPECT_NEAR(plan::seconds_of(prediction.linear), step_s(truth(4)), 1e-9);
}

TEST(MeasuredFit, RejectsContradictions) {
  const MeasuredFigure four = figure_of(truth(4));
  MeasuredFigure other = four;
  other.words = "again";
  *other.step_s *= 1.2;
  EXPECT_NE(rejection_of({four, other}).find("'again' contradicts '4 x 64'"), std::string::npos);
  EXPECT_EQ(rejection_of({four, four}), "--measured '4 x 64': is given twice");
  MeasuredFigure faster = figure_of(truth(8));
  *faster.step_s = *four.step_s / 2;
  EXPECT_NE(rejection_of({four, faster}).find("beside the other figures"), std::string::npos);
  MeasuredFigure less = four;
  less.words = "half a batch";
  less.batch_size = 32;
  *less.step_s *= 1.2;
  EXPECT_NE(rejection_of({four, less}).find("contradict each other"), std::string::npos)
      << rejection_of({four, less});
}

// Of ranks that share cores, each computes longer than one alone.
TEST(MeasuredFit, KeepsWhatRanksCostEachOtherWhileTheyCompute) {
  MeasuredFigure one = figure_of(truth(1, "none"));
  PredictRequest slow = truth(4);
  *slow.samples_per_s /= 1.5;
  MeasuredFigure four = figure_of(slow);
  four.compute_only_s = 1.5 * *one.step_s;
  const MeasuredFit fit(described(4), {one, four});
  EXPECT_NEAR(fit.checked()[1].fitted_s / *four.step_s, 1, 0.002);
  ASSERT_EQ(fit.warnings().size(), 1u);
  EXPECT_EQ(fit.warnings()[0].code, "shared-compute");
  slow.strategy = "wfbp";
  EXPECT_NEAR(step_s(fit.priced([] {
                PredictRequest job = described(4);
                job.strategy = "wfbp";
                return job;
              }())) /
                  step_s(slow),
              1, 0.01);
}

}  // namespace
}  // namespace paceline::predict
