// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/predict/measured_fit.h"
#include "paceline/predict/predict.h"
#include "paceline/strategies/strategy.h"

namespace paceline::predict {

/// The largest number of ranks for which parameter servers are simulated: more take minutes.
inline constexpr plan::Rank kMostServers = 16;

/// Returns whether the strategy's exchange has servers.
bool has_servers(const std::string& strategy);

struct AdviseRequest {
  PredictRequest job;  // its strategy and bucket_mb are ignored
  /// The fit to measurements of the job, which gives `job` its costs.  Null: nothing was measured.
  std::shared_ptr<const MeasuredFit> fit{};
  /// Sizes in MiB of buckets, and of partitions, for the strategies that have them.  Each partition
  /// size is tried with a credit of once and of four times that size.
  std::vector<double> bucket_mb = {1, 5, 10, 25, 50, 100};
  std::vector<double> partition_mb = {1, 4, 16};
  /// Whether to also compare strategies that compute other parameters than training on one large
  /// batch.
  bool includes_inexact_updates = false;
  /// The error of a prediction, as a share of the step.  Empty: the error of the fit, or without a
  /// fit the error known for the strategy's family (predict/error_bar.h).  Two strategies count as
  /// different if they differ by the share that published pairs give, or, without such a share, if
  /// their intervals do not overlap.
  std::optional<double> error{};
};

/// The prediction for one strategy.
struct Advice {
  cases::Case configuration;
  plan::Picoseconds step = 0, exposed = 0;
  ErrorBar bar;
  std::optional<StepErrors> errors{};   // set if the step comes from measurements of the job
  plan::Picoseconds low = 0, high = 0;  // the ends of the step's error interval
  bool ties_with_best = false;          // whether it is indistinguishable from the first row
  strategies::Guarantee guarantee = strategies::Guarantee::kExact;
};

/// A strategy that cannot run in this job, and why.
struct RejectedCandidate {
  std::string strategy, why;
};

/// The effect of the bucket size, in MiB, on the predicted step of one strategy.
struct BucketAdvice {
  std::string strategy;      // the strategy's text without its bucket size
  double best = 0;           // the size with the shortest step; the first one if several are equal
  std::vector<double> like;  // sizes whose steps are indistinguishable from the shortest
  double worst = 0;
  double worst_ratio = 1;  // ratio of the step at `worst` to the step at `best`
};

struct AdviceTable {
  std::vector<Advice> rows;  // fastest first
  std::vector<RejectedCandidate> unfit;
  std::vector<BucketAdvice> buckets;       // sorted by their best step
  std::vector<records::Warning> warnings;  // of all predictions, without repetition

  /// Returns the recommended row.  Among the rows whose difference from the first is within the
  /// error, it is the validated one with the smallest error bar; if several are equal, the first of
  /// them.  For steps from measured figures, the compared error is that of the strategy, which is 0
  /// if the strategy was measured.  Without a validated row, the first row.
  const Advice& winner() const;
};

/// Returns the strategies that advise() compares: canonical texts without repetition, in the order
/// of the tables.
///
/// They are every schedule over an all-reduce, and on several hosts also over a hierarchical
/// all-reduce, with every bucket size if the schedule has buckets, and with partitions and credits
/// for bytescheduler; PyTorch's reducer; and for up to kMostServers ranks, parameter servers beside
/// the workers, on several hosts also with a sum on each host first.  If another update is allowed:
/// also schedules with gradients in fp16 and bf16, and every topology of neighbors, of ranks and of
/// hosts.
std::vector<std::string> candidates(const AdviseRequest& request, std::size_t hosts);

/// Predicts every candidate.  Equal predictions keep the order of the candidates.  Throws
/// UsageError for an impossible job.
AdviceTable advise(const AdviseRequest& request);

/// Returns the row of `prediction`, with the error that the request gives to it.  `job` is the
/// request's job with one strategy.
Advice advice_of(const PredictRequest& job, const Prediction& prediction,
                 const AdviseRequest& request);

/// Returns whether the predicted steps of `row` and of `faster`, whose step is not longer, are
/// indistinguishable within their errors.  Returns false if either has no error bar.
bool is_indistinguishable(const Advice& faster, const Advice& row);

/// Returns how a strategy's update differs from that of bsp, as a text for the user; empty if it
/// does not.
std::string_view caution(strategies::Guarantee guarantee);

}  // namespace paceline::predict
