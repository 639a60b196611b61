// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "paceline/validate/protocols.h"

namespace paceline::validate {

/// How far predictions are off, in percent of the published throughput.
struct Score {
  std::size_t cells = 0;
  double mean = 0, median = 0, p90 = 0, worst = 0;  // of absolute errors
  const Cell* worst_cell = nullptr;
};

/// Of the cells that `of` picks.
Score score(const Errors& errors, const std::function<bool(const Cell&)>& of);
Score score(const Errors& errors);

/// On more than one node: the rows of one node repeat one experiment.
bool multi_node(const Cell& cell);

}  // namespace paceline::validate
