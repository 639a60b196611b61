// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/strategies/strategy.h"

// Errors of predictions of published throughputs, by family of strategies: the contents of
// data/error_table.json, which the study of the published tables (studies/published_tables) writes.

namespace paceline::predict {

/// The conditions of a family's published experiments, as the files of clusters/ describe them.
struct ValidatedRange {
  std::string device;
  double least_bytes_per_s = 0, most_bytes_per_s = 0;  // of a host's network link
  plan::Rank most_ranks = 0;
  std::string engine;
  std::vector<std::string> optimizers;
  bool messages = false;  // whether its strategies send messages
  /// The bytes/s of a message after the engine's start time; 0: the time of messages follows from
  /// the links.
  double message_bytes_per_s = 0;
};

/// A family of strategies whose predictions rest on the same parts of the model: merged, scheduled,
/// servers, reducer, neighbors.
struct FamilyErrors {
  std::string family;
  std::vector<std::string> strategies{};  // parts of their texts, as in StrategySpec::has
  /// The absolute error of the throughput: the mean, and the quantile `ErrorTable::level`.
  double mean_percent = 0, p90_percent = 0;
  int cells = 0;      // number of published numbers that were compared
  std::string how{};  // the data compared, and what the fit left out
  /// The quantile `ErrorTable::level` of the error of the ratio between two strategies of the
  /// family on one job, and the number of compared pairs.
  double pair_p90_percent = 0;
  int pairs = 0;
  bool pairs_of_bucket_sizes = false;  // whether a pair differs in bucket sizes
  ValidatedRange range{};
};

struct ErrorTable {
  std::string source;
  double level = 0;
  std::vector<FamilyErrors> families;
};

const ErrorTable& error_table();

/// Returns the family of a strategy; null if no published table has such a strategy.
const FamilyErrors* family_of(const strategies::StrategySpec& strategy);

/// Returns the family with the largest 90th percentile.
const FamilyErrors& largest_errors();

}  // namespace paceline::predict
