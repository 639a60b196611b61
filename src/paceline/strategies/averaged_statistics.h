// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "paceline/strategies/plan_words.h"

namespace paceline::strategies {

/// The buffer of statistics, those of a module after those of the one before.
inline constexpr std::string_view kStatistics = "statistics";

/// Steps from one average of statistics to the next, at most.
inline constexpr Step kLongestStatisticsInterval = 500;

/// Averages what forward passes keep of their inputs, the running means and variances of batch
/// norm, beside any strategy of the parameters.
///
///   rounds                     1 in every H-th step, beside backward
///   bytes sent, rank and step  2 (P-1)/P S / H, S = bytes of the statistics
///   extra memory, rank         none: the plan's buffer holds the statistics
///   guarantee                  after every H-th step the ranks that train hold
///                              the mean of their statistics
///
/// `elements`: of each module, by ModuleId, of type `type`.  The next forward
/// pass of a module waits for its statistics, nothing else does.
/// Without it each rank normalizes its evaluations by what it has seen alone, and so do BlueFog's
/// (arXiv:2111.04287).
std::unique_ptr<Planner> make_averaged_statistics(std::vector<Elements> elements, DType type,
                                                  Step every, std::unique_ptr<Planner> parameters);

}  // namespace paceline::strategies
