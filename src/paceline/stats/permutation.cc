// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/permutation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <tuple>
#include <utility>

#include "paceline/base/error.h"
#include "paceline/base/random.h"
#include "paceline/stats/distribution.h"

namespace paceline::stats {
namespace {

// Relative differences below this are ties: sums of the same values in another order differ in
// their last bits, whereas true differences between arrangements are far larger.
constexpr double kTieTolerance = 1e-9;

struct Block {
  std::vector<std::size_t> units;
  std::size_t tests = 0;
};

double choose(std::size_t n, std::size_t k) {
  double result = 1;
  for (std::size_t i = 1; i <= k; ++i) {
    result = result * static_cast<double>(n - k + i) / static_cast<double>(i);
  }
  return std::round(result);
}

// The values of the runs minus the mean of their block, block by block, and all quantities that are
// equal for all arrangements of labels.
class CenteredDesign {
 public:
  explicit CenteredDesign(std::span<const LabeledRun> units)
      : cases_(units.empty() ? 0 : units.front().values.size()),
        variance_(cases_, 0),
        seen_(cases_, 0) {
    std::size_t blocks = 0;
    for (const LabeledRun& unit : units) {
      PACELINE_CHECK_EQ(unit.values.size(), cases_);
      blocks = std::max(blocks, unit.block + 1);
    }
    std::vector<Block> members(blocks);
    for (std::size_t i = 0; i < units.size(); ++i) {
      members[units[i].block].units.push_back(i);
      members[units[i].block].tests += units[i].test ? 1 : 0;
    }
    for (const Block& block : members) {
      add(units, block);
    }
  }

  std::size_t cases() const { return cases_; }
  std::size_t size() const { return centered_.size() / std::max(cases_, kOne); }
  double arrangements() const { return arrangements_; }
  std::span<const double> centered(std::size_t unit) const {
    return std::span(centered_).subspan(unit * cases_, cases_);
  }
  /// Has an element for each unit.  For the first unit of a block it is (number of test units,
  /// number of units) of the block; for other units it is (0, 0).
  const std::vector<std::pair<std::size_t, std::size_t>>& starts() const { return starts_; }
  const std::vector<double>& seen() const { return seen_; }

  /// Turns the sums over the test units into the statistic of each case.
  void standardize(std::span<double> sums) const {
    for (std::size_t c = 0; c < cases_; ++c) {
      sums[c] = variance_[c] > 0 ? std::abs(sums[c]) / std::sqrt(variance_[c]) : 0;
    }
  }

 private:
  static constexpr std::size_t kOne = 1;

  void add(std::span<const LabeledRun> units, const Block& block) {
    const std::size_t n = block.units.size();
    if (block.tests == 0 || block.tests == n) {
      return;  // the block has only one arrangement
    }
    const auto size = static_cast<double>(n);
    const auto tests = static_cast<double>(block.tests);
    const double share = tests * (size - tests) / (size * (size - 1));
    const std::size_t first = centered_.size();
    centered_.resize(first + n * cases_);
    for (std::size_t c = 0; c < cases_; ++c) {
      double sum = 0;
      double count = 0;
      for (const std::size_t unit : block.units) {
        const double value = units[unit].values[c];
        sum += std::isnan(value) ? 0 : value;
        count += std::isnan(value) ? 0 : 1;
      }
      for (std::size_t i = 0; i < n; ++i) {
        const LabeledRun& unit = units[block.units[i]];
        const double value = std::isnan(unit.values[c]) ? 0 : unit.values[c] - sum / count;
        centered_[first + i * cases_ + c] = value;
        variance_[c] += share * value * value;
        seen_[c] += unit.test ? value : 0;
      }
    }
    arrangements_ *= choose(n, block.tests);
    starts_.emplace_back(block.tests, n);
    starts_.resize(starts_.size() + n - 1, {0, 0});
  }

  std::size_t cases_;
  std::vector<double> centered_;
  std::vector<double> variance_;
  std::vector<double> seen_;  // for each case: observed sum over the test runs
  std::vector<std::pair<std::size_t, std::size_t>> starts_;
  double arrangements_ = 1;
};

// Counts the arrangements of labels whose statistic is at least the observed one.
class ExceedanceCounter {
 public:
  explicit ExceedanceCounter(const CenteredDesign& design)
      : design_(design),
        seen_(design.seen()),
        order_(design.cases()),
        single_(design.cases(), 0),
        stepwise_(design.cases(), 0) {
    design.standardize(seen_);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return seen_[a] < seen_[b]; });
  }

  /// Counts one arrangement of labels, given the sums of the values of its test runs.
  void take(std::span<const double> sums) {
    z_.assign(sums.begin(), sums.end());
    design_.standardize(z_);
    double largest = 0;
    for (const std::size_t c : order_) {  // in order of increasing significance
      largest = std::max(largest, z_[c]);
      const double bar = seen_[c] - kTieTolerance * std::max(1.0, seen_[c]);
      single_[c] += z_[c] >= bar ? 1 : 0;
      stepwise_[c] += largest >= bar ? 1 : 0;
    }
    ++taken_;
  }

  /// `unseen` counts arrangements that were not passed to take() and are hits, such as the observed
  /// one; it is added to the hits and to the arrangements.
  PermutationResult result(std::uint64_t unseen) const {
    PermutationResult result;
    result.p.resize(order_.size());
    result.corrected_p.resize(order_.size());
    const auto all = static_cast<double>(taken_ + unseen);
    double largest = 0;
    for (auto c = order_.rbegin(); c != order_.rend(); ++c) {
      result.p[*c] = static_cast<double>(single_[*c] + unseen) / all;
      largest = std::max(largest, static_cast<double>(stepwise_[*c] + unseen) / all);
      result.corrected_p[*c] = largest;  // never below that of a more significant case
    }
    return result;
  }

 private:
  const CenteredDesign& design_;
  std::vector<double> seen_;
  std::vector<std::size_t> order_;  // cases by observed z, the smallest first
  std::vector<std::uint64_t> single_, stepwise_;
  std::uint64_t taken_ = 0;
  std::vector<double> z_;
};

// Enumerates all arrangements of labels, run by run.
class Enumeration {
 public:
  Enumeration(const CenteredDesign& design, ExceedanceCounter& tally)
      : design_(design),
        tally_(tally),
        sums_(design.size() + 1, std::vector<double>(design.cases(), 0)) {}

  void walk(std::size_t unit, std::size_t tests, std::size_t left) {
    if (unit == design_.size()) {
      tally_.take(sums_[unit]);
      return;
    }
    if (left == 0) {
      std::tie(tests, left) = design_.starts()[unit];
    }
    if (tests < left) {
      sums_[unit + 1] = sums_[unit];
      walk(unit + 1, tests, left - 1);
    }
    if (tests > 0) {
      const auto centered = design_.centered(unit);
      std::transform(sums_[unit].begin(), sums_[unit].end(), centered.begin(),
                     sums_[unit + 1].begin(), std::plus<>());
      walk(unit + 1, tests - 1, left - 1);
    }
  }

 private:
  const CenteredDesign& design_;
  ExceedanceCounter& tally_;
  std::vector<std::vector<double>> sums_;  // [unit]: sums over the test units before this unit
};

// Chooses the test runs of each block at random (Knuth's algorithm S).
void draw(const CenteredDesign& design, Random random, std::vector<double>& sums) {
  std::fill(sums.begin(), sums.end(), 0);
  std::size_t tests = 0;
  std::size_t left = 0;
  for (std::size_t unit = 0; unit < design.size(); ++unit, --left) {
    if (left == 0) {
      std::tie(tests, left) = design.starts()[unit];
    }
    if (random.below(left) < tests) {
      --tests;
      const auto centered = design.centered(unit);
      std::transform(sums.begin(), sums.end(), centered.begin(), sums.begin(), std::plus<>());
    }
  }
}

double normal_quantile(double p) {
  double low = -40;
  double high = 40;
  for (int halving = 0; halving < 100; ++halving) {
    const double middle = (low + high) / 2;
    (normal_cdf(middle) < p ? low : high) = middle;
  }
  return high;
}

}  // namespace

PermutationResult permutation_test(std::span<const LabeledRun> units,
                                   const PermutationOptions& options) {
  const CenteredDesign design(units);
  ExceedanceCounter tally(design);
  const bool exact = design.arrangements() <= static_cast<double>(options.most_arrangements);
  if (exact) {
    Enumeration(design, tally).walk(0, 0, 0);
  } else {
    std::vector<double> sums(design.cases());
    for (std::uint64_t i = 0; i < options.draws; ++i) {
      draw(design, Random(options.seed, i), sums);
      tally.take(sums);
    }
  }
  PermutationResult result = tally.result(exact ? 0 : 1);
  result.exact = exact;
  result.arrangements = design.arrangements();
  return result;
}

double smallest_p(std::size_t runs, bool paired) {
  if (runs == 0) {
    return 1;
  }
  const double arrangements =
      paired ? std::pow(2.0, static_cast<double>(runs)) : choose(2 * runs, runs);
  return 2 / arrangements;
}

std::size_t fewest_runs(double significance, bool paired) {
  PACELINE_CHECK(significance > 0);
  std::size_t runs = 1;
  while (smallest_p(runs, paired) >= significance) {
    ++runs;
  }
  return runs;
}

std::size_t runs_for_power(double log_sd, double log_change, std::size_t cases, double power,
                           double significance) {
  PACELINE_CHECK(log_sd >= 0 && log_change != 0 && cases > 0);
  const double share = significance / static_cast<double>(cases);
  const double u = normal_quantile(1 - share / 2);
  const double v = normal_quantile(power);
  const double effect = log_sd / log_change * (u + v);
  const double pairs = std::ceil(effect * effect * std::numbers::pi / 3 + u * u / 2);
  return std::max(static_cast<std::size_t>(std::min(pairs, 1e9)), fewest_runs(share, true));
}

}  // namespace paceline::stats
