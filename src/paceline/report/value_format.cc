// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/value_format.h"

#include <cmath>

#include <fmt/format.h>

namespace paceline::report {
namespace {

// Whether all samples are equal. The interval then has only the width of rounding errors.
bool has_zero_width(const stats::Interval& interval) {
  constexpr double kRounding = 1e-12;
  return interval.high - interval.low <= kRounding * std::abs(interval.high);
}

}  // namespace

int decimals_for(double smallest) {
  int decimals = 3;
  for (double limit = 10; decimals > 0 && smallest >= limit; limit *= 10) {
    --decimals;
  }
  return decimals;
}

std::string ValueFormat::show(double value) const {
  return with_sign ? fmt::format("{:+.{}f}", value * factor, decimals)
                   : fmt::format("{:.{}f}", value * factor, decimals);
}

std::string ValueFormat::show_small(double value) const {
  constexpr int kMostDecimals = 9;
  constexpr double kThreeFigures = 99.5;
  ValueFormat finer = *this;
  // The value in units of the last digit shown.
  double last = value * factor * std::pow(10, decimals);
  while (last > 0 && last < kThreeFigures && finer.decimals < kMostDecimals) {
    ++finer.decimals;
    last *= 10;
  }
  return finer.show(value);
}

std::string ValueFormat::show(const std::optional<double>& value) const {
  return value ? show(*value) : std::string(kMissingValueText);
}

std::string ValueFormat::show(const std::optional<stats::Estimate>& estimate) const {
  if (!estimate) {
    return std::string(kMissingValueText);
  }
  const auto& interval = estimate->interval;
  if (!interval || has_zero_width(*interval)) {
    return show(estimate->value);
  }
  const bool within = estimate->basis == stats::IntervalBasis::kWithinRun;
  return fmt::format("{} [{}, {}]{}", show(estimate->value), show(estimate->interval->low),
                     show(estimate->interval->high), within ? within_run_mark : "");
}

ValueFormat time_format(std::optional<double> shortest_s) {
  ValueFormat format{"ms", 1e3, 0};
  if (shortest_s && *shortest_s >= 10) {
    format = {"s", 1, 0};
  } else if (shortest_s && *shortest_s < 1e-4) {
    format = {"us", 1e6, 0};
  }
  format.decimals = decimals_for(shortest_s.value_or(0) * format.factor);
  return format;
}

ValueFormat percent_format() { return {"%", 100, 1}; }

}  // namespace paceline::report
