// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "paceline/report/text.h"
#include "paceline/stats/interval.h"

namespace paceline::report {

/// The unit and the number of decimals of a column, the same in all of its rows.
struct ValueFormat {
  std::string_view unit = "";
  double factor = 1;  // shown number = value * factor
  int decimals = 0;
  std::string_view within_run_mark = "";  // see IntervalKinds::mark
  bool with_sign = false;                 // whether positive values get a plus sign, "+2.1"

  std::string show(double value) const;
  /// Shows at least three significant digits, for a value that may be far below the others of its
  /// row.
  std::string show_small(double value) const;
  std::string show(const std::optional<double>& value) const;
  /// Shows the estimate with its interval if it has one: "90.9 [85.0, 95.4]".
  std::string show(const std::optional<stats::Estimate>& estimate) const;
};

/// Returns the number of decimals, at most 3, that shows four digits of `smallest`.
int decimals_for(double smallest);

/// Returns the format that shows four digits of `shortest_s` seconds, in s, ms or us.
ValueFormat time_format(std::optional<double> shortest_s);

/// Returns the format that shows fractions in percent.
ValueFormat percent_format();

}  // namespace paceline::report
