// SPDX-License-Identifier: Apache-2.0
#include "paceline/front/narrowing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/report/cases.h"
#include "paceline/report/diff_runs.h"
#include "paceline/stats/quantile.h"
#include "paceline/stats/sequential.h"

namespace paceline::front {
namespace {

constexpr double kUnknownWidth = std::numeric_limits<double>::infinity();

double half_width_of(const std::vector<double>& log_medians) {
  const auto interval = stats::sequential_interval(log_medians);
  return interval ? std::expm1((interval->high - interval->low) / 2) : kUnknownWidth;
}

bool is_too_wide(const CaseWidth& one, const NarrowingOptions& wanted) {
  return !one.failed && one.half_width > wanted.within;
}

}  // namespace

std::vector<CaseWidth> widths_of(std::span<const records::RunRecord> records) {
  const std::vector<report::CaseRecords> cases = report::group_cases(records);
  const std::vector<std::string> names = report::unique_labels(cases);
  std::vector<CaseWidth> widths;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CaseWidth& one = widths.emplace_back();
    one.key = cases[i].configuration().key();
    one.name = names[i];
    for (const records::RunRecord* run : cases[i].runs) {
      one.next_run = std::max(one.next_run, run->run + 1);
    }
    one.failed = !report::has_steps(*cases[i].runs.back());
    const std::vector<double> logs = report::log_medians(
        report::all_runs(report::steps_by_run(cases[i], report::StepTime::kMedian)));
    one.runs = logs.size();
    one.median_s = logs.empty() ? 0 : std::exp(stats::median(logs));
    one.half_width = half_width_of(logs);
  }
  return widths;
}

const CaseWidth* widest(std::span<const CaseWidth> widths, const NarrowingOptions& wanted) {
  const CaseWidth* found = nullptr;
  for (const CaseWidth& one : widths) {
    if (is_too_wide(one, wanted) && one.next_run < wanted.most_runs &&
        (found == nullptr || one.half_width > found->half_width ||
         (one.half_width == found->half_width && one.runs < found->runs))) {
      found = &one;
    }
  }
  return found;
}

std::string interval_width_text(std::span<const CaseWidth> widths, const NarrowingOptions& wanted) {
  const auto wide =
      std::ranges::count_if(widths, [&](const CaseWidth& one) { return is_too_wide(one, wanted); });
  const auto last = std::ranges::max_element(
      widths, {}, [](const CaseWidth& one) { return one.failed ? -1 : one.half_width; });
  if (last == widths.end() || last->failed) {
    return "no case has a figure";
  }
  const std::string width =
      std::isfinite(last->half_width)
          ? fmt::format("{:.3g} ms within {:.1f} %", last->median_s * 1e3, 100 * last->half_width)
          : "no interval";
  const auto failed = std::ranges::count_if(widths, &CaseWidth::failed);
  return fmt::format("{}{}; widest: {}, {} after {}",
                     wide == 0
                         ? fmt::format("every {}case is within {:g} %", failed > 0 ? "other " : "",
                                       100 * wanted.within)
                         : fmt::format("{} of {} not within {:g} %", wide,
                                       counted(std::ssize(widths), "case"), 100 * wanted.within),
                     failed == 0 ? "" : fmt::format(", {} failed", failed), last->name, width,
                     counted(std::int64_t(last->runs), "run"));
}

}  // namespace paceline::front
