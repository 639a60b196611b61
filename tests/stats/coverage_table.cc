// SPDX-License-Identifier: Apache-2.0
// Prints how often the intervals hold the truth, in simulation: the tables of
// docs/measuring.md.  Not a test; build the target `coverage_table` to run it.
#include <cstdint>

#include <fmt/format.h>

#include "paceline/stats/interval.h"
#include "paceline/stats/steady.h"
#include "stats/simulation.h"

namespace paceline::stats {
namespace {

using Case = std::vector<std::vector<double>>;

constexpr int kSimulations = 1000;

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

void print_within_run() {
  fmt::print("median of one run; columns: lag-1 autocorrelation\n");
  fmt::print("{:>6} {:>6} {:>6} {:>6} {:>6}\n", "steps", 0, 0.3, 0.6, 0.9);
  for (const int n : {10, 30, 100, 300}) {
    fmt::print("{:>6}", n);
    for (const double rho : {0.0, 0.3, 0.6, 0.9}) {
      fmt::print(
          " {:>6.1f}", share([&](Random& random, std::uint64_t seed) {
            const Case run{simulated(random, n, rho, skewed_noise)};
            return median_of_runs(run, {.seed = seed})->interval->contains(10);
          }));
    }
    fmt::print("\n");
  }
}

void print_over_runs() {
  const auto runs = [](Random& random, int n, double center) {
    Case result;
    for (int i = 0; i < n; ++i) {
      result.push_back({center * (1 + 0.03 * random.normal())});
    }
    return result;
  };
  fmt::print("over runs that scatter by 3 %\n");
  fmt::print("{:>6} {:>8} {:>8}\n", "runs", "median", "ratio");
  for (const int n : {3, 4, 5, 6, 8, 10, 15}) {
    const double median = share([&](Random& random, std::uint64_t) {
      return median_of_runs(runs(random, n, 10))->interval->contains(10);
    });
    const double ratio = share([&](Random& random, std::uint64_t seed) {
      const Case base = runs(random, n, 10);
      return ratio_of_medians(runs(random, n, 20), base, {.seed = seed})
          ->interval->contains(2);
    });
    fmt::print("{:>6} {:>8.1f} {:>8.1f}\n", n, median, ratio);
  }
}

void print_steady() {
  fmt::print("steady series in which a change is found\n");
  fmt::print("{:>6} {:>6} {:>6} {:>6}\n", "steps", 0, 0.3, 0.6);
  for (const int n : {15, 40, 100, 300}) {
    fmt::print("{:>6}", n);
    for (const double rho : {0.0, 0.3, 0.6}) {
      fmt::print(
          " {:>6.1f}", share([&](Random& random, std::uint64_t seed) {
            auto steps = simulated(random, n, rho, skewed_noise);
            for (double& step : steps) {
              step = 1 + 0.05 * (step - 10);
            }
            return !find_steady_state(steps, {.seed = seed}).changes.empty();
          }));
    }
    fmt::print("\n");
  }
}

}  // namespace
}  // namespace paceline::stats

int main() {
  paceline::stats::print_within_run();
  paceline::stats::print_over_runs();
  paceline::stats::print_steady();
}
