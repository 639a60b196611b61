// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/report/diff.h"

namespace paceline::report {

/// Returns the names of the formats: those of output_format_names(), and `ddp`, which is what
/// PyTorch's diff.py prints.
std::vector<std::string> diff_format_names();

/// Renders the comparison in the format called `format`.
std::string render_diff(std::string_view format, const Diff& diff);

/// Returns exactly what diff.py of PyTorch's DDP benchmark prints for the ddp_reports() of both
/// sides.  Reports of several bucket sizes or backends are paired by position.
std::string render_diff_ddp(const Diff& diff);

}  // namespace paceline::report
