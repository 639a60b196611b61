// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "paceline/strategies/strategy.h"

// How far predictions were off where published tables could tell: the errors
// that a family of strategies has earned (docs/simulator.md, Examination).

namespace paceline::predict {

inline constexpr double kExaminedLevel = 0.9;

/// Strategies whose predictions rest on the same parts of the model.
struct Examined {
  std::string_view family;
  /// Absolute errors of the throughput: their mean, and what `kExaminedLevel`
  /// of them are below.
  double mean_percent = 0, p90_percent = 0;
  int cells = 0;         // published numbers that were compared
  std::string_view how;  // on what, and what was left out of the fit
  /// Errors of the ratio of two of the strategies on one job: what nine of ten
  /// are below, and how many there are.
  double apart_percent = 0;
  int pairs = 0;
  bool of_sizes = false;  // the pairs merge gradients into more or fewer
};

/// merged, scheduled, servers, reducer, neighbors.
std::span<const Examined> examined();

/// The family of a strategy; null: nothing published tells of it, and the
/// largest error of the table is as good as any.
const Examined* family_of(const strategies::StrategySpec& strategy);

/// The family of which nine of ten errors are below the largest number.
const Examined& least_certain();

}  // namespace paceline::predict
