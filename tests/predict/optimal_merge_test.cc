// SPDX-License-Identifier: Apache-2.0
// What optimal-merge predicts is what the simulator says, and the simulator knows no better cut.
#include <algorithm>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/predict/predict.h"
#include "paceline/predict/request_costs.h"
#include "paceline/strategies/merge.h"
#include "paceline/strategies/periodic_merge.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"
#include "simulator/toy.h"

namespace paceline::predict {
namespace {

using Sizes = std::vector<std::size_t>;

class FixedCut final : public strategies::ScheduleRule {
 public:
  explicit FixedCut(Sizes sizes) : sizes_(std::move(sizes)) {}

  plan::Groups groups(const plan::PlanInput& input,
                      const strategies::TransferTime&) const override {
    return strategies::groups_of_sizes(input.model, sizes_);
  }

 private:
  Sizes sizes_;
};

struct Setting {
  plan::PlanInput input;
  simulator::Costs costs;
};

/// A third of a rate is not whole, so what three share may end later by a picosecond a transfer;
/// nothing else is rounded.
plan::Picoseconds rounding(std::int32_t concurrent_collectives, int transfers) {
  return concurrent_collectives == 0 ? transfers : 0;
}

/// Two ranks, 1 byte a ns.
Setting setting(std::mt19937& rng, int layers, std::int32_t concurrent_collectives) {
  Setting made{simulator::toy_input(layers, 2), {}};
  made.input.local_world = {1, 1};
  for (plan::ParameterShape& parameter : made.input.model.parameters) {
    parameter.elements = static_cast<plan::Elements>(1 + rng() % 12'000);
    parameter.sizes = {parameter.elements};
  }
  made.costs = simulator::toy_costs(made.input);
  made.costs.machine.network.latency = static_cast<plan::Picoseconds>(rng() % 12) * simulator::kUs;
  made.costs.software.concurrent_collectives = concurrent_collectives;
  made.costs.software.collective = simulator::kUs;
  for (auto* times : {&made.costs.profile.forward, &made.costs.profile.backward}) {
    for (plan::Picoseconds& time : *times) {
      time = static_cast<plan::Picoseconds>(rng() % 40) * simulator::kUs;
    }
  }
  made.input.profile = made.costs.profile;
  made.input.alpha_beta =
      alpha_beta_of(made.costs.machine, made.costs.software, {.ranks = 2, .hosts = 2});
  return made;
}

plan::Picoseconds simulated(const plan::Planner& planner, const Setting& in) {
  const simulator::StepTimes times = simulator::simulate(planner, in.input, in.costs, {.steps = 6});
  EXPECT_TRUE(times.steady);
  return times.step;
}

std::unique_ptr<plan::Planner> cut_into(Sizes sizes) {
  const strategies::Options none;
  return strategies::make_composed(
      "cut", std::make_unique<FixedCut>(std::move(sizes)), strategies::make_all_reduce(none),
      strategies::make_identity(none), strategies::make_gradients(none));
}

strategies::TransferTime time_of(const plan::AlphaBeta& model) {
  const plan::AlphaBetaTime line = model.all_reduce;
  const plan::Picoseconds alpha = line.pieces.front().alpha;
  return {[line](std::int64_t bytes) { return line.time(bytes); },
          [alpha](std::int64_t) { return alpha; }, model.concurrent_collectives};
}

Sizes sizes_of(std::uint32_t bits, int count) {
  Sizes sizes{0};
  for (int i = 0; i < count; ++i) {
    ++sizes.back();
    if (i + 1 < count && ((bits >> static_cast<unsigned>(i)) & 1U) != 0) {
      sizes.push_back(0);
    }
  }
  return sizes;
}

class OptimalMerge : public testing::TestWithParam<std::int32_t> {};

TEST_P(OptimalMerge, IsTheBestCutThatTheSimulatorKnows) {
  std::mt19937 rng(17);
  for (int n = 0; n < 12; ++n) {
    const int layers = 2 + static_cast<int>(rng() % 5);
    const Setting in = setting(rng, layers, GetParam());
    const strategies::StepTimings step = strategies::step_timings_of(in.input, "test");
    const strategies::TransferTime time = time_of(*in.input.alpha_beta);
    plan::Picoseconds best = std::numeric_limits<plan::Picoseconds>::max();
    for (std::uint32_t bits = 0; bits < (1U << (layers - 1)); ++bits) {
      const Sizes sizes = sizes_of(bits, layers);
      const plan::Picoseconds one = simulated(*cut_into(sizes), in);
      const plan::Picoseconds said = strategies::step_of(step, time, sizes).step;
      EXPECT_GE(one, said) << n;
      EXPECT_LE(one, said + rounding(GetParam(), layers)) << n;
      best = std::min(best, one);
    }
    EXPECT_LE(simulated(*simulator::planner_of("optimal-merge"), in),
              best + rounding(GetParam(), layers))
        << n;
    for (const char* other : {"bsp", "wfbp", "fusion", "mg-wfbp"}) {
      EXPECT_GE(simulated(*simulator::planner_of(other), in) + rounding(GetParam(), layers), best)
          << other;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ConcurrentTransfers, OptimalMerge, testing::Values(1, 2, 0),
                         [](const auto& it) {
                           return it.param == 0 ? std::string("All") : std::to_string(it.param);
                         });

/// The cases of benchmarks/schedules.
PredictRequest benchmark_case(const std::string& network, double wire_over_compute) {
  constexpr int kRanks = 4, kBatch = 16;
  const auto cluster = [](double bytes_per_s) {
    return cluster::parse_cluster(fmt::format(R"(
[[hosts]]
name = "node"
count = 4
slots = 1
[[links]]
joins = "hosts"
sharing = "host"
rate = "{:.0f}B/s"
latency = "20us"
[device]
name = "2080 Ti"
flops = "13.4TFLOP/s"
memory_bandwidth = "616GB/s"
)",
                                              bytes_per_s),
                                  "schedules");
  };
  PredictRequest request{.network = plan::network_shape(network),
                         .cluster = cluster(1e9),
                         .strategy = "bsp",
                         .ranks = kRanks,
                         .batch_size = kBatch,
                         .engine = "link"};
  const Prediction any = predict(request);
  request.profile = any.costs.profile;
  request.cluster = cluster(static_cast<double>(any.job->wire_bytes) /
                            (wire_over_compute * plan::seconds_of(any.bound.compute)));
  request.cluster.device.memory_bytes_per_s.reset();  // updates are free
  return request;
}

class MergedNetwork : public testing::TestWithParam<const char*> {};

TEST_P(MergedNetwork, HasNoShorterStepUnderAnotherMerge) {
  for (const double ratio : {0.25, 0.5, 1.0, 2.0, 4.0}) {
    PredictRequest request = benchmark_case(GetParam(), ratio);
    const auto step_of = [&](const char* strategy) {
      request.strategy = strategy;
      return predict(request).times.step;
    };
    const plan::Picoseconds merged = step_of("optimal-merge");
    for (const char* other : {"bsp", "wfbp", "fusion", "mg-wfbp"}) {
      EXPECT_LE(merged, step_of(other)) << other << " at " << ratio;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, MergedNetwork,
                         testing::Values("resnet50", "vgg16", "bert-base"), [](const auto& it) {
                           std::string name = it.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace paceline::predict
