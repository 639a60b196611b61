// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/predict/advise.h"

// What `paceline advise` prints.

namespace paceline::cli {

/// The first `top` rows (0: all), what their marks mean, and what cannot be.
std::string rows_text(const predict::AdviceTable& table, int top);

/// Which bucket size each strategy with buckets should have.
std::string buckets_text(const predict::AdviceTable& table);

}  // namespace paceline::cli
