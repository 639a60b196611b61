// SPDX-License-Identifier: Apache-2.0
// compare_records RECORDS TEST BASE LIMIT: for each network in the record
// file, the ratio of step times of the cases whose strategy begins with TEST
// to those that begin with BASE, paired run by run, with its interval, and
// whether the interval's far end decides that the ratio is LIMIT or less.
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/record/store.h"
#include "paceline/report/cases.h"
#include "paceline/stats/interval.h"

namespace {

using paceline::UsageError;
using paceline::record::RunRecord;
using Steps = std::vector<double>;

constexpr std::size_t kFewestPairs = 10;

// Step times by run of the one case of `group` whose strategy begins so.
std::map<int, Steps> steps_by_run(const paceline::report::CaseGroup& group,
                                  const std::string& strategy) {
  std::map<int, Steps> by_run;
  for (const auto& one : group.cases) {
    if (!one.configuration().strategy.starts_with(strategy)) {
      continue;
    }
    for (const RunRecord* run : one.measured()) {
      if (!by_run.emplace(run->run, paceline::report::slowest_step_s(*run))
               .second) {
        throw UsageError(fmt::format(
            "two cases of {} begin with '{}'", group.model, strategy));
      }
    }
  }
  return by_run;
}

std::string decide(const paceline::stats::Estimate& ratio, double limit) {
  if (ratio.runs < kFewestPairs || !ratio.interval) {
    return fmt::format("undecided: {} pairs, at least {} are needed",
                       ratio.runs,
                       kFewestPairs);
  }
  if (ratio.interval->high <= limit) {
    return fmt::format("yes: at most {}", limit);
  }
  if (ratio.interval->low > limit) {
    return fmt::format("no: above {}", limit);
  }
  return fmt::format("undecided at {}", limit);
}

void compare(const paceline::report::CaseGroup& group,
             const std::string& test,
             const std::string& base,
             double limit) {
  const auto tested = steps_by_run(group, test);
  const auto based = steps_by_run(group, base);
  std::vector<Steps> numerator;
  std::vector<Steps> denominator;
  for (const auto& [run, steps] : tested) {
    if (const auto other = based.find(run); other != based.end()) {
      numerator.push_back(steps);
      denominator.push_back(other->second);
    }
  }
  const auto ratio = paceline::stats::paired_ratio(numerator, denominator);
  if (!ratio) {
    throw UsageError(fmt::format(
        "{}: no run holds both '{}' and '{}'", group.model, test, base));
  }
  const std::string interval =
      ratio->interval
          ? fmt::format(
                "[{:.3f}, {:.3f}]", ratio->interval->low, ratio->interval->high)
          : "no interval";
  fmt::print("{:<10} {} / {}: {:.3f} {} over {} pairs; {}\n",
             group.model,
             test,
             base,
             ratio->value,
             interval,
             ratio->runs,
             decide(*ratio, limit));
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() != 4) {
    throw UsageError("usage: compare_records RECORDS TEST BASE LIMIT");
  }
  const auto file = paceline::record::read_records(arguments[0]);
  for (const auto& group : paceline::report::group_tables(file.records)) {
    compare(group, arguments[1], arguments[2], std::stod(arguments[3]));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    fmt::print(stderr, "compare_records: {}\n", error.what());
    return 2;
  }
}
