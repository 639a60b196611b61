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

/// The most ranks that have parameter servers beside them: pricing more takes minutes.
inline constexpr plan::Rank kMostServers = 16;

struct AdviseRequest {
  PredictRequest job;  // its strategy and bucket_mb are not looked at
  /// What was measured of the job, whose prices `job` has; null: nothing.
  std::shared_ptr<const MeasuredFit> fit{};
  /// Sizes in MiB for strategies that have buckets, and of partitions, each of which is tried with
  /// a credit of itself and of four.
  std::vector<double> bucket_mb = {1, 5, 10, 25, 50, 100};
  std::vector<double> partition_mb = {1, 4, 16};
  /// Strategies too after which parameters are not those of one large batch.
  bool any_update = false;
  /// The error of a prediction, as a share of the step; left out: that of the fit, or without one
  /// what is known of the strategy's family (predict/error_bar.h).  Two strategies are told apart
  /// where distinguishable_by() says so, else where their intervals do not overlap.
  std::optional<double> error{};
};

/// One strategy as it would run.
struct Advice {
  records::Configuration configuration;
  plan::Picoseconds step = 0, exposed = 0;
  ErrorBar bar;
  std::optional<StepErrors> errors{};   // of a step from measured figures
  plan::Picoseconds low = 0, high = 0;  // step less and plus its error
  bool like_best = false;               // it cannot be told from the first row
  strategies::Guarantee guarantee = strategies::Guarantee::kExact;
};

/// A strategy that cannot run here, and why.
struct Unfit {
  std::string strategy, why;
};

/// The sizes of one strategy, in MiB.
template <class Size>
struct SizeAdvice {
  std::string strategy;    // without its size
  Size best{};             // first of the fastest
  std::vector<Size> like;  // sizes not told apart from it, itself included
  Size worst{};
  double worst_ratio = 1;  // its step over the best one's
};

using BucketAdvice = SizeAdvice<double>;

struct PartitionSize {
  double partition_mb = 0, credit_mb = 0;

  auto operator<=>(const PartitionSize&) const = default;
};
using PartitionAdvice = SizeAdvice<PartitionSize>;

struct AdviceTable {
  std::vector<Advice> rows;  // fastest first
  std::vector<Unfit> unfit;
  std::vector<BucketAdvice> buckets;        // by their best step
  std::vector<PartitionAdvice> partitions;  // likewise

  std::vector<records::Warning> warnings;  // of the predictions, once each

  /// The validated row with the smallest bar among the rows that cannot be told from the first, the
  /// first of several; of steps from measured figures one of a measured strategy, else the first
  /// row; without a validated row, the first row.
  const Advice& winner() const;
};

/// What advice compares: canonical texts, each once, in the order of the tables.
///
/// Every schedule over an all-reduce, on several hosts over a hierarchical one too; with every
/// bucket size where it has buckets, and partitions and credits for bytescheduler; PyTorch's
/// reducer; up to 32 ranks parameter servers beside the workers, on several hosts with a sum on
/// each host first, too. Where another update is welcome as well: schedules with gradients in fp16
/// and bf16, and every topology of neighbors, of ranks and of hosts.
std::vector<std::string> candidates(const AdviseRequest& request, std::size_t hosts);

/// Predicts every candidate.  Equal predictions stay in their order.  Throws UsageError for a job
/// that cannot be.
AdviceTable advise(const AdviseRequest& request);

/// The prediction of `job`, which is the request's with a strategy of its own, with the request's
/// error of it.
Advice advice_of(const PredictRequest& job, const Prediction& prediction,
                 const AdviseRequest& request);

/// Whether the error bars do not tell a row from one that is as fast or faster; false where either
/// has none.
bool alike(const Advice& faster, const Advice& row);

/// What a user must know of a strategy's update; empty: that of bsp.
std::string_view caution(strategies::Guarantee guarantee);

}  // namespace paceline::predict
