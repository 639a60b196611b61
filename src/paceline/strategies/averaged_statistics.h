// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "paceline/strategies/plan_words.h"

namespace paceline::strategies {

/// The name of the buffer that holds the statistics of all modules, in the order of the modules.
inline constexpr std::string_view kStatistics = "statistics";

/// The largest number of steps from one average of the statistics to the next.
inline constexpr Step kLongestStatisticsInterval = 500;

/// Averages the running means and variances of batch norm, which forward passes update. This is
/// added to a strategy for the parameters.
///
///   rounds                     1 in every H-th step, in parallel with backward
///   bytes sent, rank and step  2 (P-1)/P S / H, S = bytes of the statistics
///   extra memory, rank         none: the plan's buffer holds the statistics
///   guarantee                  after every H-th step the ranks that train hold
///                              the mean of their statistics
///
/// `elements` has the number of statistics of each module, by ModuleId; `type` is their type.  Only
/// the next forward pass of a module waits for the average of its statistics.  Without the average
/// each rank evaluates with the statistics of its own data only, as ranks of BlueFog do
/// (arXiv:2111.04287).
std::unique_ptr<Planner> make_averaged_statistics(std::vector<Elements> elements, DType type,
                                                  Step every, std::unique_ptr<Planner> parameters);

}  // namespace paceline::strategies
