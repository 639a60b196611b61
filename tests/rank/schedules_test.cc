// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "paceline/strategies/strategy.h"
#include "rank/irregular_network.h"
#include "rank/run_rank_threads.h"

// Schedules that are cut by times or cross the step border, with real tensors: each must train like
// one process on the whole batch, last update included.

namespace paceline::rank {
namespace {

using testing::copies;
using testing::distance;
using testing::irregular_case;
using testing::irregular_options;
using testing::kSteps;
using testing::small_case;
using testing::Training;
using testing::whole_batch;

class EverySchedule : public ::testing::TestWithParam<std::string> {};

TEST_P(EverySchedule, TrainsLikeOneProcessOnTheWholeBatch) {
  for (const int world : {2, 3, 4}) {
    const Training reference = whole_batch(world);
    testing::run_rank_threads_well(world, [&](const RankGroup& group) {
      Trainer trainer(irregular_case(GetParam()), group, irregular_options());
      for (int step = 0; step < kSteps; ++step) {
        trainer.step();
      }
      trainer.drain();
      EXPECT_LE(distance(reference, copies(trainer.network().parameters())), 1e-10)
          << "rank " << group.rank << " of " << world;
    });
  }
}

// The same comparison must see that one update is missing.
TEST_P(EverySchedule, ALostUpdateWouldBeSeen) {
  const Training reference = whole_batch(2);
  testing::run_rank_threads_well(2, [&](const RankGroup& group) {
    Trainer trainer(irregular_case(GetParam()), group, irregular_options());
    for (int step = 0; step + 1 < kSteps; ++step) {
      trainer.step();
    }
    trainer.drain();
    EXPECT_GT(distance(reference, copies(trainer.network().parameters())), 1e-3);
  });
}

/// A strategy that forgets to update one layer, in the middle of the training.
class Forgetful final : public plan::Planner {
 public:
  explicit Forgetful(const std::string& strategy)
      : inner_(strategies::make_planner(strategies::parse_strategy(strategy))) {}

  plan::Setup setup(const plan::PlanInput& input) const override { return inner_->setup(input); }
  plan::Variant variant(const plan::PlanInput& /*input*/, plan::Step step) const override {
    return step == kSteps / 2 ? 1 : 0;
  }
  plan::CommPlan plan(const plan::PlanInput& input, const plan::Setup& setup,
                      plan::Variant variant) const override {
    plan::CommPlan all = inner_->plan(input, setup, 0);
    if (variant == 1) {
      const auto& names = input.model.parameters;
      const auto last = std::ranges::find(names, "last.weight", &plan::ParameterShape::name);
      const plan::Slice& value =
          setup.parameters.at(static_cast<std::size_t>(last - names.begin())).value;
      const auto lost = std::ranges::find_if(all.ops, [&](const plan::Op& op) {
        const auto* kernel = std::get_if<plan::Kernel>(&op.work);
        return kernel != nullptr && kernel->name == "update" &&
               std::ranges::any_of(kernel->writes, [&](const plan::Access& written) {
                 return written.slice.buffer == value.buffer &&
                        written.slice.begin <= value.begin &&
                        value.begin < written.slice.begin + written.slice.count;
               });
      });
      for (const plan::Op& op : all.ops) {
        EXPECT_TRUE(op.after.empty()) << "or its indices would be wrong";
      }
      if (lost == all.ops.end()) {
        throw std::logic_error("no update to forget");
      }
      all.ops.erase(lost);
    }
    return all;
  }

 private:
  std::shared_ptr<const plan::Planner> inner_;
};

// One unit's update of one step, of many that happen.
TEST(Trainer, OneUpdateThatIsForgottenIsSeen) {
  for (const char* text : {"fusion:bucket-mb=0.002", "dear:bucket-mb=0.002",
                           "bytescheduler:partition-mb=0.02,credit-mb=0.04,order=priority"}) {
    const Training reference = whole_batch(2);
    testing::run_rank_threads_well(2, [&](const RankGroup& group) {
      auto options = irregular_options();
      options.planner = std::make_shared<Forgetful>(text);
      Trainer trainer(irregular_case("fusion"), group, options);
      for (int step = 0; step < kSteps; ++step) {
        trainer.step();
      }
      trainer.drain();
      EXPECT_GT(distance(reference, copies(trainer.network().parameters())), 1e-3) << text;
    });
  }
}

// Small integers: sums are exact in any order, so are the gradients.
TEST_P(EverySchedule, SumsIntegersExactly) {
  for (const int world : {2, 3, 4}) {
    testing::run_rank_threads_well(world, [&](const RankGroup& group) {
      // mlp is larger: some partitions, not hundreds
      std::string text = GetParam();
      for (const std::string_view small : {"mb=0.002", "mb=0.02"}) {
        if (const auto at = text.find(small); at != std::string::npos) {
          text.replace(at, small.size(), "mb=0.5");
          break;
        }
      }
      Trainer trainer(small_case("mlp", text), group, {.integers = true});
      RankGroup other = group;
      other.name = "bulk";
      Trainer bulk(small_case("mlp", "bsp"), other, {.integers = true});
      EXPECT_TRUE(testing::identical(testing::gradients_after(trainer, 3),
                                     testing::gradients_after(bulk, 3)))
          << "rank " << group.rank << " of " << world;
    });
  }
}

TEST_P(EverySchedule, SendsWhatItsPlanSays) {
  testing::run_rank_threads_well(3, [&](const RankGroup& group) {
    Trainer trainer(irregular_case(GetParam()), group, irregular_options());
    trainer.step();
    trainer.drain();
    EXPECT_EQ(testing::booked(trainer, 3), testing::planned(trainer, group.rank, 3));
  });
}

INSTANTIATE_TEST_SUITE_P(All, EverySchedule, ::testing::ValuesIn(testing::schedules()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::erase_if(name,
                                         [](unsigned char c) { return std::isalnum(c) == 0; });
                           return name;
                         });

/// x rounded to the type and back.
at::Tensor rounded(const at::Tensor& x, at::ScalarType type) {
  return x.to(type).to(x.scalar_type());
}

/// Ranks that are threads draw from one generator, so one at a time.
TrainerOptions one_network_at_a_time(const cases::Case& c) {
  TrainerOptions options;
  options.network = [c] {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    return networks::make_network(networks::find_network(c.model), {}, c.seed);
  };
  return options;
}

// Two ranks: the sum of two rounded gradients, itself rounded.
TEST(Trainer, CarriesGradientsInSixteenBits) {
  for (const auto& [text, type] : std::vector<std::pair<std::string, at::ScalarType>>{
           {"fusion+fp16", at::kHalf}, {"dear+bf16", at::kBFloat16}}) {
    std::vector<at::Tensor> sum;
    for (int rank = 0; rank < 2; ++rank) {
      testing::run_rank_threads_well(1, [&](const RankGroup& alone) {
        RankGroup group = alone;
        group.rank = rank;
        group.world = 2;
        Trainer trainer(small_case("mlp", "none"), group);
        const auto own = testing::gradients_after(trainer, 1);
        for (std::size_t p = 0; p < own.size(); ++p) {
          if (rank == 0) {
            sum.push_back(rounded(own[p], type));
          } else {
            sum[p] = rounded(sum[p] + rounded(own[p], type), type);
          }
        }
      });
    }
    for (at::Tensor& gradient : sum) {
      gradient = gradient / 2;
    }
    testing::run_rank_threads_well(2, [&](const RankGroup& group) {
      const auto one = small_case("mlp", text);
      Trainer trainer(one, group, one_network_at_a_time(one));
      EXPECT_TRUE(testing::identical(testing::gradients_after(trainer, 2), sum)) << text;
    });
  }
}

TEST(Trainer, MeasuresTheTimesThatAPlanIsCutBy) {
  testing::run_rank_threads_well(2, [&](const RankGroup& group) {
    const Trainer cut(irregular_case("optimal-merge"), group, irregular_options());
    ASSERT_TRUE(cut.input().profile.has_value());
    ASSERT_TRUE(cut.input().alpha_beta.has_value());
    EXPECT_GT(cut.input().profile->forward_total(), 0);
    EXPECT_GT(cut.input().profile->backward_total(), 0);
    EXPECT_GT(cut.input().alpha_beta->all_reduce.time(1 << 20), 0);
    EXPECT_EQ(cut.input().alpha_beta->world, 2);
    RankGroup other = group;
    other.name = "given";
    auto options = irregular_options();
    options.profile = cut.input().profile;
    options.alpha_beta = cut.input().alpha_beta;
    options.profile->origin = "given";
    options.alpha_beta->origin = "given";
    const Trainer given(irregular_case("mg-wfbp"), other, options);
    EXPECT_EQ(given.input().profile->origin, "given");
    EXPECT_EQ(given.input().alpha_beta->origin, "given");
    other.name = "indifferent";
    const Trainer indifferent(irregular_case("dear"), other, irregular_options());
    EXPECT_FALSE(indifferent.input().profile.has_value());
  });
}

}  // namespace
}  // namespace paceline::rank
