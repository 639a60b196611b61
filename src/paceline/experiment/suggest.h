// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paceline::experiment {

/// The known name that `text` most likely meant, or empty where none is near:
/// at most a third of its letters differ (insert, delete, change, swap).
std::string nearest(std::string_view text,
                    const std::vector<std::string>& known);

/// "did you mean X? Known: a, b, c" without the question where none is near.
std::string suggestion(std::string_view text,
                       const std::vector<std::string>& known);

}  // namespace paceline::experiment
