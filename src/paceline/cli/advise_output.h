// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "paceline/predict/advise.h"
#include "paceline/predict/codec_advice.h"
#include "paceline/predict/placements.h"
#include "paceline/report/command_output.h"

// What `paceline advise` prints: tables for readers (advise_tables.cc) and
// values (advise_values.cc).

namespace paceline::cli {

/// The first `top` strategies (0: all) with what their marks mean and what
/// cannot be; the bucket size and partition that each should have; whether
/// codecs pay whose coding times were measured.
std::vector<report::Table> advice_tables(const predict::AdviceTable& table,
                                         const predict::CodecTable& codecs,
                                         int top);

/// The first `top` placements (0: all) with how sure they are, and what the
/// first one does with each table.
std::vector<report::Table> placement_tables(
    std::span<const predict::PlacedTables> ranked,
    const strategies::EmbeddingJob& job,
    int top);

/// Every strategy, also those that cannot be, which have `errors`.
report::Table advice_csv(const predict::AdviceTable& table);

/// {"version": 1, ...}: every value of the tables.
report::Json advice_json(const predict::AdviceTable& table,
                         const predict::CodecTable& codecs);

/// Every placement.
report::Table placements_csv(std::span<const predict::PlacedTables> ranked);

/// {"version": 1, "placements": [...]}
report::Json placements_json(std::span<const predict::PlacedTables> ranked);

}  // namespace paceline::cli
