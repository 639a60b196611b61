// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/plan_world.h"
#include "paceline/plan/program.h"
#include "paceline/strategies/buckets.h"
#include "paceline/strategies/ddp.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_model.h"

namespace paceline::strategies {
namespace {

template <class T>
std::vector<const T*> ops_of(const CommPlan& plan) {
  std::vector<const T*> found;
  for (const Op& op : plan.ops) {
    if (const T* work = std::get_if<T>(&op.work)) {
      found.push_back(work);
    }
  }
  return found;
}

CommPlan plan_of(const std::string& text, const PlanInput& input) {
  const auto planner = make_planner(parse_strategy(text));
  return planner->plan(input, planner->setup(input), 0);
}

std::vector<ParameterId> ids(std::initializer_list<std::int32_t> numbers) {
  std::vector<ParameterId> result;
  for (const std::int32_t number : numbers) {
    result.push_back(ParameterId{number});
  }
  return result;
}

TEST(SetupBuilder, NeighborsInReadyOrderAreOneSlice) {
  const PlanInput input = input_of(small_model(), 2);
  const Groups groups{ids({6, 5}), ids({4, 3, 2}), ids({1, 0})};
  const auto setup = SetupBuilder(input, groups).finish();
  const auto buckets = buckets_of(setup, groups);
  Elements end = 0;
  for (const Bucket& bucket : buckets) {
    EXPECT_EQ(bucket.values.begin, end);
    EXPECT_EQ(bucket.gradients.begin, end);
    EXPECT_EQ(bucket.values.count, bucket.gradients.count);
    for (const ParameterId id : bucket.parameters) {
      const Slice& value = setup.parameters[index_of(id)].value;
      EXPECT_EQ(value.begin % 16, 0) << "64 bytes are 16 floats";
      EXPECT_EQ(value.count, input.model.parameters[index_of(id)].elements);
      EXPECT_GE(value.begin, bucket.values.begin);
      EXPECT_LE(value.begin + value.count, bucket.values.begin + bucket.values.count);
    }
    end += bucket.values.count;
  }
  EXPECT_EQ(end, whole(setup, buffer_named(setup, kValues)).count);
  EXPECT_EQ(end, whole(setup, buffer_named(setup, "momentum")).count);
}

TEST(SetupBuilder, PadsUnitsToAMultipleOfTheShards) {
  const PlanInput input = input_of(small_model(), 3);
  const Groups groups{ids({6, 5}), ids({4, 3, 2, 1, 0})};
  const auto setup = SetupBuilder(input, groups, 3).finish();
  for (const Bucket& bucket : buckets_of(setup, groups)) {
    EXPECT_EQ(bucket.values.begin % 16, 0);
    EXPECT_EQ(bucket.values.count % (16 * 3), 0);
  }
}

TEST(SetupBuilder, RejectsShapesThatCannotBePlanned) {
  PlanInput input = input_of(small_model(), 2);
  input.model.ready_order.pop_back();
  EXPECT_THROW(check_shape(input), UsageError);
  input = input_of(small_model(), 2);
  input.model.ready_order[0] = input.model.ready_order[1];
  EXPECT_THROW(check_shape(input), UsageError);
  input = input_of(small_model(), 2);
  input.optimizer.name = "lion";
  EXPECT_THROW(SetupBuilder(input, {input.model.ready_order}), UsageError);
}

TEST(AssignBuckets, ClosesAtTheLimitAfterAddingAndAdvancesTheLimit) {
  const ModelShape model = toy_model({{10, 10, 10, 10, 10, 1}});
  const auto order = ids({0, 1, 2, 3, 4, 5});
  EXPECT_EQ(assign_buckets(model, order, {80}), (Groups{ids({0, 1}), ids({2, 3}), ids({4, 5})}));
  EXPECT_EQ(assign_buckets(model, order, {81}), (Groups{ids({0, 1, 2}), ids({3, 4, 5})}));
  EXPECT_EQ(assign_buckets(model, order, {1, 100}),
            (Groups{ids({0}), ids({1, 2, 3}), ids({4, 5})}));
  EXPECT_EQ(assign_buckets(model, order, {0}).size(), 6u);
}

TEST(ReducerBuckets, OneAtFirstThenRebuiltInArrivalOrder) {
  const ModelShape model = small_model();
  EXPECT_EQ(reducer_buckets(model, {.first = 4, .cap = 100}, 0), Groups{model.ready_order});
  EXPECT_EQ(reducer_buckets(model, {.first = 4, .cap = 100}, 1),
            (Groups{ids({6}), ids({5, 4, 3, 2}), ids({1, 0})}));
}

class EveryThreshold : public ::testing::TestWithParam<int> {};

TEST_P(EveryThreshold, HoldsEachParameterInOneUnitAndOvershootsByOneTensor) {
  const ModelShape model = small_model();
  const std::int64_t threshold = GetParam();
  std::multiset<ParameterId> seen;
  const Groups groups = assign_buckets(model, model.ready_order, {threshold});
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::int64_t bytes = 0, without_last = 0;
    for (const ParameterId id : groups[g]) {
      seen.insert(id);
      without_last = bytes;
      bytes += 4 * model.parameters[index_of(id)].elements;
    }
    EXPECT_TRUE(groups[g].size() == 1 || without_last < threshold);
    EXPECT_TRUE(g + 1 == groups.size() || bytes >= threshold);
  }
  EXPECT_EQ(seen, std::multiset<ParameterId>(model.ready_order.begin(), model.ready_order.end()));
}
INSTANTIATE_TEST_SUITE_P(Bytes, EveryThreshold, ::testing::Values(0, 1, 16, 28, 64, 100, 1000));

TEST(Planners, BspIsOneExchangeAndOneUpdateOfEverything) {
  const PlanInput input = input_of(small_model(), 4);
  const CommPlan plan = plan_of("bsp", input);
  const auto reduces = ops_of<Collective>(plan);
  ASSERT_EQ(reduces.size(), 1u);
  ASSERT_EQ(ops_of<Kernel>(plan).size(), 1u);
  EXPECT_EQ(reduces[0]->reduce, Reduce::kSum);
  EXPECT_EQ(ops_of<Kernel>(plan)[0]->numbers, std::vector<double>{4});
  EXPECT_EQ(reduces[0]->in.count, ops_of<Kernel>(plan)[0]->writes[0].slice.count);
}

TEST(Planners, WfbpExchangesEachTensorAndUpdatesOnce) {
  const CommPlan plan = plan_of("wfbp", input_of(small_model(), 4));
  EXPECT_EQ(ops_of<Collective>(plan).size(), 7u);
  EXPECT_EQ(ops_of<Kernel>(plan).size(), 1u);
}

TEST(Planners, FusionExchangesAndUpdatesUnitByUnit) {
  const CommPlan plan = plan_of("fusion:bucket-mb=0.0001", input_of(small_model(), 4));
  EXPECT_EQ(ops_of<Collective>(plan).size(), ops_of<Kernel>(plan).size());
  EXPECT_EQ(ops_of<Collective>(plan).size(), 3u) << "104 bytes a bucket";
}

TEST(Planners, OneRankExchangesNothing) {
  for (const char* text : {"bsp", "wfbp", "fusion", "none"}) {
    const CommPlan plan = plan_of(text, input_of(small_model(), 1));
    EXPECT_TRUE(ops_of<Collective>(plan).empty()) << text;
    EXPECT_EQ(ops_of<Kernel>(plan)[0]->numbers, std::vector<double>{1});
  }
}

TEST(Planners, AdamwCountsTheStepOnceBeforeTheUpdates) {
  PlanInput input = input_of(small_model(), 2);
  input.optimizer = adamw();
  const auto planner = make_planner(parse_strategy("fusion:bucket-mb=0"));
  const auto setup = planner->setup(input);
  EXPECT_EQ(setup.buffers[index_of(buffer_named(setup, kStepCount))].elements, 1);
  const CommPlan plan = planner->plan(input, setup, 0);
  std::vector<std::string_view> names;
  for (const Kernel* kernel : ops_of<Kernel>(plan)) {
    names.push_back(kernel->name);
  }
  EXPECT_EQ(std::count(names.begin(), names.end(), "count"), 1);
  EXPECT_EQ(names.front(), "count");
  EXPECT_EQ(names.size(), 8u);
}

TEST(Planners, MicroBatchesRepeatTheModelWorkOnly) {
  PlanInput input = input_of(small_model(), 2);
  input.micro_batches = 3;
  const CommPlan plan = plan_of("fusion", input);
  EXPECT_EQ(ops_of<Forward>(plan).size(), 12u);
  EXPECT_EQ(ops_of<Backward>(plan).size(), 21u);
  EXPECT_EQ(ops_of<Collective>(plan).size(), 1u);
  EXPECT_EQ(ops_of<Backward>(plan).back()->micro, 2);
}

TEST(Planners, DdpReducesTheReducersBucketsWithoutPadding) {
  const PlanInput input = input_of(small_model(), 4);
  const auto planner = make_planner(parse_strategy("ddp:bucket-mb=0.0001,first-bucket-mb=0"));
  const auto setup = planner->setup(input);
  for (const Variant variant : {0, 1}) {
    const CommPlan plan = planner->plan(input, setup, variant);
    Elements elements = 0;
    for (const Op& op : plan.ops) {
      if (const auto* reduce = std::get_if<Collective>(&op.work)) {
        elements += reduce->in.count;
        EXPECT_EQ(op.performer, kReducer);
      }
    }
    EXPECT_EQ(elements, 93);
    EXPECT_EQ(ops_of<Collective>(plan).size(), variant == 0 ? 1u : 3u);
    EXPECT_EQ(ops_of<Kernel>(plan).back()->numbers, std::vector<double>{1});
  }
  EXPECT_EQ(planner->variant(input, 0), 0);
  EXPECT_EQ(planner->variant(input, 1), 1);
  EXPECT_EQ(planner->variant(input, 9), 1);
}

TEST(Planners, DdpWithViewsCopiesNothingBack) {
  const PlanInput input = input_of(small_model(), 4);
  const auto copies = [&](const char* text) {
    const auto planner = make_planner(parse_strategy(text));
    const auto plan = planner->plan(input, planner->setup(input), 1);
    return std::ranges::count_if(ops_of<Kernel>(plan),
                                 [](const Kernel* k) { return k->name == "copy"; });
  };
  // Of three buckets, each way or in alone.
  EXPECT_EQ(copies("ddp:bucket-mb=0.0001,first-bucket-mb=0"), 6);
  EXPECT_EQ(copies("ddp:bucket-mb=0.0001,first-bucket-mb=0,views=yes"), 3);
}

TEST(Planners, AStaticGraphKeepsItsOneBucketForAnotherStep) {
  PlanInput input = input_of(small_model(), 4);
  const auto planner = make_planner(parse_strategy("ddp:static=yes"));
  EXPECT_EQ(planner->variant(input, 1), 0);
  EXPECT_EQ(planner->variant(input, 2), 1);
  input.micro_batches = 2;
  EXPECT_THROW(planner->setup(input), UsageError);
}

constexpr std::array kScalable{"none", "bsp", "wfbp", "fusion:bucket-mb=0.0001", "ddp"};

PlanInput scaled_input() {
  PlanInput input = input_of(small_model(), 4);
  input.loss_scaling = true;
  return input;
}

TEST(LossScaling, ChecksTheReducedGradientsBeforeAnyUpdate) {
  for (const char* text : kScalable) {
    const auto planner = make_planner(parse_strategy(text));
    const auto setup = planner->setup(scaled_input());
    for (const Variant variant :
         {planner->variant(scaled_input(), 0), planner->variant(scaled_input(), 1)}) {
      const CommPlan plan = planner->plan(scaled_input(), setup, variant);
      std::string order;  // one letter an op, repetitions left out
      for (const Op& op : plan.ops) {
        const auto* kernel = std::get_if<Kernel>(&op.work);
        const char letter = kernel != nullptr && kernel->name == "check"     ? 'c'
                            : kernel != nullptr && kernel->name == "rescale" ? 'r'
                            : kernel != nullptr && kernel->name == "update"  ? 'u'
                                                                             : '.';
        if (letter == 'c' || letter == 'r' || !order.ends_with(letter)) {
          order += letter;
        }
      }
      EXPECT_EQ(order, ".cru") << text;
    }
  }
}

TEST(LossScaling, SendsNoByteMore) {
  for (const char* text : kScalable) {
    const auto planner = make_planner(parse_strategy(text));
    const auto bytes = [&](const PlanInput& input) {
      const auto setup = planner->setup(input);
      return cost(setup, planner->plan(input, setup, 1), 0).wire_bytes;
    };
    EXPECT_EQ(bytes(scaled_input()), bytes(input_of(small_model(), 4))) << text;
  }
}

// Note [Loss scaling]: what lets the training thread read the scale.
TEST(LossScaling, TheGatesOfTheNextForwardWaitForTheScale) {
  for (const char* text : kScalable) {
    const auto planner = make_planner(parse_strategy(text));
    const PlanWorld world(*planner, scaled_input(), 2);
    const auto order = world.order(0);
    const auto& items = world.items(0);
    std::vector<bool> behind(items.size(), false);
    std::size_t gates = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      for (const std::size_t earlier : order.waits_for[i]) {
        behind[i] = behind[i] || behind[earlier];
      }
      const auto* kernel = std::get_if<Kernel>(&items[i].op->work);
      behind[i] = behind[i] || (kernel != nullptr && kernel->name == "rescale");
      if (items[i].step == 1 && std::holds_alternative<Forward>(items[i].op->work)) {
        EXPECT_TRUE(behind[i]) << text;
        ++gates;
      }
    }
    EXPECT_EQ(gates, 4U);
  }
}

TEST(LossScalingDeathTest, APlannerThatForgetsToCheckIsABug) {
  const PlanInput input = scaled_input();
  const Groups groups{input.model.ready_order};
  const auto setup = SetupBuilder(input, groups).finish();
  Program program(input, setup);
  program.compute();
  EXPECT_DEATH(program.update(buckets_of(setup, groups).front(), 1), "gradients_checked_");
}

TEST(Variants, AreAllFoundHoweverLateTheyCome) {
  PlanInput input;
  input.model = small_model();
  input.world = 4;
  const auto count = [&](const std::string& text) {
    return variants_of(*make_planner(parse_strategy(text)), input).size();
  };
  const std::string pairs = "fusion+neighbor-allreduce:topology=random-matching";
  EXPECT_EQ(count(pairs), 64U);
  // Step 100 n - 1 is in phase 3 modulo 4 of the 64.
  EXPECT_EQ(count(pairs + "+pga:every=100"), 64U + 16U);
  EXPECT_EQ(count(pairs + "+local-sgd:every=500"), 1U + 64U);
  EXPECT_EQ(count("fusion+all-reduce+diloco:every=500"), 2U);
}

}  // namespace
}  // namespace paceline::strategies
