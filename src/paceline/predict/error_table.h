// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/strategies/strategy.h"

// Errors of predictions on published throughputs by family of strategies: the contents of
// data/error_table.json, which the study of the published tables writes (studies/published_tables).

namespace paceline::predict {

/// Where the published cells of a family ran, as the files of clusters/ describe it.
struct ValidatedRange {
  std::string device;
  double least_bytes_per_s = 0, most_bytes_per_s = 0;  // of a host's network
  plan::Rank most_ranks = 0;
  std::string engine;
  std::vector<std::string> optimizers;
  bool messages = false;  // its strategies send messages
  /// The rate at which a message's bytes follow the engine's start; 0: the links price messages.
  double message_bytes_per_s = 0;
};

/// Strategies whose predictions rest on the same parts of the model: merged, scheduled, servers,
/// reducer, neighbors.
struct FamilyErrors {
  std::string family;
  std::vector<std::string> strategies{};  // by their parts, StrategySpec::has
  /// Absolute errors of the throughput: the mean, and the quantile of
  /// `ErrorTable::level`.
  double mean_percent = 0, p90_percent = 0;
  int cells = 0;      // published numbers that were compared
  std::string how{};  // on what, and what was left out of the fit
  /// The quantile of `ErrorTable::level` of the errors of the ratio of two strategies of the family
  /// on one job, and how many such pairs were compared.
  double pair_p90_percent = 0;
  int pairs = 0;
  bool pairs_of_bucket_sizes = false;  // a pair differs in bucket sizes
  ValidatedRange range{};
};

struct ErrorTable {
  std::string source;
  double level = 0;
  std::vector<FamilyErrors> families;
};

const ErrorTable& error_table();

/// The family of a strategy; null: no published table has such a strategy.
const FamilyErrors* family_of(const strategies::StrategySpec& strategy);

/// The family with the largest 90th percentile.
const FamilyErrors& largest_errors();

}  // namespace paceline::predict
