// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/report/summary.h"

namespace paceline::report {

/// What all cases of the table have in common: "resnet18, batch 8 per rank:
/// fp32 on cpu, gloo".
std::string heading_of(const Table& table);

}  // namespace paceline::report
