// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/validate/examination.h"

namespace paceline::cli {

/// What an examination found as one HTML file: how much cells have decided; for
/// each table predicted against published, and the residuals; and the same of
/// the cells that fits had not seen, where protocols were asked for.
std::string validate_page(const validate::Examination& examination);

}  // namespace paceline::cli
