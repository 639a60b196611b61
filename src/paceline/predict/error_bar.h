// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "paceline/records/predicted.h"
#include "paceline/strategies/strategy.h"

namespace paceline::cluster {
struct Machine;
}  // namespace paceline::cluster

// Errors of predictions of published throughputs, by family of strategies: the contents of
// data/error_table.json, which the study of the published tables (studies/published_tables) writes.

namespace paceline::predict {

/// The conditions of a family's published experiments, as the files of clusters/ describe them.
struct ValidatedRange {
  std::string device;
  double least_bytes_per_s = 0, most_bytes_per_s = 0;  // rates of the hosts' network links
  plan::Rank most_ranks = 0;
  std::string engine;
  std::vector<std::string> optimizers;
  bool messages = false;         // whether the strategies of the family send messages
  bool fitted_messages = false;  // whether the times of messages are fits to the engine's own
};

/// A family of strategies whose predictions rest on the same parts of the model: merged, scheduled,
/// servers, reducer, neighbors.
struct FamilyErrors {
  std::string family;
  /// Strategy parts that its strategies have, as in StrategySpec::has.
  std::vector<std::string> strategies{};
  /// The absolute error of the throughput: the mean, and the quantile `ErrorTable::level`.
  double mean_percent = 0, p90_percent = 0;
  int cells = 0;      // number of published numbers that were compared
  std::string how{};  // which data were compared, and what the fit left out
  /// The quantile `ErrorTable::level` of the error of the ratio between two strategies of the
  /// family on one job, and the number of compared pairs.
  double pair_p90_percent = 0;
  int pairs = 0;
  bool pairs_of_bucket_sizes = false;  // whether some pairs differ only in bucket sizes
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

struct PredictRequest;

/// The error of a prediction, taken from the errors on published tables.
struct ErrorBar {
  /// The error of the step to either side, as a share of the step: nine of ten published results
  /// are within it.  Empty: the error is not known.
  std::optional<double> share{};
  bool validated = false;  // whether published results cover such a cluster and engine
  /// The family whose error it is; null: the caller gave the error.
  const FamilyErrors* of = nullptr;
  /// Why no published table covers this prediction, or why the error is not known; empty: neither
  /// applies.
  std::string why{};

  bool known() const { return share.has_value(); }
};

/// Returns the error bar of the request's family of strategies, if published results cover the
/// request's device, network, engine and number of ranks.  Otherwise returns the largest bar of all
/// families.  The bar has a reason but no share for embedding tables, and for layer times from a
/// roofline that no measurement scales.  It has neither if the request has a machine of its
/// own.  `machine` has the request's link costs.
ErrorBar error_bar_of(const PredictRequest& request, const cluster::Machine& machine);

/// Returns the smallest difference, as a share of the faster step, by which two predicted steps of
/// one job are distinguishable.  It comes from published pairs of strategies of one family.  Empty
/// if the two were not validated as one family, or no pair of it was published.
std::optional<double> least_distinguishable_share(const ErrorBar& one, const ErrorBar& other);

/// Returns least_distinguishable_share() for two bucket sizes of one strategy.  If no sizes of the
/// strategy's family were published, returns the largest share among the families whose sizes were.
/// Empty if the caller gave the error bar.
std::optional<double> least_distinguishable_share_of_sizes(const ErrorBar& bar);

/// Returns the bar in the form of a record, for a step of `step_ns`; empty if there is neither an
/// error bar nor a reason for its absence.
std::optional<records::ErrorBar> error_bar_record(const ErrorBar& bar, std::int64_t step_ns);

}  // namespace paceline::predict
