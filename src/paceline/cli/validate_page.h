// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "paceline/validate/judged.h"

namespace paceline::cli {

/// One HTML file: for each table predicted against published, and the
/// residuals.
std::string validate_page(std::span<const validate::Judged> cells);

}  // namespace paceline::cli
