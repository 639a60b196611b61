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

/// Returns the slices of value_slices() in ascending order, each extended by the padding up to the
/// next parameter.  Slices that are cut at parameters therefore begin at whole SIMD vectors.
std::vector<plan::Slice> padded_value_slices(
    const plan::Setup& setup, const std::function<bool(std::size_t parameter)>& holds);

}  // namespace paceline::rank
