// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/optim.h>
#include <torch/types.h>

#include "rank/irregular_network.h"
#include "rank/run_rank_threads.h"

// Codecs whose wire forms are no sums, with real tensors over Gloo.

namespace paceline::rank {
namespace {

using testing::copies;
using testing::irregular_case;
using testing::irregular_options;
using testing::IrregularNetwork;
using testing::Training;

constexpr int kSteps = 10;

const std::vector<std::string>& compressed() {
  static const std::vector<std::string> all{
      "bsp+sign",
      "wfbp+sign",
      "dear+all-reduce+sign",
      "wfbp+ps+sign",
      "fusion+ps:placement=apart,servers=1+sign",
      "bsp+ef-sign",
      "fusion+ef-sign",
      "bytescheduler:partition-mb=0.0005,credit-mb=0.04+ef-sign",
      "bsp+sign:form=int8",
      "dear+rs-ag+sign:form=int8",
      "fusion+gtopk:density=0.1",
      "bytescheduler:partition-mb=0.0005,credit-mb=0.04+gtopk:density=0.1",
      "fusion+random-k:density=0.1",
      "fusion+qsgd",
      "bytescheduler:partition-mb=0.0005,credit-mb=0.04+qsgd",
      "fusion+powersgd:rank=2",
      "dear+all-reduce+powersgd",
      "wfbp+topk:density=0.01",
      "fusion+topk:density=0.1",
      "bytescheduler:partition-mb=0.0005,credit-mb=0.04+topk:density=0.01"};
  return all;
}

/// Small ones, in which the strategy exists.
std::vector<int> worlds_of(const std::string& strategy) {
  return strategy.find("gtopk") != std::string::npos ? std::vector<int>{2, 4}
                                                     : std::vector<int>{2, 3};
}

/// The parameters after some steps of two ranks.
std::int64_t digest_after_steps(const std::string& strategy) {
  std::int64_t digest = 0;
  testing::run_rank_threads_well(2, [&](const RankGroup& group) {
    Trainer trainer(irregular_case(strategy), group, irregular_options());
    for (int step = 0; step < kSteps; ++step) {
      trainer.step();
    }
    trainer.drain();
    if (group.rank == 0) {
      digest = trainer.parameter_digest();
    }
  });
  return digest;
}

// Where everything is selected, padding is not, and nothing is left behind.
TEST(SparseCodecs, ThatSelectEverythingTrainAsWithout) {
  for (const char* schedule :
       {"bsp", "fusion", "bytescheduler:partition-mb=0.0005,credit-mb=0.04"}) {
    for (const char* codec : {"random-k", "topk", "gtopk"}) {
      EXPECT_EQ(digest_after_steps(fmt::format("{}+{}:density=1", schedule, codec)),
                digest_after_steps(schedule))
          << schedule << "+" << codec;
    }
  }
}

class Compressed : public ::testing::TestWithParam<std::string> {};

TEST_P(Compressed, SendsWhatItsPlanSays) {
  for (const int world : worlds_of(GetParam())) {
    testing::run_rank_threads_well(world, [&](const RankGroup& group) {
      Trainer trainer(irregular_case(GetParam()), group, irregular_options());
      EXPECT_EQ(testing::booked(trainer, 3), testing::planned(trainer, group.rank, 3))
          << "rank " << group.rank << " of " << world;
    });
  }
}

TEST_P(Compressed, LeavesEqualParametersAndAShorterLoss) {
  for (const int world : worlds_of(GetParam())) {
    std::vector<std::int64_t> digests(static_cast<std::size_t>(world));
    std::vector<int> trains(digests.size());
    testing::run_rank_threads_well(world, [&](const RankGroup& group) {
      auto c = irregular_case(GetParam());
      c.learning_rate = 0.002;
      Trainer trainer(c, group, irregular_options());
      const auto rank = static_cast<std::size_t>(group.rank);
      trains[rank] = trainer.trains() ? 1 : 0;
      trainer.step();
      const std::optional<double> first = trainer.last_loss();
      for (int step = 1; step < 3 * kSteps; ++step) {
        trainer.step();
      }
      trainer.drain();
      if (trainer.trains()) {
        EXPECT_LT(trainer.last_loss().value(), first.value());
        digests[rank] = trainer.parameter_digest();
      }
    });
    for (std::size_t rank = 0; rank < digests.size(); ++rank) {
      EXPECT_TRUE(trains[rank] == 0 || digests[rank] == digests[0]) << rank << " of " << world;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Compressed, ::testing::ValuesIn(compressed()),
                         [](const auto& test) { return std::to_string(test.index); });

/// One process that computes the gradients of all ranks one by one and applies the sign of the sum
/// of their signs.
Training by_majority(int world) {
  at::set_num_threads(1);
  const auto c = irregular_case("none");
  IrregularNetwork network;
  networks::cast_network(network, at::kDouble);
  std::vector<networks::Batch> batches;
  for (int rank = 0; rank < world; ++rank) {
    batches.push_back(
        networks::make_batch(networks::find_network(c.model),
                             {.batch_size = c.batch_size,
                              .seed = c.seed,
                              .rank = rank,
                              .dtype = at::kDouble,
                              .network = {.image_size = c.image_size, .classes = c.classes}}));
  }
  std::vector<at::Tensor> trained;
  for (const auto& parameter : network.parameters()) {
    if (parameter.requires_grad()) {
      trained.push_back(parameter);
    }
  }
  torch::optim::SGD sgd(trained, torch::optim::SGDOptions(c.learning_rate).momentum(c.momentum));
  Training result{copies(network.parameters()), {}};
  for (int step = 0; step < kSteps; ++step) {
    std::vector<at::Tensor> sums;
    for (const at::Tensor& parameter : trained) {
      sums.push_back(at::zeros_like(parameter));
    }
    for (const networks::Batch& batch : batches) {
      sgd.zero_grad();
      at::cross_entropy_loss(network.forward(batch.input), batch.target).backward();
      for (std::size_t p = 0; p < trained.size(); ++p) {
        const at::Tensor& gradient = trained[p].grad();
        sums[p] += gradient.defined() ? gradient.ge(0) * 2 - 1 : at::ones({}, at::kLong);
      }
    }
    for (std::size_t p = 0; p < trained.size(); ++p) {
      trained[p].mutable_grad() = (sums[p].ge(0) * 2 - 1).to(at::kDouble);
    }
    sgd.step();
  }
  result.end = copies(network.parameters());
  return result;
}

// A parameter that forward never reaches has a gradient of zero, whose sign is
// +1.  Over a server and over all ranks: the same votes.
TEST(Sign, TrainsByTheMajorityOfTheRanks) {
  for (const char* strategy : {"bsp+sign", "wfbp+ps+sign"}) {
    for (const int world : {2, 3}) {
      const Training reference = by_majority(world);
      testing::run_rank_threads_well(world, [&](const RankGroup& group) {
        Trainer trainer(irregular_case(strategy), group, irregular_options());
        for (int step = 0; step < kSteps; ++step) {
          trainer.step();
        }
        trainer.drain();
        EXPECT_LE(testing::distance(reference, copies(trainer.network().parameters())), 1e-10)
            << strategy << ", rank " << group.rank << " of " << world;
      });
    }
  }
}

// The server's vote, every rank's own, and a sum of bytes, bit for bit.
TEST(Sign, TrainsTheSameInEveryForm) {
  for (const int world : {2, 3}) {
    std::vector<std::int64_t> digests;
    for (const char* strategy :
         {"bsp+sign", "bsp+ps+sign", "bsp+sign:form=int8", "bsp+ps+sign:form=int8"}) {
      std::vector<std::int64_t> of_rank(static_cast<std::size_t>(world));
      testing::run_rank_threads_well(world, [&](const RankGroup& group) {
        Trainer trainer(irregular_case(strategy), group, irregular_options());
        for (int step = 0; step < kSteps; ++step) {
          trainer.step();
        }
        trainer.drain();
        of_rank[static_cast<std::size_t>(group.rank)] = trainer.parameter_digest();
      });
      digests.insert(digests.end(), of_rank.begin(), of_rank.end());
    }
    EXPECT_EQ(digests, std::vector(digests.size(), digests.front())) << world;
  }
}

// All values cross: what is trained is what one process trains on all batches.
TEST(TopK, OfDensityOneLosesNothing) {
  for (const int world : {2, 3}) {
    const Training reference = testing::whole_batch(world);
    testing::run_rank_threads_well(world, [&](const RankGroup& group) {
      Trainer trainer(irregular_case("wfbp+topk:density=1"), group, irregular_options());
      for (int step = 0; step < testing::kSteps; ++step) {
        trainer.step();
      }
      trainer.drain();
      EXPECT_LE(testing::distance(reference, copies(trainer.network().parameters())), 1e-10);
    });
  }
}

}  // namespace
}  // namespace paceline::rank
