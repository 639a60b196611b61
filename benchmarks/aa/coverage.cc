// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "aa/aa.h"
#include "aa/simulate.h"
#include "paceline/stats/bootstrap.h"
#include "paceline/stats/interval.h"
#include "paceline/stats/steady.h"

namespace paceline::aa {
namespace {

using CaseRuns = std::vector<std::vector<double>>;

constexpr int kSimulations = 2000;

template <typename Holds>
double share(Holds holds) {
  int hits = 0;
  for (int i = 0; i < kSimulations; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    Random random(99, seed);
    hits += holds(random, seed) ? 1 : 0;
  }
  return 100.0 * hits / kSimulations;
}

// One run of skewed steps; a table over their number and autocorrelation.
template <typename Holds>
void print_steps_by_correlation(Holds holds) {
  constexpr std::array kCorrelations{0.0, 0.3, 0.6, 0.9};
  fmt::print("{:>6} {:>6}\n", "steps", fmt::join(kCorrelations, "    "));
  for (const int steps : {10, 20, 30, 50, 100, 300}) {
    fmt::print("{:>6}", steps);
    for (const double rho : kCorrelations) {
      const Scatter scatter{.run = 0, .step = 0.1, .rho = rho, .steps = steps, .shape = skewed};
      fmt::print(" {:>6.1f}", share([&](Random& random, std::uint64_t seed) {
                   return holds(simulate_steps(random, scatter, 1, 0), seed);
                 }));
    }
    fmt::print("\n");
  }
}

void print_within_run() {
  fmt::print(
      "intervals that hold the truth, in % of {} simulations; aim: 95\n\n"
      "median of one run of skewed steps; columns: autocorrelation\n",
      kSimulations);
  print_steps_by_correlation([](const std::vector<double>& steps, std::uint64_t seed) {
    return stats::median_of_runs(CaseRuns{steps}, {.seed = seed})->interval->contains(1);
  });
}

void print_warned() {
  fmt::print("\nruns that are warned of (their neighbors correlate), in %\n");
  print_steps_by_correlation([](const std::vector<double>& steps, std::uint64_t) {
    return stats::is_interval_too_narrow(steps);
  });
}

CaseRuns simulate_runs(Random& random, const Scatter& scatter, int runs, double center) {
  CaseRuns result;
  for (int i = 0; i < runs; ++i) {
    result.push_back(simulate_steps(random, scatter, center, random.normal()));
  }
  return result;
}

struct Kind {
  std::string_view name;
  Scatter scatter;
};

void print_over_runs() {
  const std::array kinds{
      Kind{"normal, independent steps", {.run = 0.03, .step = 0, .rho = 0}},
      Kind{"normal, steps 3 %, autocorrelation 0.9", {.run = 0.03, .step = 0.03, .rho = 0.9}},
      Kind{"skewed steps, autocorrelation 0.6",
           {.run = 0.01, .step = 0.05, .rho = 0.6, .shape = skewed}},
      Kind{"heavy tails between runs", {.run = 0.01, .step = 0.01, .rho = 0.6, .run_shape = heavy}},
      Kind{"heavy tails of runs and steps",
           {.run = 0.01, .step = 0.01, .rho = 0.6, .shape = heavy, .run_shape = heavy}}};
  for (const Kind& kind : kinds) {
    fmt::print("\nover runs: {}\n{:>6} {:>8} {:>8} {:>8}\n", kind.name, "runs", "median", "ratio",
               "paired");
    for (const int n : {3, 4, 5, 6, 7, 8, 10, 15}) {
      const double median = share([&](Random& random, std::uint64_t) {
        return stats::median_of_runs(simulate_runs(random, kind.scatter, n, 1))
            ->interval->contains(1);
      });
      const double ratio = share([&](Random& random, std::uint64_t seed) {
        const CaseRuns base = simulate_runs(random, kind.scatter, n, 1);
        return stats::ratio_of_medians(simulate_runs(random, kind.scatter, n, 2), base,
                                       {.seed = seed})
            ->interval->contains(2);
      });
      const double paired = share([&](Random& random, std::uint64_t seed) {
        const CaseRuns base = simulate_runs(random, kind.scatter, n, 1);
        return stats::paired_ratio(simulate_runs(random, kind.scatter, n, 2), base, {.seed = seed})
            ->interval->contains(2);
      });
      fmt::print("{:>6} {:>8.1f} {:>8.1f} {:>8.1f}\n", n, median, ratio, paired);
    }
  }
}

void print_steady() {
  fmt::print("\nsteady series in which a change is found, in %\n");
  fmt::print("{:>6} {:>6} {:>6} {:>6}\n", "steps", 0, 0.3, 0.6);
  for (const int steps : {15, 40, 100, 300}) {
    fmt::print("{:>6}", steps);
    for (const double rho : {0.0, 0.3, 0.6}) {
      const Scatter scatter{.run = 0, .step = 0.05, .rho = rho, .steps = steps, .shape = skewed};
      fmt::print(" {:>6.1f}", share([&](Random& random, std::uint64_t seed) {
                   return stats::first_steady_step(simulate_steps(random, scatter, 1, 0),
                                                   {.seed = seed}) != 0U;
                 }));
    }
    fmt::print("\n");
  }
}

}  // namespace

void print_coverage() {
  print_within_run();
  print_warned();
  print_over_runs();
  print_steady();
}

}  // namespace paceline::aa
