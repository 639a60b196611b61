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

/// How far a prediction may be off, as published tables have it.
struct ErrorBar {
  /// How far the step may be off to either side, as a share of the step: nine of ten published
  /// cells are within.  Empty: nothing is known.
  std::optional<double> share{};
  bool validated = false;            // on such a cluster, by such an engine
  const FamilyErrors* of = nullptr;  // whose error it is; null: it was given
  /// What no published table tells of; where nothing is known, why.
  std::string why{};

  bool known() const { return share.has_value(); }
  /// There is neither an error bar nor a reason for its absence.
  bool has_nothing_to_print() const { return !known() && why.empty(); }
};

/// The bar of the family of the request's strategy, where it was validated: on that device behind
/// such networks, with that engine and on no more ranks. Elsewhere the largest bar of all families.
/// None where layer times are a roofline that no measurement stretches, and, with no word on why,
/// where the request brings a machine or software of its own.  `machine` prices it.
ErrorBar error_bar_of(const PredictRequest& request, const cluster::Machine& machine);

/// By what share of the faster two predicted steps of one job must differ to be told apart, as
/// published pairs of strategies of one family have it; empty: the two were not validated as one
/// family, or no pair of it was published.
std::optional<double> distinguishable_by(const ErrorBar& one, const ErrorBar& other);

/// By what share of the faster the predicted steps of two sizes of one strategy's buckets must
/// differ to be told apart.  Where no sizes of the strategy's family were published: the largest
/// share of the families whose sizes were.  Empty: the bar was given.
std::optional<double> sizes_distinguishable_by(const ErrorBar& bar);

/// As a record of a step of `step_ns` holds it; empty where there is nothing to say.
std::optional<records::ErrorBar> recorded(const ErrorBar& bar, std::int64_t step_ns);

}  // namespace paceline::predict
