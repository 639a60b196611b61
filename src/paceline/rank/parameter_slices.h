// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "paceline/plan/comm_plan.h"

namespace paceline::rank {

/// The values of the parameters that `holds` says, ascending; each with the elements up to the next
/// parameter, so that parts of a slice begin where parameters do, at whole vectors.
std::vector<plan::Slice> parameter_slices(const plan::Setup& setup,
                                          const std::function<bool(std::size_t parameter)>& holds);

}  // namespace paceline::rank
