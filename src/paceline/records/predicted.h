// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace paceline::records {

/// A lower bound on the step time of a predicted case: no execution of its plan on these links,
/// with `algorithm` for its collectives, is faster.  The bound does not include noise.
struct StepBound {
  std::int64_t step_ns = 0;     // at least max(compute_ns, wire_ns); see predict/bound.h
  std::int64_t compute_ns = 0;  // time of the model work on the slowest rank
  std::int64_t wire_ns = 0;     // the busiest link's bytes at its rate
  /// A sharper bound; present if it is above `step_ns`. It exists for strategies whose
  /// communication overlaps the next step, and follows from when each gradient is ready and which
  /// operation waits for it.
  std::optional<std::int64_t> sharper_ns{};
  bool crosses_step = false;  // communication of a step may overlap the next step
  std::string algorithm{};    // empty: there is no collective of several ranks

  std::int64_t tightest_ns() const { return sharper_ns.value_or(step_ns); }

  bool operator==(const StepBound&) const = default;
};

/// The interval in which the real step of a prediction is expected.
struct ErrorBar {
  /// Half the width of the interval, as a fraction of the predicted step time.  Empty: the interval
  /// is not symmetric, or the error is not known.
  std::optional<double> share{};
  std::optional<std::int64_t> low_ns{}, high_ns{};  // ends of the interval of the step time
  double level = 0;                                 // fraction of the published values behind `how`
                                                    // that lie inside such intervals
  bool validated = false;                           // whether `how` has values of such a cluster
                                                    // and engine
  std::string of{};                                 // family of strategies for which the error was
                                                    // determined
  std::string how{};                                // source of the error: which published values
                                                    // were compared
  std::int64_t cells = 0;                           // number of published values compared
  /// Why no published table covers the prediction; or why the error is not known.
  std::string why{};

  bool known() const { return low_ns && high_ns; }

  bool operator==(const ErrorBar&) const = default;
};

/// The bound, the error bar and the number of training ranks of a prediction.
struct PredictionDetails {
  /// The number of the job's ranks that train.  The record of a job with many ranks has only one
  /// rank of each kind.
  std::int64_t training_ranks = 1;
  StepBound bound;
  std::optional<ErrorBar> error_bar{};  // absent if no error bar was requested

  bool operator==(const PredictionDetails&) const = default;
};

/// Describes the bound: "251.638 ms with algorithm tree: compute ..., wire ...".
std::string words_of(const StepBound& bound);

/// Describes the sharper bound: "70.478 ms: ..."; empty if none is known.
std::string sharper_bound_text(const StepBound& bound);

/// Returns a text with the error bar, the interval of the step time and the family of strategies;
/// or the reason why there is no error bar.
std::string words_of(const ErrorBar& bar);

/// Describes the evidence for the error bar, without times of the step, so that several rows can
/// have the same note.
std::string error_basis_text(const ErrorBar& bar);

}  // namespace paceline::records
