// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "aa/aa.h"
#include "aa/simulate.h"
#include "paceline/base/error.h"
#include "paceline/records/comm_record.h"
#include "paceline/report/operations.h"

namespace paceline::aa {
namespace {

constexpr int kTables = 2000;
constexpr int kSizes = 40;
constexpr std::array kOperations{"all-reduce", "all-gather", "broadcast"};
// Half of a run's variance is common to all of its sizes.
const double kCommonShare = std::sqrt(0.5);

// 1 KiB, 1.5 KiB, 2 KiB, ... 768 MiB.
std::int64_t size_at(int index) {
  return (index % 2 == 0 ? std::int64_t{1024} : std::int64_t{1536}) << (index / 2);
}

bool is_planted(std::size_t operation, std::int64_t bytes) {
  return operation == 0 && bytes >= 1 << 20 && bytes < 16 << 20;
}

std::string minute(int number) {
  return fmt::format("2026-05-01T{:02}:{:02}:00Z", number / 60, number % 60);
}

struct Sides {
  std::vector<records::CommRecord> base, test;
};

Sides simulate(Random& random, int runs, double planted) {
  Scatter scatter{.run = 0.015, .steps = 11, .spikes = 0.03};
  Sides sides;
  for (int run = 0; run < runs; ++run) {
    for (const bool test : {false, true}) {
      const double common = random.normal();
      for (std::size_t op = 0; op < kOperations.size(); ++op) {
        for (int i = 0; i < kSizes; ++i) {
          records::CommRecord one;
          one.started_at = minute(2 * run + (test ? 1 : 0));
          one.operation = kOperations.at(op);
          one.bytes = size_at(i);
          one.ranks = 8;
          const double seconds = (2e-5 + static_cast<double>(one.bytes) * 1e-11) *
                                 (test && is_planted(op, one.bytes) ? 1 + planted : 1);
          for (const double step : simulate_steps(random, scatter, seconds,
                                                  kCommonShare * (common + random.normal()))) {
            one.iteration_ns.push_back(std::llround(step * 1e9));
          }
          (test ? sides.test : sides.base).push_back(std::move(one));
        }
      }
    }
  }
  return sides;
}

bool claims(const report::DiffRow& row) {
  return row.verdict == report::Verdict::kSlower || row.verdict == report::Verdict::kFaster;
}

struct TableShares {
  double any = 0;      // some claim
  double planted = 0;  // the planted range is claimed to be slower
  double others = 0;   // some other range is claimed
};

TableShares compare(int runs, double planted) {
  TableShares shares;
  for (int i = 0; i < kTables; ++i) {
    Random random(276, static_cast<std::uint64_t>(i));
    const Sides sides = simulate(random, runs, planted);
    const report::OperationSides paired = report::operation_sides(sides.base, sides.test);
    const report::Diff diff = report::diff_operations(
        paired,
        {.seed = static_cast<std::uint64_t>(i), .most_arrangements = 1U << 12U, .draws = 1'999});
    PACELINE_CHECK(
        std::ranges::count(diff.rows, "all-reduce 1 MiB to 12 MiB", &report::DiffRow::label) == 1);
    bool found = false;
    bool others = false;
    for (const report::DiffRow& row : diff.rows) {
      const bool is_the_range = row.label == "all-reduce 1 MiB to 12 MiB";
      const bool claimed = claims(row);
      found = found || (is_the_range && claimed && planted > 0);
      others = others || (claimed && !(is_the_range && planted > 0));
    }
    shares.planted += found ? 1 : 0;
    shares.others += others ? 1 : 0;
    shares.any += found || others ? 1 : 0;
  }
  for (double* share : {&shares.any, &shares.planted, &shares.others}) {
    *share *= 100.0 / kTables;
  }
  return shares;
}

}  // namespace

void print_tables() {
  fmt::print(
      "{} simulated tables of {} sizes x {} operations, compared by range of sizes;\nruns scatter "
      "by 1.5 %, half of the variance common to a run's sizes\n{:>10} {:>6} {:>11} {:>15} {:>14}\n",
      kTables, kSizes, kOperations.size(), "planted", "runs", "any claim %", "found planted %",
      "other claims %");
  for (const auto& [planted, runs] : {std::pair{0.0, 6}, {0.0, 12}, {0.03, 12}}) {
    const TableShares shares = compare(runs, planted);
    fmt::print("{:>8.0f} % {:>6} {:>11.1f} {:>15.1f} {:>14.1f}\n", 100 * planted, runs, shares.any,
               shares.planted, shares.others);
  }
}

}  // namespace paceline::aa
