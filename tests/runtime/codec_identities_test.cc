// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"

// What holds of codecs whatever the data: nothing is lost, what is rounded is right on average,
// what has low rank comes back.

namespace paceline::runtime {
namespace {

Call seeded_call(std::vector<Operand> reads, std::vector<Operand> writes,
                 std::span<const double> numbers = {}, plan::Step step = 0) {
  return {.reads = std::move(reads),
          .writes = std::move(writes),
          .numbers = numbers,
          .random = {.seed = 7, .step = step, .op = 3}};
}

at::Tensor integers(std::int64_t n, int seed) {
  at::manual_seed(static_cast<std::uint64_t>(seed));
  return at::randint(-50, 51, {n}, at::kFloat);
}

struct Sparse {
  at::Tensor values, places, residual;
};

// Integers: every sum is exact.
TEST(GTopK, LosesNothingAndLeavesRanksEqual) {
  constexpr std::int64_t kElements = 200, kKept = 20;
  for (const int ranks : {2, 4, 8, 16}) {
    std::vector<Sparse> own;
    at::Tensor all = at::zeros({kElements});
    for (int rank = 0; rank < ranks; ++rank) {
      const at::Tensor gradient = integers(kElements, 100 * ranks + rank);
      all += gradient;
      Sparse mine{at::zeros({kKept}), at::zeros({kKept}, at::kInt), at::zeros({kElements})};
      run_topk({}, seeded_call({{gradient}, {mine.residual}},
                               {{mine.values}, {mine.places}, {mine.residual}}));
      own.push_back(mine);
    }
    std::vector<Sparse> merged;  // apart from the own values, which change
    for (const Sparse& mine : own) {
      merged.push_back({mine.values.clone(), mine.places.clone(), {}});
    }
    for (int apart = 1; apart < ranks; apart *= 2) {
      std::vector<Sparse> next;
      for (int rank = 0; rank < ranks; ++rank) {
        const auto low = static_cast<std::size_t>(rank & ~apart);
        const auto high = static_cast<std::size_t>(rank | apart);
        Sparse& mine = own[static_cast<std::size_t>(rank)];
        Sparse out{at::zeros({kKept}), at::zeros({kKept}, at::kInt), {}};
        run_gtopk_merge({},
                        seeded_call({{merged[low].values},
                                     {merged[low].places},
                                     {merged[high].values},
                                     {merged[high].places},
                                     {mine.values},
                                     {mine.places},
                                     {mine.residual}},
                                    {{out.values}, {out.places}, {mine.values}, {mine.residual}}));
        next.push_back(out);
      }
      merged = next;
    }
    at::Tensor found = at::zeros({kElements});
    run_scatter({}, seeded_call({{merged[0].values}, {merged[0].places}}, {{found}}));
    for (int rank = 0; rank < ranks; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      EXPECT_TRUE(at::equal(merged[r].values, merged[0].values));
      EXPECT_TRUE(at::equal(merged[r].places, merged[0].places));
      found += own[r].residual;
    }
    EXPECT_TRUE(at::equal(found, all)) << ranks;
  }
}

TEST(GTopK, KeepsTheLargestOfTheSumsInOrderOfPlaces) {
  const at::Tensor own = at::tensor({4.F, -3.F, 2.F});
  const at::Tensor mine = at::tensor({1, 5, 7}, at::kInt);
  const at::Tensor other = at::tensor({-4.F, -3.F, 1.F});
  const at::Tensor theirs = at::tensor({1, 5, 9}, at::kInt);
  at::Tensor residual = at::zeros({10});
  const at::Tensor values = at::zeros({3}), places = at::zeros({3}, at::kInt);
  run_gtopk_merge({}, seeded_call({{own}, {mine}, {other}, {theirs}, {own}, {mine}, {residual}},
                                  {{values}, {places}, {own}, {residual}}));
  EXPECT_TRUE(at::equal(places, at::tensor({5, 7, 9}, at::kInt)));
  EXPECT_TRUE(at::equal(values, at::tensor({-6.F, 2.F, 1.F})));
  EXPECT_EQ(residual[1].item<float>(), 4);
  EXPECT_EQ(residual.abs().sum().item<float>(), 4);
}

// `borders`: begin and end of each tensor in the gradient; none: it is one.
Sparse random_k(const at::Tensor& gradient, std::int64_t k, plan::Step step,
                std::vector<double> borders = {}) {
  if (borders.empty()) {
    borders = {0, static_cast<double>(gradient.numel())};
  }
  Sparse out{at::zeros({k}), at::zeros({k}, at::kInt), at::zeros({gradient.numel()})};
  run_random_k({}, seeded_call({{gradient}, {out.residual}},
                               {{out.values}, {out.places}, {out.residual}}, borders, step));
  return out;
}

TEST(RandomK, DrawsNoPadding) {
  const at::Tensor x = integers(100, 1);
  const Sparse out = random_k(x, 75, 1, {0, 30, 40, 80, 90, 95});
  at::Tensor taken = at::zeros({100});
  taken.index_fill_(0, out.places.to(at::kLong), 1);
  at::Tensor tensors = at::ones({100});
  for (const auto& [begin, end] : {std::pair{30, 40}, {80, 90}, {95, 100}}) {
    tensors.slice(0, begin, end).zero_();
  }
  EXPECT_TRUE(at::equal(taken, tensors));
}

TEST(RandomK, TakesEveryPlaceOnceAndLosesNothing) {
  for (const std::int64_t k : {1, 7, 99, 100}) {
    const at::Tensor x = integers(100, static_cast<int>(k));
    const Sparse out = random_k(x, k, 1);
    const auto sorted = std::get<0>(out.places.sort());
    EXPECT_TRUE(sorted.slice(0, 1).gt(sorted.slice(0, 0, k - 1)).all().item<bool>());
    at::Tensor crossed = at::zeros({100});
    run_scatter({}, seeded_call({{out.values}, {out.places}}, {{crossed}}));
    EXPECT_TRUE(at::equal(crossed + out.residual, x));
    EXPECT_EQ(crossed.mul(out.residual).abs().sum().item<float>(), 0);
    EXPECT_TRUE(at::equal(out.places, random_k(x, k, 1).places));
  }
  const at::Tensor x = integers(1000, 1);
  EXPECT_FALSE(at::equal(random_k(x, 50, 1).places, random_k(x, 50, 2).places));
}

// Each place is as likely, k/n, so ||x - C(x)||^2 is (1 - k/n) ||x||^2 on average (Stich et al.,
// 2018, equation 7).  A count of 4000 draws of 1/4 has a standard deviation of 27.4; eight of these
// are passed once in 10^14.
TEST(RandomK, TakesEveryPlaceAsOften) {
  constexpr int kDraws = 4000;
  const at::Tensor x = at::ones({24});
  at::Tensor counts = at::zeros({24});
  for (int step = 0; step < kDraws; ++step) {
    counts += 1 - random_k(x, 6, step).residual;
  }
  EXPECT_EQ(counts.sum().item<float>(), 6.F * kDraws);
  EXPECT_LT((counts - kDraws / 4).abs().max().item<float>(), 8 * 27.4F);
}

at::Tensor through_qsgd(const at::Tensor& x, const std::vector<double>& form, plan::Step step,
                        double rank = 0) {
  const auto block = static_cast<std::int64_t>(form[1]);
  const at::Tensor bytes =
      at::zeros({x.numel() + 4 * ((x.numel() + block - 1) / block)}, at::kChar);
  std::vector<double> numbers = form;
  numbers.push_back(rank);
  run_qsgd({}, seeded_call({{x}}, {{bytes}}, numbers, step));
  at::Tensor out = at::full_like(x, 9);
  run_qsgd_sum({}, seeded_call({{bytes}}, {{out}}, form));
  return out;
}

TEST(Qsgd, ErrsByLessThanALevel) {
  for (const double levels : {1., 7., 127.}) {
    for (const std::int64_t n : {64, 100, 1000}) {
      const at::Tensor x = integers(n, static_cast<int>(n)) / 16;
      const at::Tensor off = (through_qsgd(x, {levels, 128}, 0) - x).abs();
      for (std::int64_t begin = 0; begin < n; begin += 128) {
        const std::int64_t count = std::min<std::int64_t>(128, n - begin);
        const float level =
            x.narrow(0, begin, count).norm().item<float>() / static_cast<float>(levels);
        EXPECT_LT(off.narrow(0, begin, count).max().item<float>(), level * 1.0001F);
      }
    }
  }
  const at::Tensor one = at::zeros({64});
  one[5] = -3;  // the norm itself: a code of all levels
  EXPECT_TRUE(at::equal(through_qsgd(one, {127, 64}, 0), one));
}

// The mean of n independent values of one level apart is farther than t levels from its expectation
// with probability at most 2 exp(-2 n t^2) (Hoeffding, JASA 1963): n = 4000 and t = 0.06 make
// 6e-13, for each of 64 values.
TEST(Qsgd, IsRightOnAverage) {
  constexpr int kDraws = 4000;
  const std::vector<double> form{3, 64};
  const at::Tensor x = integers(64, 5);
  at::Tensor sum = at::zeros({64}, at::kDouble);
  double squares = 0;
  for (int step = 0; step < kDraws; ++step) {
    const at::Tensor out = through_qsgd(x, form, step);
    sum += out;
    squares += (out - x).square().sum().item<double>();
  }
  const double level = x.norm().item<double>() / 3;
  EXPECT_LT((sum / kDraws - x).abs().max().item<double>(), 0.06 * level);
  // Alistarh et al., lemma 3.1: min(n / s^2, sqrt(n) / s) ||x||^2, here 8/3.
  EXPECT_LT(squares / kDraws, 8. / 3 * x.square().sum().item<double>());
}

TEST(Qsgd, DrawsByRankAndStep) {
  const at::Tensor x = integers(256, 6) / 7;
  const std::vector<double> form{5, 128};
  EXPECT_TRUE(at::equal(through_qsgd(x, form, 4, 1), through_qsgd(x, form, 4, 1)));
  EXPECT_FALSE(at::equal(through_qsgd(x, form, 4, 1), through_qsgd(x, form, 4, 2)));
  EXPECT_FALSE(at::equal(through_qsgd(x, form, 4, 1), through_qsgd(x, form, 5, 1)));
}

TEST(Qsgd, PassesOnWhatIsNotFinite) {
  const at::Tensor x = at::ones({128});
  x[3] = std::numeric_limits<float>::infinity();
  const at::Tensor out = through_qsgd(x, {127, 64}, 0);
  EXPECT_FALSE(at::isfinite(out.narrow(0, 0, 64)).any().item<bool>());
  EXPECT_TRUE(at::isfinite(out.narrow(0, 64, 64)).all().item<bool>());
}

/// A matrix of 12 x 10 and a vector of 5, on several ranks.
struct PowerSgd {
  explicit PowerSgd(int ranks_, double rank)
      : ranks(ranks_), shapes{0, 12, 10, rank, 128, 5, 1, 0} {
    const auto r = static_cast<std::int64_t>(rank);
    for (int i = 0; i < ranks; ++i) {
      residuals.push_back(at::zeros({144}, at::kDouble));
      rights.push_back(at::zeros({10 * r}, at::kDouble));
      lefts.push_back(at::zeros({12 * r + 5}, at::kDouble));
    }
  }

  at::Tensor step(const std::vector<at::Tensor>& gradients) {
    const auto summed = [&](std::vector<at::Tensor>& parts) {
      const at::Tensor sum = at::stack(parts).sum(0);
      for (at::Tensor& part : parts) {
        part.copy_(sum);
      }
    };
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      run_powersgd_left({}, seeded_call({{gradients[i]}, {residuals[i]}, {rights[i]}},
                                        {{lefts[i]}, {residuals[i]}, {rights[i]}}, shapes));
      EXPECT_GT(rights[i].abs().min().item<double>(), 0) << "drawn";
    }
    summed(lefts);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      run_powersgd_right(
          {}, seeded_call({{lefts[i]}, {residuals[i]}}, {{lefts[i]}, {rights[i]}}, shapes));
    }
    summed(rights);
    std::vector<double> with_ranks = shapes;
    with_ranks.push_back(ranks);
    std::vector<at::Tensor> results;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      results.push_back(at::zeros({144}, at::kDouble));
      run_powersgd_outer({}, seeded_call({{lefts[i]}, {rights[i]}, {residuals[i]}},
                                         {{results[i]}, {residuals[i]}}, with_ranks));
      EXPECT_TRUE(at::equal(results[i], results[0]));
    }
    return results[0];
  }

  int ranks;
  std::vector<double> shapes;
  std::vector<at::Tensor> residuals, rights, lefts;
};

at::Tensor noise(int seed, std::int64_t rank = 10) {
  at::manual_seed(static_cast<std::uint64_t>(seed));
  const auto options = at::TensorOptions().dtype(at::kDouble);
  at::Tensor values = at::zeros({144}, options);
  values.narrow(0, 0, 120).copy_(
      at::mm(at::randn({12, rank}, options), at::randn({rank, 10}, options)).flatten());
  values.narrow(0, 128, 5).copy_(at::randn({5}, options));
  return values;
}

TEST(PowerSgd, IsExactWhereTheRankSuffices) {
  for (const std::int64_t rank : {1, 2, 3}) {
    PowerSgd codec(2, 3);
    // The sum of two matrices of rank 1 has rank 2.
    const at::Tensor a = noise(1, rank), b = a * 3;
    EXPECT_LT((codec.step({a, b}) - a - b).abs().max().item<double>(), 1e-10);
  }
}

// What the mean takes away and what stays is what there was.
TEST(PowerSgd, ConservesTheSumOfTheRanks) {
  PowerSgd codec(3, 2);
  at::Tensor given = at::zeros({144}, at::kDouble), applied = given.clone();
  for (int step = 0; step < 4; ++step) {
    std::vector<at::Tensor> gradients;
    for (int rank = 0; rank < 3; ++rank) {
      gradients.push_back(noise(10 * step + rank));
      given += gradients.back();
    }
    applied += codec.step(gradients);
  }
  at::Tensor left = at::zeros({144}, at::kDouble);
  for (const at::Tensor& residual : codec.residuals) {
    left += residual;
  }
  EXPECT_LT((applied + left - given).abs().max().item<double>(), 1e-10);
  EXPECT_GT(left.abs().max().item<double>(), 0.1);
  EXPECT_EQ(left.narrow(0, 120, 24).abs().max().item<double>(), 0);
}

// Of one rank's M, with a Q that is drawn: a projection that keeps the rank's share of 10
// directions on average, and all of M once it is repeated.
TEST(PowerSgd, KeepsItsShareOfAChangeWithAQThatIsDrawn) {
  constexpr int kDraws = 200;
  const std::vector<double> shapes{0, 12, 10, 3};
  const at::Tensor m = noise(5).narrow(0, 0, 120).contiguous();
  at::Tensor left = m.clone();
  double kept = 0;
  const auto coded = [&](const at::Tensor& of, plan::Step step) {
    const at::Tensor residual = at::zeros_like(of), q = at::zeros({30}, of.options());
    const at::Tensor p = at::zeros({36}, of.options());
    const at::Tensor values = at::zeros_like(of);
    run_powersgd_left({},
                      seeded_call({{of}, {residual}, {q}}, {{p}, {residual}, {q}}, shapes, step));
    run_powersgd_right({}, seeded_call({{p}, {residual}}, {{p}, {q}}, shapes, step));
    run_powersgd_outer({}, seeded_call({{p}, {q}}, {{values}}, shapes, step));
    return values;
  };
  const auto square = [](const at::Tensor& of) { return of.square().sum().item<double>(); };
  for (int step = 0; step < kDraws; ++step) {
    const at::Tensor values = coded(m, step);
    EXPECT_NEAR(square(m - values) + square(values), square(m), 1e-9);
    kept += square(values) / square(m) / kDraws;
    left -= coded(left, step);
  }
  EXPECT_GT(kept, 0.3);
  EXPECT_LT(square(left), 1e-18 * square(m));
}

// P Q^T is a projection of M, so it takes away no less than nothing; and the warm start brings it
// to the best matrix of that rank (Eckart and Young).
TEST(PowerSgd, ContractsAndApproachesTheBestOfItsRank) {
  PowerSgd codec(1, 2);
  const at::Tensor x = noise(3);
  const at::Tensor m = x.narrow(0, 0, 120).view({12, 10});
  const at::Tensor values = std::get<1>(at::linalg_svd(m));
  const double best = values.slice(0, 2).norm().item<double>();
  double last = m.norm().item<double>();
  for (int step = 0; step < 60; ++step) {
    codec.residuals[0].zero_();
    codec.step({x});
    const double off = codec.residuals[0].norm().item<double>();
    EXPECT_LE(off, last * (1 + 1e-12));
    EXPECT_GE(off, best * (1 - 1e-12));
    last = off;
  }
  EXPECT_LT(last, best * 1.001);
}

// Votes as bits, counted, and as bytes, summed: ties, zeros, no numbers.
TEST(Sign8, AddsUpToWhatTheVotesSay) {
  for (const int voters : {1, 2, 3, 4, 127}) {
    std::vector<at::Tensor> bits;
    at::Tensor sum = at::zeros({64}, at::kChar);
    for (int voter = 0; voter < voters; ++voter) {
      at::Tensor x = integers(64, voter);
      x[0] = 0;
      x[1] = -0.F;
      x[2] = std::nanf("");
      at::Tensor bytes = at::zeros({64}, at::kChar);
      run_sign8({}, seeded_call({{x}}, {{bytes}}));
      sum += bytes;
      bits.push_back(at::zeros({8}, at::kChar));
      run_sign({}, seeded_call({{x}}, {{bits.back()}}));
    }
    at::Tensor majority = at::zeros({8}, at::kChar);
    run_vote({}, seeded_call({{at::cat(bits)}}, {{majority}}));
    at::Tensor counted = at::zeros({64}), summed = at::ones({64});
    run_unsign({}, seeded_call({{majority}}, {{counted}}));
    run_sign8({}, seeded_call({{sum}}, {{summed}}));
    EXPECT_TRUE(at::equal(counted, summed)) << voters;
  }
}

}  // namespace
}  // namespace paceline::runtime
