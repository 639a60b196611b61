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

/// How far a prediction may be off, by its errors on published tables.
struct ErrorBar {
  /// How far the step may be off to either side, as a share of the step: nine of ten published
  /// cells are within this share.  Empty: nothing is known.
  std::optional<double> share{};
  bool validated = false;            // for such a cluster and engine
  const FamilyErrors* of = nullptr;  // whose error it is; null: the caller gave it
  /// What is not covered by any published table; if nothing is known of the error, the reason.
  std::string why{};

  bool known() const { return share.has_value(); }
  /// Returns whether there is neither an error bar nor a reason for its absence.
  bool has_nothing_to_print() const { return !known() && why.empty(); }
};

/// Returns the error bar of the family of the request's strategy, if it was validated: on that
/// device and such networks, with that engine and on no more ranks.  Otherwise returns the largest
/// bar of all families.  Returns only a reason for embedding tables, and if layer times are a
/// roofline that no measurement stretches; neither share nor reason if the request has a machine or
/// software of its own.  `machine` prices the request.
ErrorBar error_bar_of(const PredictRequest& request, const cluster::Machine& machine);

/// Returns the share of the faster step by which two predicted steps of one job must differ to be
/// told apart, by published pairs of strategies of one family.  Empty if the two were not validated
/// as one family, or no pair of it was published.
std::optional<double> distinguishable_by(const ErrorBar& one, const ErrorBar& other);

/// Returns the share of the faster step by which the predicted steps of two bucket sizes of one
/// strategy must differ to be told apart.  If no sizes of the strategy's family were published,
/// returns the largest share of those families whose sizes were.  Empty if the caller gave the
/// error bar.
std::optional<double> sizes_distinguishable_by(const ErrorBar& bar);

/// Returns the bar in the form of a record, for a step of `step_ns`; empty if nothing is to be
/// said.
std::optional<records::ErrorBar> recorded(const ErrorBar& bar, std::int64_t step_ns);

}  // namespace paceline::predict
