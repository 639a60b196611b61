// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace paceline::cli {

/// Whether both paths lead to one file.
bool is_same_file(const std::string& a, const std::string& b);

/// Throws UsageError where a file stands in the list twice: its runs would
/// count twice, and prove what they do not.
void refuse_repeats(const std::vector<std::string>& files);

}  // namespace paceline::cli
