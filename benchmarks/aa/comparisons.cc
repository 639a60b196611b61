// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "aa/aa.h"
#include "aa/simulate.h"
#include "paceline/stats/distribution.h"
#include "paceline/stats/interval.h"
#include "paceline/stats/permutation.h"
#include "paceline/stats/quantile.h"

namespace paceline::aa {
namespace {

constexpr int kComparisons = 2000;
constexpr std::size_t kCases = 3;
constexpr double kSignificance = 0.05;
// Half of a run's deviation is common to all of its cases.
const double kShared = std::sqrt(0.5);

using CaseRuns = std::vector<std::vector<double>>;  // [run][step]

// What one comparison sees: both sides of every case.
struct Sample {
  std::array<CaseRuns, kCases> base, test;
};

Sample simulate(Random& random,
                const Scatter& scatter,
                std::size_t runs,
                double planted) {
  Sample sample;
  for (std::size_t run = 0; run < runs; ++run) {
    for (const bool test : {false, true}) {
      const double common = random.normal();
      for (std::size_t c = 0; c < kCases; ++c) {
        const double own = random.normal();
        const double factor = test && c == 0 ? 1 + planted : 1;
        (test ? sample.test : sample.base)[c].push_back(
            simulate_steps(random,
                           scatter,
                           factor * 0.1 * static_cast<double>(c + 1),
                           kShared * (common + own)));
      }
    }
  }
  return sample;
}

std::vector<stats::Unit> units_of(const Sample& sample, bool paired) {
  std::vector<stats::Unit> units;
  for (std::size_t run = 0; run < sample.base[0].size(); ++run) {
    for (const bool test : {false, true}) {
      stats::Unit unit{.block = paired ? run : 0, .test = test};
      for (const CaseRuns& runs : test ? sample.test : sample.base) {
        unit.values.push_back(std::log(stats::median(runs[run])));
      }
      units.push_back(unit);
    }
  }
  return units;
}

// Mann and Whitney's U of all steps, as if each were a sample of its own.
bool steps_differ(const CaseRuns& base, const CaseRuns& test) {
  std::vector<std::pair<double, bool>> all;
  for (const auto& run : base) {
    for (const double step : run) {
      all.emplace_back(step, false);
    }
  }
  for (const auto& run : test) {
    for (const double step : run) {
      all.emplace_back(step, true);
    }
  }
  std::sort(all.begin(), all.end());
  double ranks = 0;
  double n = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    ranks += all[i].second ? static_cast<double>(i + 1) : 0;
    n += all[i].second ? 1 : 0;
  }
  const double m = static_cast<double>(all.size()) - n;
  const double u = ranks - n * (n + 1) / 2;
  const double z = (u - n * m / 2) / std::sqrt(n * m * (n + m + 1) / 12);
  return 2 * stats::normal_cdf(-std::abs(z)) < kSignificance / kCases;
}

struct Shares {
  double significant = 0;   // corrected p below 5 % in any case
  double claimed = 0;       // and the interval on one side of 0
  double by_steps = 0;      // what the steps alone would say, with Bonferroni
  double first_slower = 0;  // claimed of case 0, the planted one
};

Shares compare(const Scatter& scatter,
               std::size_t runs,
               bool paired,
               double planted) {
  Shares shares;
  for (int i = 0; i < kComparisons; ++i) {
    Random random(2024, static_cast<std::uint64_t>(i));
    const Sample sample = simulate(random, scatter, runs, planted);
    const auto tested =
        stats::permutation_test(units_of(sample, paired),
                                {.most_arrangements = 1U << 14U,
                                 .draws = 4'999,
                                 .seed = static_cast<std::uint64_t>(i)});
    bool significant = false;
    bool claimed = false;
    bool by_steps = false;
    for (std::size_t c = 0; c < kCases; ++c) {
      by_steps = by_steps || steps_differ(sample.base[c], sample.test[c]);
      if (tested.corrected_p[c] >= kSignificance) {
        continue;
      }
      significant = true;
      const auto ratio =
          paired ? stats::paired_ratio(sample.test[c], sample.base[c])
                 : stats::ratio_of_medians(sample.test[c], sample.base[c]);
      const bool slower = ratio->interval->low > 1;
      claimed = claimed || slower || ratio->interval->high < 1;
      shares.first_slower += c == 0 && slower ? 1 : 0;
    }
    shares.significant += significant ? 1 : 0;
    shares.claimed += claimed ? 1 : 0;
    shares.by_steps += by_steps ? 1 : 0;
  }
  for (double* share : {&shares.significant,
                        &shares.claimed,
                        &shares.by_steps,
                        &shares.first_slower}) {
    *share *= 100.0 / kComparisons;
  }
  return shares;
}

// The largest level below 5 % that a test of one case has, in percent.
double attainable(std::size_t runs, bool paired) {
  const double grain = stats::smallest_p(runs, paired);
  return 100 * grain * (std::ceil(kSignificance / grain) - 1);
}

}  // namespace

void print_false_positives() {
  fmt::print(
      "false positives in %, {} comparisons of equals, {} cases each;\n"
      "runs scatter by 1 %, their steps by 0.5 % with autocorrelation 0.6\n"
      "{:>6} {:>9} {:>11} {:>8} {:>8} {:>9}\n",
      kComparisons,
      kCases,
      "runs",
      "order",
      "attainable",
      "p < 5 %",
      "claimed",
      "by steps");
  for (const auto& [runs, paired] : {std::pair<std::size_t, bool>{6, true},
                                     {8, true},
                                     {10, true},
                                     {12, true},
                                     {5, false},
                                     {8, false}}) {
    const Shares shares = compare({}, runs, paired, 0);
    fmt::print("{:>6} {:>9} {:>11.1f} {:>8.1f} {:>8.1f} {:>9.1f}\n",
               runs,
               paired ? "in turns" : "apart",
               attainable(runs, paired),
               shares.significant,
               shares.claimed,
               shares.by_steps);
  }
}

void print_power() {
  constexpr double kPlanted = 0.01;
  fmt::print(
      "\n1 % slower in one of {} cases: found so many times in 100\n"
      "{:>12} {:>6} {:>6}\n",
      kCases,
      "run scatter",
      "runs",
      "found");
  for (const double run : {0.002, 0.003, 0.005, 0.007, 0.01}) {
    const Scatter scatter{.run = run};
    // The scatter of a pair's ratio that a user would see, from many runs.
    Random random(7);
    std::vector<double> ratios;
    for (int i = 0; i < 4000; ++i) {
      const Sample pair = simulate(random, scatter, 1, 0);
      ratios.push_back(std::log(stats::median(pair.test[0][0]) /
                                stats::median(pair.base[0][0])));
    }
    double squares = 0;
    for (const double ratio : ratios) {
      squares += ratio * ratio / static_cast<double>(ratios.size());
    }
    const std::size_t runs =
        stats::runs_for_power(std::sqrt(squares), std::log1p(kPlanted), kCases);
    fmt::print("{:>10.1f} % {:>6} {:>6.1f}\n",
               100 * run,
               runs,
               compare(scatter, runs, true, kPlanted).first_slower);
  }
}

}  // namespace paceline::aa
