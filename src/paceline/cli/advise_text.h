// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "paceline/predict/advise.h"
#include "paceline/predict/codec_advice.h"
#include "paceline/predict/placements.h"

// What `paceline advise` prints.

namespace paceline::cli {

/// The first `top` rows (0: all), what their marks mean, and what cannot be.
std::string rows_text(const predict::AdviceTable& table, int top);

/// Whether codecs pay whose coding times were measured; empty: none were.
std::string codecs_text(const predict::CodecTable& table);

/// Which bucket size each strategy with buckets should have.
std::string sizes_text(const predict::AdviceTable& table);

/// The first `top` placements (0: all), how sure they are, and what the first
/// one does with each table.
std::string placements_text(std::span<const predict::PlacedTables> ranked,
                            const strategies::EmbeddingJob& job,
                            int top);

}  // namespace paceline::cli
