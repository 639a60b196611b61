// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "rank/irregular_network.h"
#include "rank/run_rank_threads.h"

// Optimizers that scale each weight's step by norms over all of its elements, under every schedule:
// each must train like one process on the whole batch.

namespace paceline::rank::layerwise {
namespace {

using testing::copies;
using testing::distance;
using testing::kSteps;
using testing::Training;

constexpr double kRate = 0.0625, kDecay = 0.125, kMomentum = 0.9;

/// By their formulas, written without the plan's kernels.
class Reference {
 public:
  explicit Reference(std::string optimizer) : optimizer_(std::move(optimizer)) {}

  void operator()(const std::vector<at::Tensor>& trained) {
    const at::NoGradGuard no_grad;
    first_.resize(trained.size());
    second_.resize(trained.size());
    ++steps_;
    for (std::size_t p = 0; p < trained.size(); ++p) {
      const at::Tensor& w = trained[p];
      const at::Tensor g = w.grad().defined() ? w.grad() : at::zeros_like(w);
      if (!first_[p].defined()) {
        first_[p] = at::zeros_like(w);
        second_[p] = at::zeros_like(w);
      }
      if (optimizer_ == "lamb") {
        lamb(w, g, first_[p], second_[p]);
      } else {
        lars(w, g, first_[p]);
      }
    }
  }

 private:
  static double or_one(const at::Tensor& w, const at::Tensor& other, double scale) {
    const bool scales =
        w.dim() > 1 && w.norm().item<double>() > 0 && other.norm().item<double>() > 0;
    return scales ? scale : 1;
  }

  void lamb(const at::Tensor& w, const at::Tensor& g, at::Tensor& m, at::Tensor& v) const {
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    const at::Tensor root = (v / (1 - std::pow(0.999, steps_))).sqrt() + 1e-6;
    const at::Tensor u = m / (1 - std::pow(0.9, steps_)) / root + (w.dim() > 1 ? kDecay : 0.0) * w;
    w.sub_(kRate * or_one(w, u, (w.norm() / u.norm()).item<double>()) * u);
  }

  static void lars(const at::Tensor& w, const at::Tensor& g, at::Tensor& velocity) {
    const double decay = w.dim() > 1 ? kDecay : 0;
    const double rate = (0.001 * w.norm() / (g.norm() + decay * w.norm())).item<double>();
    velocity = kMomentum * velocity + or_one(w, g, rate) * (g + decay * w);
    w.sub_(kRate * velocity);
  }

  std::string optimizer_;
  std::vector<at::Tensor> first_, second_;
  int steps_ = 0;
};

cases::Case layerwise_case(const std::string& strategy, const std::string& optimizer) {
  auto c = testing::irregular_case(strategy);
  c.optimizer = optimizer;
  c.learning_rate = kRate;
  c.weight_decay = kDecay;
  c.momentum = kMomentum;
  return c;
}

class LayerwiseTraining : public ::testing::TestWithParam<std::string> {};

TEST_P(LayerwiseTraining, IsThatOfOneProcessOnTheWholeBatchUnderEverySchedule) {
  for (const int world : {2, 3}) {
    const Training reference = testing::whole_batch(world, Reference(GetParam()));
    for (const std::string& schedule : testing::schedules()) {
      testing::run_rank_threads_well(world, [&](const RankGroup& group) {
        Trainer trainer(layerwise_case(schedule, GetParam()), group, testing::irregular_options());
        for (int step = 0; step < kSteps; ++step) {
          trainer.step();
        }
        trainer.drain();
        EXPECT_LE(distance(reference, copies(trainer.network().parameters())), 1e-10)
            << schedule << ", rank " << group.rank << " of " << world;
      });
    }
  }
}

/// Expects that both strategies train rank 0's network to the same parameters.
void expect_same_training(cases::Case c, const std::string& optimizer, const std::string& strategy,
                          const std::string& other, int world) {
  std::vector<std::vector<at::Tensor>> trained;
  for (const std::string& each : {strategy, other}) {
    c.strategy = each;
    c.optimizer = optimizer;
    c.learning_rate = kRate;
    c.weight_decay = kDecay;
    testing::run_rank_threads_well(world, [&](const RankGroup& group) {
      Trainer trainer(c, group, {.dtype = at::kDouble});
      const auto start = copies(trainer.network().parameters());
      for (int step = 0; step < 4; ++step) {
        trainer.step();
      }
      trainer.drain();
      if (group.rank == 0) {
        trained.push_back(copies(trainer.network().parameters()));
        EXPECT_FALSE(at::allclose(start[0], trained.back()[0], /*rtol=*/1e-6, /*atol=*/0));
      }
    });
  }
  for (std::size_t p = 0; p < trained[0].size(); ++p) {
    EXPECT_TRUE(at::allclose(trained[0][p], trained[1][p], /*rtol=*/1e-12, /*atol=*/1e-14)) << p;
  }
}

// Whose gradients are a tensor each; it wants all parameters used.
TEST_P(LayerwiseTraining, WithTheReducerIsThatOfFusion) {
  expect_same_training(testing::small_case("mlp", "fusion"), GetParam(), "fusion", "ddp", 2);
}

// A weight of 8 elements lies in one shard, and its padding up to the end of the bucket in others.
TEST_P(LayerwiseTraining, OfAShardWithAWholeWeightIsThatOfFusion) {
  auto c = testing::small_case("linear", "fusion");
  c.image_size = 2;
  c.classes = 2;
  for (const char* sharded : {"fusion+rs-ag+zero-1", "wfbp+rs-ag+zero-2"}) {
    for (const int world : {2, 3}) {
      expect_same_training(c, GetParam(), "fusion", sharded, world);
    }
  }
}

// The same comparison must see another optimizer.
TEST_P(LayerwiseTraining, AnotherOptimizerWouldBeSeen) {
  const Training reference = testing::whole_batch(2, Reference(GetParam()));
  for (const std::string other : {"sgd", "adamw", GetParam() == "lamb" ? "lars" : "lamb"}) {
    testing::run_rank_threads_well(2, [&](const RankGroup& group) {
      Trainer trainer(layerwise_case("fusion", other), group, testing::irregular_options());
      for (int step = 0; step < kSteps; ++step) {
        trainer.step();
      }
      trainer.drain();
      EXPECT_GT(distance(reference, copies(trainer.network().parameters())), 1e-3) << other;
    });
  }
}

// Shards of the irregular network's weights.
TEST_P(LayerwiseTraining, IsRejectedWhereARankUpdatesAPartOfAWeight) {
  const auto errors = testing::run_rank_threads(2, [&](const RankGroup& group) {
    Trainer trainer(layerwise_case("fusion+rs-ag+zero-1", GetParam()), group,
                    testing::irregular_options());
  });
  for (const std::string& error : errors) {
    EXPECT_TRUE(error.starts_with("optimizer '" + GetParam() + "' scales the step of '")) << error;
    EXPECT_NE(error.find("strategy 'fusion:bucket-mb=0.002+rs-ag+zero-1'"), std::string::npos)
        << error;
  }
}

INSTANTIATE_TEST_SUITE_P(All, LayerwiseTraining, ::testing::Values("lamb", "lars"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace paceline::rank::layerwise
