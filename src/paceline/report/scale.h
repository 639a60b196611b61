// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/report/summary.h"

namespace paceline::report {

/// What stands where a figure is missing.
inline constexpr std::string_view kMissing = "-";

/// Unit and decimals of a column, chosen once for all of its rows so that they
/// can be compared by eye.
struct Scale {
  std::string_view unit = "";
  double factor = 1;  // shown = value * factor
  int decimals = 0;
  std::string_view within_run_mark = "";  // see Bases::mark

  std::string show(double value) const;
  /// Three figures at least, for what may be far below the rest of the row.
  std::string show_small(double value) const;
  std::string show(const std::optional<double>& value) const;
  /// With its interval where it has one: "90.9 [85.0, 95.4]".
  std::string show(const std::optional<stats::Estimate>& estimate) const;
};

/// Four figures of `shortest_s` seconds, in s, ms or us.
Scale time_scale(std::optional<double> shortest_s);

/// Four figures of the shortest median step, in s, ms or us.
Scale time_scale(const std::vector<Row>& rows);

/// Four figures of the lowest rate per rank, examples per second.
Scale rate_scale(const std::vector<Row>& rows);

/// Shares of 1 in percent.
Scale percent_scale();

}  // namespace paceline::report
