// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "paceline/plan/comm_plan.h"

namespace paceline::rank {

/// Returns the value slices of the parameters for which `holds` is true, in ascending order.  Each
/// slice extends up to the next parameter, so that parts of it begin where parameters do, at whole
/// vectors.
std::vector<plan::Slice> parameter_slices(const plan::Setup& setup,
                                          const std::function<bool(std::size_t parameter)>& holds);

}  // namespace paceline::rank
