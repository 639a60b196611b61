// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "paceline/plan/comm_plan.h"

namespace paceline::rank {

/// Returns the value slices of the parameters for which `holds` is true.
std::vector<plan::Slice> value_slices(const plan::Setup& setup,
                                      const std::function<bool(std::size_t parameter)>& holds);

/// As value_slices(), in ascending order and with the padding after each parameter: each slice
/// extends up to the next parameter, so that parts of it begin where parameters do, at whole
/// vectors.
std::vector<plan::Slice> padded_value_slices(
    const plan::Setup& setup, const std::function<bool(std::size_t parameter)>& holds);

}  // namespace paceline::rank
