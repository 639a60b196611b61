// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/report/framework_tables.h"

namespace paceline::report {

/// "2n16d".
std::string place_of(const Devices& devices);

/// Which columns do not train the same, on any number of devices: their
/// parameter counts or FLOPs, or, where the same training was asked for, their
/// losses differ; and which do not say one of these, and why.
std::vector<Finding> mathematics(const FrameworkTable& table);

}  // namespace paceline::report
