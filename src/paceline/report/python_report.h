// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/report/fields.h"

namespace paceline::report {

/// What `paceline.reports.NAME` of the Python package prints of `input`.
/// Throws WorldError where it cannot be started or fails.
std::string python_report(const std::string& name, const std::vector<std::string>& arguments,
                          const Json& input);

}  // namespace paceline::report
