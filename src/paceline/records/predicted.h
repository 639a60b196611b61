// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace paceline::records {

/// What no execution of a predicted case's plan can beat on its links, with
/// `algorithm` for its collectives.  It knows no noise.
struct StepBound {
  std::int64_t step_ns = 0;     // of the two below
  std::int64_t compute_ns = 0;  // model work of the slowest rank
  std::int64_t wire_ns = 0;     // the busiest link's bytes at its rate
  /// Where it is above `step_ns`: communication crosses the step, and what waits for which gradient
  /// says more.
  std::optional<std::int64_t> sharper_ns{};
  bool crosses_step = false;  // communication may run under the next step
  std::string algorithm{};    // empty: no collective has several ranks

  std::int64_t best_ns() const { return sharper_ns.value_or(step_ns); }

  bool operator==(const StepBound&) const = default;
};

/// How far a predicted step may be off.
struct ErrorBar {
  /// How far the interval reaches to either side, as a share of the step. Empty: the interval has
  /// another form, or nothing is known.
  std::optional<double> share{};
  std::optional<std::int64_t> low_ns{}, high_ns{};  // of the step
  double level = 0;                                 // the share of `how`'s cases that are within
  bool validated = false;                           // on such a cluster, with such an engine
  std::string of{};                                 // whose error it is: a family of strategies
  std::string how{};                                // on what it was found
  std::int64_t cells = 0;                           // published numbers that were compared
  /// What no published table tells of; where nothing is known, why.
  std::string why{};

  bool known() const { return low_ns && high_ns; }

  bool operator==(const ErrorBar&) const = default;
};

/// What a prediction says beside its steps.
struct Predicted {
  /// The number of the job's ranks that train.  The record of a job with many ranks holds one rank
  /// of each kind.
  std::int64_t training_ranks = 1;
  StepBound bound;
  std::optional<ErrorBar> error_bar{};  // empty: nobody asked

  bool operator==(const Predicted&) const = default;
};

/// "251.638 ms with algorithm tree: compute ..., wire ...".
std::string words_of(const StepBound& bound);

/// "70.478 ms: ..."; empty where no sharper bound is known.
std::string sharper_words(const StepBound& bound);

/// The bar, the interval of the step, and whose error it is; or why there is none.
std::string words_of(const ErrorBar& bar);

/// The evidence for the error bar, without times of the step, so that several rows can share one
/// note.
std::string basis_words(const ErrorBar& bar);

}  // namespace paceline::records
