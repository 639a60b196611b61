// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "paceline/predict/error_table.h"
#include "paceline/records/predicted.h"

namespace paceline::cluster {
struct Machine;
}  // namespace paceline::cluster

namespace paceline::predict {

struct PredictRequest;

/// The error of a prediction, taken from the errors on published tables.
struct ErrorBar {
  /// The error of the step to either side, as a share of the step: nine of ten published results
  /// are within it.  Empty: the error is not known.
  std::optional<double> share{};
  bool validated = false;            // for such a cluster and engine
  const FamilyErrors* of = nullptr;  // whose error it is; null: the caller gave it
  /// Why no published table covers this prediction; or why the error is not known.
  std::string why{};

  bool known() const { return share.has_value(); }
  /// Returns whether there is neither an error bar nor a reason for its absence.
  bool has_nothing_to_print() const { return !known() && why.empty(); }
};

/// Returns the error bar of the family of the request's strategy, if it was validated: on that
/// device and such networks, with that engine and on no more ranks.  Otherwise returns the largest
/// bar of all families.  Returns only a reason for embedding tables, and if layer times are a
/// roofline that no measurement scales; neither share nor reason if the request has a machine or
/// software of its own.  `machine` has the request's link costs.
ErrorBar error_bar_of(const PredictRequest& request, const cluster::Machine& machine);

/// Returns the smallest difference, as a share of the faster step, by which two predicted steps of
/// one job can be told apart.  It comes from published pairs of strategies of one family.  Empty if
/// the two were not validated as one family, or no pair of it was published.
std::optional<double> least_distinguishable_share(const ErrorBar& one, const ErrorBar& other);

/// Returns least_distinguishable_share() for two bucket sizes of one strategy.  If no sizes of the
/// strategy's family were published, returns the largest share among the families whose sizes were.
/// Empty if the caller gave the error bar.
std::optional<double> least_distinguishable_share_of_sizes(const ErrorBar& bar);

/// Returns the bar in the form of a record, for a step of `step_ns`; empty if there is neither an
/// error bar nor a reason for its absence.
std::optional<records::ErrorBar> error_bar_record(const ErrorBar& bar, std::int64_t step_ns);

}  // namespace paceline::predict
