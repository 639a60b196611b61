// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "paceline/report/comm_table.h"
#include "paceline/report/diff_steps.h"
#include "paceline/report/operations.h"
#include "paceline/stats/permutation.h"
#include "paceline/stats/quantile.h"
#include "paceline/stats/sequential.h"

namespace paceline::report {
namespace {

/// Two sizes of one operation that follow each other.
struct Neighbors {
  const SizeSeries* smaller = nullptr;
  const SizeSeries* larger = nullptr;
};

// Whether the label is the operation's name and a range of sizes: what follows the name of another
// operation that begins alike is no number.
bool is_range_of(const std::string& label, const std::string& operation) {
  const std::string begin = operation + " ";
  return label.starts_with(begin) && label.size() > begin.size() && label[begin.size()] >= '0' &&
         label[begin.size()] <= '9';
}

// Whether some range of the operation is proven to have changed.
bool has_changed(const Diff& diff, const std::string& operation) {
  return std::ranges::any_of(diff.rows, [&](const DiffRow& row) {
    return is_change(row.verdict) && is_range_of(row.label, operation);
  });
}

std::vector<Neighbors> neighbors_of(const Diff& diff, const OperationSides& sides) {
  std::vector<Neighbors> all;
  for (std::size_t i = 1; i < sides.series.size(); ++i) {
    const SizeSeries& smaller = sides.series[i - 1];
    const SizeSeries& larger = sides.series[i];
    if (smaller.operation == larger.operation && has_changed(diff, larger.operation)) {
      all.push_back({&smaller, &larger});
    }
  }
  return all;
}

// The logarithm of how much longer the larger size takes, by run.
std::vector<stats::Unit> jump_units(const std::vector<Neighbors>& all, bool interleaved) {
  std::map<std::pair<int, bool>, stats::Unit> units;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const bool test : {false, true}) {
      const auto member = test ? &SizeSeries::test_ns : &SizeSeries::base_ns;
      for (const auto& [run, ns] : all[i].larger->*member) {
        const auto& smaller = all[i].smaller->*member;
        const auto before = smaller.find(run);
        if (before == smaller.end()) {
          continue;
        }
        stats::Unit& unit = units[{run, test}];
        unit.block = interleaved ? static_cast<std::size_t>(run) : 0;
        unit.test = test;
        unit.values.resize(all.size(), stats::kNoValue);
        unit.values[i] = std::log(ns / before->second);
      }
    }
  }
  std::vector<stats::Unit> result;
  for (auto& [key, unit] : units) {
    result.push_back(std::move(unit));
  }
  return result;
}

// The chance of so large a jump were there none, over all neighbors.
std::vector<double> corrected_p_of(const Diff& diff, const std::vector<Neighbors>& all,
                                   const std::vector<stats::Unit>& units) {
  if (!diff.options.until) {
    return stats::permutation_test(units, {.most_arrangements = diff.options.most_arrangements,
                                           .draws = diff.options.draws,
                                           .seed = diff.options.seed})
        .corrected_p;
  }
  // A test that holds at whatever pair the runs end.
  std::vector<double> p;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::map<std::size_t, std::pair<double, double>> pairs;  // base, test
    for (const stats::Unit& unit : units) {
      auto& pair = pairs.try_emplace(unit.block, stats::kNoValue, stats::kNoValue).first->second;
      (unit.test ? pair.second : pair.first) = unit.values[i];
    }
    std::vector<double> differences;
    for (const auto& [run, pair] : pairs) {
      if (!std::isnan(pair.first) && !std::isnan(pair.second)) {
        differences.push_back(pair.second - pair.first);
      }
    }
    const double evidence = stats::sequential_evidence(differences).value_or(0);
    p.push_back(std::min(1.0, static_cast<double>(all.size()) / evidence));
  }
  return p;
}

double median_of(const std::map<int, double>& times) {
  std::vector<double> values;
  for (const auto& [run, ns] : times) {
    values.push_back(ns);
  }
  return stats::median(values);
}

double ratio_of(const SizeSeries& series) {
  return median_of(series.test_ns) / median_of(series.base_ns);
}

}  // namespace

std::vector<std::string> jumps_of(const Diff& diff, const OperationSides& sides) {
  const std::vector<Neighbors> all = neighbors_of(diff, sides);
  const auto units = jump_units(all, diff.options.until || diff.order == RunOrder::kInterleaved);
  if (all.empty() || units.empty()) {
    return {};
  }
  const std::vector<double> corrected_p = corrected_p_of(diff, all, units);
  const double least = diff.options.margin() > 0 ? diff.options.margin() : kUsualChange;
  std::vector<std::string> jumps;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double before = ratio_of(*all[i].smaller);
    const double after = ratio_of(*all[i].larger);
    if (corrected_p[i] < diff.options.significance &&
        std::abs(std::log(after / before)) > std::log1p(least)) {
      jumps.push_back(
          fmt::format("{}: from {} to {} the test goes from {:.2f} to {:.2f} times the base, as "
                      "where one side chooses another algorithm or protocol",
                      all[i].larger->operation, size_text(all[i].smaller->bytes),
                      size_text(all[i].larger->bytes), before, after));
    }
  }
  return jumps;
}

}  // namespace paceline::report
