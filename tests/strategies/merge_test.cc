// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/merge.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_model.h"

namespace paceline::strategies {
namespace {

/// Tensors of so many bytes whose gradients take so long.
std::vector<ReadyTensor> tensors(const std::vector<Picoseconds>& backward,
                                 const std::vector<std::int64_t>& bytes) {
  std::vector<ReadyTensor> result;
  Picoseconds ready = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    ready += backward[i];
    result.push_back({bytes[i] / 4, bytes[i], ready});
  }
  return result;
}

TransferTime line(Picoseconds alpha, Picoseconds beta) {
  return [=](std::int64_t bytes) { return bytes == 0 ? 0 : alpha + beta * bytes; };
}

/// The published recurrences, in the paper's numbering: layer 1 is the first,
/// L the last, backward runs from L to 1; alpha + beta M; written from the paper's formulas with
/// their arrays, and nothing shared with the planner.
std::vector<std::size_t> published_greedy(const std::vector<double>& tb, std::vector<double> p,
                                          double alpha, double beta) {
  const std::size_t last = p.size() - 1;  // index 0 is unused
  std::vector<double> taob(p.size()), tc(p.size()), tauc(p.size());
  for (std::size_t l = last - 1; l >= 1; --l) {
    taob[l] = taob[l + 1] + tb[l + 1];
  }
  for (std::size_t l = 1; l <= last; ++l) {
    tc[l] = alpha + beta * p[l];
  }
  const auto starts = [&] {
    tauc[last] = taob[last] + tb[last];
    for (std::size_t l = last - 1; l >= 1; --l) {
      tauc[l] = std::max(tauc[l + 1] + tc[l + 1], taob[l] + tb[l]);
    }
  };
  starts();
  std::vector<std::size_t> sizes;
  std::size_t open = 1;
  for (std::size_t l = last; l >= 2; --l) {
    const double ready = taob[l - 1] + tb[l - 1];
    if (ready < tauc[l] + tc[l] && ready - tauc[l] < alpha) {
      p[l - 1] += p[l];
      tc[l] = 0;
      tc[l - 1] = alpha + beta * p[l - 1];
      starts();
      ++open;
    } else {
      sizes.push_back(open);
      open = 1;
    }
  }
  sizes.push_back(open);
  return sizes;
}

struct Instance {
  std::vector<Picoseconds> backward;
  std::vector<std::int64_t> bytes;
  Picoseconds alpha = 0, beta = 0;
};

Instance instance(std::mt19937& rng) {
  Instance made;
  const std::size_t count = 2 + rng() % 11;
  for (std::size_t i = 0; i < count; ++i) {
    made.backward.push_back(static_cast<Picoseconds>(rng() % 40));
    made.bytes.push_back(static_cast<std::int64_t>(1 + rng() % 60));
  }
  made.alpha = static_cast<Picoseconds>(rng() % 50);
  made.beta = static_cast<Picoseconds>(rng() % 4);
  return made;
}

// It ends at 13; merging the last two in place of the first two ends at 11.
TEST(GreedyMerge, IsNotAlwaysTheBest) {
  const auto all = tensors({1, 2, 3}, {2, 1, 1});
  EXPECT_EQ(greedy_merge(all, line(3, 1)), (std::vector<std::size_t>{2, 1}));
}

TEST(GreedyMerge, FollowsThePublishedRecurrences) {
  std::mt19937 rng(7);
  std::size_t merged = 0;
  for (int i = 0; i < 2'000; ++i) {
    const Instance in = instance(rng);
    const auto greedy = greedy_merge(tensors(in.backward, in.bytes), line(in.alpha, in.beta));
    std::vector<double> tb{0}, p{0};
    tb.insert(tb.end(), in.backward.rbegin(), in.backward.rend());
    p.insert(p.end(), in.bytes.rbegin(), in.bytes.rend());
    EXPECT_EQ(greedy,
              published_greedy(tb, p, static_cast<double>(in.alpha), static_cast<double>(in.beta)))
        << i;
    merged += in.bytes.size() - greedy.size();
  }
  EXPECT_GT(merged, 1'000u);
}

TEST(GreedyMerge, TakesSmallUnitsAlongWhateverTheTimesSay) {
  const auto all = tensors({100, 100, 100, 100}, {40, 40, 4'000, 40});
  const auto time = line(1, 0);
  EXPECT_EQ(greedy_merge(all, time), (std::vector<std::size_t>{1, 1, 1, 1}));
  EXPECT_EQ(greedy_merge(all, time, 15), (std::vector<std::size_t>{2, 1, 1}))
      << "10 elements are few, 20 and 1000 are not; the last has no next";
}

class MergingSchedule : public ::testing::TestWithParam<const char*> {};

TEST_P(MergingSchedule, WantsAProfileAndAnAlphaBetaModel) {
  const auto planner = make_planner(parse_strategy(GetParam()));
  EXPECT_TRUE(needs_times(parse_strategy(GetParam())));
  PlanInput input = input_of(small_model(), 2);
  input.profile.reset();
  EXPECT_THROW((void)planner->plan(input, planner->setup(input), 0), UsageError);
  input = input_of(small_model(), 2);
  input.alpha_beta.reset();
  EXPECT_THROW((void)planner->plan(input, planner->setup(input), 0), UsageError);
  input.world = 1;
  EXPECT_NO_THROW((void)planner->setup(input)) << "nothing crosses";
}

TEST_P(MergingSchedule, TakesTheTimesOfItsExchange) {
  const auto planner = make_planner(parse_strategy(std::string(GetParam()) + "+rs-ag"));
  PlanInput input = input_of(small_model(), 2);
  input.alpha_beta->all_gather = {};
  EXPECT_THROW((void)planner->plan(input, planner->setup(input), 0), UsageError);
}

// inner-outer-exp exists on 2 hosts of 4 ranks; on one host of 8 it is rejected.
TEST_P(MergingSchedule, TakesTheHostsToTheGraphOfItsExchange) {
  PlanInput input = input_of(small_model(), 8);
  input.local_world = {4, 4};
  for (const char* exchange : {"neighbor-allreduce", "push-sum", "win-put"}) {
    const auto planner = make_planner(
        parse_strategy(std::string(GetParam()) + "+" + exchange + ":topology=inner-outer-exp"));
    EXPECT_NO_THROW((void)planner->plan(input, planner->setup(input), 0)) << exchange;
  }
}

INSTANTIATE_TEST_SUITE_P(All, MergingSchedule,
                         ::testing::Values("mg-wfbp", "optimal-merge", "bytescheduler"));

/// Tensors a bucket, in ready order, where all tensors have 256 values: each update is one
/// bucket's.
std::vector<std::size_t> cut_of(const std::string& text, const PlanInput& input) {
  const auto planner = make_planner(parse_strategy(text));
  std::vector<std::size_t> sizes;
  for (const Op& op : planner->plan(input, planner->setup(input), 0).ops) {
    const auto* kernel = std::get_if<Kernel>(&op.work);
    if (kernel != nullptr && kernel->name == "update") {
      sizes.push_back(static_cast<std::size_t>(kernel->writes[0].slice.count / 256));
    }
  }
  return sizes;
}

// 3 ns and 10 ps a byte.  Of 1024 bytes topk sends 64 as values and 64 as places, which every rank
// gathers of all 4; a neighbor gets each by itself.
TEST(MergingSchedules, CutByWhatTheCodecLetsCross) {
  PlanInput input =
      input_of(toy_model({{256}, {256}, {256}, {256}, {256}, {256}, {256}, {256}}), 4);
  const auto plain = line(3'000, 10);
  const TransferTime gathered = [&](std::int64_t bytes) { return 2 * plain(4 * bytes / 16); };
  const TransferTime by_neighbors = [&](std::int64_t bytes) { return 2 * 2 * plain(bytes / 16); };
  const std::string code = "+topk:density=0.0625";
  const std::string ring = "+neighbor-allreduce:topology=ring";
  const auto expect_cuts = [&](const std::string& exchange, Picoseconds backward,
                               const TransferTime& coded) {
    std::ranges::fill(input.profile->backward, backward);
    const auto all = tensors_of(input, "test");
    const auto cut = cut_of("mg-wfbp" + exchange + code, input);
    EXPECT_EQ(cut, greedy_merge(all, coded));
    EXPECT_NE(cut, cut_of("mg-wfbp" + exchange, input));
    EXPECT_NE(cut_of("optimal-merge" + exchange, input),
              cut_of("optimal-merge" + exchange + code, input));
  };
  expect_cuts("", 11'000, gathered);
  expect_cuts(ring, 20'000, by_neighbors);
}

TEST(MergingSchedules, SayWhatTheyPredict) {
  const PlanInput input = input_of(toy_model({{256}, {256}}), 2);
  // Ready at 2 and 4 ns; 3 ns + 10.24 ns a tensor.
  EXPECT_EQ(make_planner(parse_strategy("mg-wfbp"))->remark(input),
            "1 bucket of 2 tensors; a step is predicted to take 0.000 ms");
  EXPECT_EQ(make_planner(parse_strategy("wfbp"))->remark(input), "");
}

}  // namespace
}  // namespace paceline::strategies
