// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "paceline/records/run_record.h"

namespace paceline::report {

/// The tables for a terminal: one per model and batch size, with what its
/// cases share above it, and below it what the columns mean, against what
/// efficiency was taken, and every warning.
std::string render_table(std::span<const records::RunRecord> records);

}  // namespace paceline::report
