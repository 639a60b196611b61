// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iterator>
#include <string>
#include <vector>

#include "paceline/validate/constants.h"
#include "paceline/validate/judged.h"
#include "paceline/validate/score.h"

// The lines in which the examination says what it found.

namespace paceline::validate {

using Text = std::back_insert_iterator<std::string>;

/// Above scores.
void write_header(const std::string& title, Text out);

/// Nothing where there are no cells.
void write_score(const std::string& name, const Score& score, Text out);

/// Of each family, of all, and of those on more than one host; cells of one
/// group are off alike.
void write_scores(const Errors& errors, const Grouping& group, Text out);

/// Every cell: predicted, published, error.
void write_cells(const Errors& errors, Text out);

/// The `most` worst cells, and why.
void write_worst(const Errors& errors, std::size_t most, Text out);

/// `rows`: each comparison too.
void write_bucket_differences(const std::vector<BucketDifference>& all,
                              bool rows,
                              Text out);

/// The table's constants, fixed numbers and switches, and how many cells have
/// decided.
void write_freedom(Table table, const Constants& constants, Text out);

}  // namespace paceline::validate
