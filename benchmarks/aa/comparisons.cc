// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "aa/aa.h"
#include "aa/simulate.h"
#include "paceline/base/error.h"
#include "paceline/records/run_record.h"
#include "paceline/report/diff.h"
#include "paceline/stats/distribution.h"
#include "paceline/stats/permutation.h"

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

Sample simulate(Random& random, const Scatter& scatter, std::size_t runs, double planted) {
  Sample sample;
  for (std::size_t run = 0; run < runs; ++run) {
    for (const bool test : {false, true}) {
      const double common = random.normal();
      for (std::size_t c = 0; c < kCases; ++c) {
        const double own = random.normal();
        const double factor = test && c == 0 ? 1 + planted : 1;
        (test ? sample.test : sample.base)[c].push_back(simulate_steps(
            random, scatter, factor * 0.1 * static_cast<double>(c + 1), kShared * (common + own)));
      }
    }
  }
  return sample;
}

std::string minute(std::size_t number) {
  return fmt::format("2024-05-{:02}T{:02}:{:02}:00Z", 1 + number / 1440, number / 60 % 24,
                     number % 60);
}

// What `paceline run` would have left of one side: the cases are equal jobs on 1, 2, ... ranks, of
// which only the first one's steps are told.
std::vector<records::RunRecord> records_of(const std::array<CaseRuns, kCases>& side, bool test,
                                           bool in_turns) {
  std::vector<records::RunRecord> records;
  for (std::size_t run = 0; run < side[0].size(); ++run) {
    for (std::size_t c = 0; c < kCases; ++c) {
      records::RunRecord one;
      one.configuration.strategy = "ddp";
      one.configuration.ranks = static_cast<int>(c + 1);
      one.run = static_cast<int>(run);
      one.started_at =
          minute(in_turns ? 2 * run + (test ? 1 : 0) : run + (test ? side[0].size() : 0));
      records::RankSamples& samples = one.ranks.emplace_back();
      for (const double seconds : side[c][run]) {
        samples.step_ns.push_back(std::llround(seconds * 1e9));
        samples.window_ns += samples.step_ns.back();
      }
      records.push_back(std::move(one));
    }
  }
  return records;
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
  double claimed = 0;       // any verdict of slower or faster
  double by_steps = 0;      // what the steps alone would say, with Bonferroni
  double first_slower = 0;  // claimed of case 0, the planted one
};

// Whether the case is claimed to be slower, faster.
bool is_claimed(const report::DiffRow& row) {
  return row.verdict == report::Verdict::kSlower || row.verdict == report::Verdict::kFaster;
}

// What `paceline diff` makes of the records, but for fewer draws.
report::Diff diff_of(const std::vector<records::RunRecord>& base,
                     const std::vector<records::RunRecord>& test, std::uint64_t seed) {
  report::Diff diff = report::diff_records(base, test,
                                           {.significance = kSignificance,
                                            .seed = seed,
                                            .most_arrangements = 1U << 14U,
                                            .draws = 4'999});
  PACELINE_CHECK(diff.rows.size() == kCases);
  return diff;
}

Shares compare(const Scatter& scatter, std::size_t runs, bool in_turns, double planted) {
  Shares shares;
  for (int i = 0; i < kComparisons; ++i) {
    Random random(2024, static_cast<std::uint64_t>(i));
    const Sample sample = simulate(random, scatter, runs, planted);
    const auto base = records_of(sample.base, false, in_turns);
    const auto test = records_of(sample.test, true, in_turns);
    const report::Diff diff = diff_of(base, test, static_cast<std::uint64_t>(i));
    PACELINE_CHECK((diff.order == report::RunOrder::kInterleaved) == in_turns);
    const auto& rows = diff.rows;
    bool by_steps = false;
    for (std::size_t c = 0; c < kCases; ++c) {
      by_steps = by_steps || steps_differ(sample.base[c], sample.test[c]);
    }
    shares.by_steps += by_steps ? 1 : 0;
    shares.significant += std::any_of(rows.begin(), rows.end(),
                                      [](const auto& r) { return *r.corrected_p < kSignificance; })
                              ? 1
                              : 0;
    shares.claimed += std::any_of(rows.begin(), rows.end(), is_claimed) ? 1 : 0;
    shares.first_slower += rows[0].verdict == report::Verdict::kSlower ? 1 : 0;
  }
  for (double* share :
       {&shares.significant, &shares.claimed, &shares.by_steps, &shares.first_slower}) {
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
      kComparisons, kCases, "runs", "order", "attainable", "p < 5 %", "claimed", "by steps");
  for (const auto& [runs, paired] : {std::pair<std::size_t, bool>{6, true},
                                     {8, true},
                                     {10, true},
                                     {12, true},
                                     {5, false},
                                     {8, false}}) {
    const Shares shares = compare({}, runs, paired, 0);
    fmt::print("{:>6} {:>9} {:>11.1f} {:>8.1f} {:>8.1f} {:>9.1f}\n", runs,
               paired ? "in turns" : "apart", attainable(runs, paired), shares.significant,
               shares.claimed, shares.by_steps);
  }
}

void print_power() {
  constexpr double kPlanted = 0.01;
  fmt::print(
      "\n1 % slower in one of {} cases: found so many times in 100\n"
      "{:>12} {:>6} {:>6}\n",
      kCases, "run scatter", "runs", "found");
  for (const double run : {0.002, 0.003, 0.005, 0.007, 0.01}) {
    const Scatter scatter{.run = run};
    // What the line "power" says under a table of many runs.
    constexpr std::size_t kMany = 2000;
    Random random(7);
    const Sample many = simulate(random, scatter, kMany, 0);
    const std::size_t runs =
        *diff_of(records_of(many.base, false, true), records_of(many.test, true, true), 7)
             .runs_for_power;
    fmt::print("{:>10.1f} % {:>6} {:>6.1f}\n", 100 * run, runs,
               compare(scatter, runs, true, kPlanted).first_slower);
  }
}

}  // namespace paceline::aa
