// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "plan/toy_math.h"

namespace paceline::plan {

/// What the kernels of codecs write, in doubles; nothing for other kernels. What is random there is
/// decided by a rule here.
std::optional<std::vector<Values>> toy_codec(const Kernel& work, const std::vector<Values>& reads,
                                             Step draw);

}  // namespace paceline::plan
