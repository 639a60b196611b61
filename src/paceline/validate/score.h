// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "paceline/stats/interval.h"
#include "paceline/validate/left_out.h"
#include "paceline/validate/protocols.h"

namespace paceline::validate {

/// How far one prediction is off, in percent of the published throughput.
struct Miss {
  double error = 0;
  std::string group{};  // those of one group are off alike
  std::string id{};     // of the cell
};

/// How far predictions are off.
struct Score {
  std::size_t cells = 0;
  double mean = 0, median = 0, p90 = 0;  // of absolute errors
  /// Where the mean would lie, 95 %, had other groups of the kind been
  /// published: whole groups are drawn with replacement.  Absent for fewer than
  /// 8, which would be held within too narrow bounds.
  std::optional<stats::Interval> interval{};
  double worst = 0;  // the error that is largest, with its sign
  std::string worst_id{};
};

Score score(std::span<const Miss> misses);

/// Of the cells that `of` picks.
Score score(const Errors& errors,
            const std::function<bool(const Cell&)>& of,
            const Grouping& group = series_of);
Score score(const Errors& errors, const Grouping& group = series_of);

/// "1.6-2.4", or nothing.
std::string interval_words(const std::optional<stats::Interval>& interval);

/// On more than one host: the rows of one host repeat one experiment.
bool multi_node(const Cell& cell);

/// Whether the runs behind the published number have a standard deviation
/// above 5 % (flag `spread_above_5_percent` of the tables).
bool is_scattered(const Cell& cell);

}  // namespace paceline::validate
