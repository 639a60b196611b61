// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/predict/learn.h"
#include "paceline/report/table.h"

namespace paceline::cli {

/// What was fitted, and how well it explains each measured case.
report::Document learned_tables(const predict::Learned& learned);

}  // namespace paceline::cli
