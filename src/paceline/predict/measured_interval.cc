// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/predict/link_calibration.h"
#include "paceline/predict/measured_fit.h"
#include "paceline/stats/prior_fit.h"
#include "paceline/stats/quantile.h"
#include "paceline/strategies/strategy.h"

// Computes which figures determine the constants, the interval of a prediction from them, and how
// well a figure that is not measured yet would determine them.

namespace paceline::predict {
namespace {

constexpr double kDeviationsOf95Percent = 1.96;  // standard deviations on either side

// The errors of predictions from one measured case, as standard deviations of the logarithm of the
// step (studies/measured_figures): per doubling of the ranks; for going from one rank to several or
// back; per doubling of the batch beyond the measured ones; per doubling between two measured
// batches; and for another strategy, which is a guess.
constexpr double kDeviationPerRankDoubling = 0.01;
constexpr double kDeviationOfSeveralRanks = 0.1;
constexpr double kDeviationPerBatchDoubling = 0.13;
constexpr double kDeviationPerDoublingBetweenBatches = 0.02;
constexpr double kDeviationOfAnotherStrategy = 0.03;

/// Returns the columns of L, where L L' is the Cholesky factorization of the covariance.  Unknowns
/// whose errors are these columns times independent standard normal errors have that covariance.
std::vector<std::vector<double>> independent_error_components(
    const std::vector<std::vector<double>>& covariance) {
  const std::size_t size = covariance.size();
  std::vector<std::vector<double>> columns(size, std::vector<double>(size));
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t l = 0; l <= k; ++l) {
      double rest = covariance[k][l];
      for (std::size_t m = 0; m < l; ++m) {
        rest -= columns[m][k] * columns[m][l];
      }
      columns[l][k] = k == l ? std::sqrt(std::max(0.0, rest)) : rest / columns[l][l];
    }
  }
  return columns;
}

}  // namespace

double StepErrors::half_width() const {
  double variance = strategy * strategy + job * job;
  for (const double it : constants) {
    variance += it * it;
  }
  return kDeviationsOf95Percent * std::sqrt(variance);
}

stats::Interval StepErrors::interval_s() const {
  return {std::exp(log_step_s - half_width()), std::exp(log_step_s + half_width())};
}

double least_distinguishable_share(const StepErrors& one, const StepErrors& other) {
  PACELINE_CHECK_EQ(one.constants.size(), other.constants.size());
  StepErrors difference{.strategy = std::hypot(one.strategy, other.strategy)};
  for (std::size_t k = 0; k < one.constants.size(); ++k) {
    difference.constants.push_back(one.constants[k] - other.constants[k]);
  }
  return std::expm1(difference.half_width());
}

double MeasuredFit::doublings_to_measured(int micro_batch) const {
  double nearest = INFINITY;
  for (const CheckedFigure& it : checked_) {
    const double measured = it.figure.micro_batch();
    nearest = std::min(nearest, std::abs(std::log2(micro_batch / measured)));
  }
  return nearest;
}

void MeasuredFit::set_extrapolation_errors(const PredictRequest& request,
                                           StepErrors& errors) const {
  const int least_ranks = checked_.front().figure.ranks, most_ranks = checked_.back().figure.ranks;
  const double ranks = doublings(request.ranks, least_ranks, most_ranks);
  const int micro_batch = batch_size_of(request) / request.accumulate;
  const bool between = micro_batch > least_batch_ && micro_batch < most_batch_;
  const double batch =
      (between ? kDeviationPerDoublingBetweenBatches : kDeviationPerBatchDoubling) *
      doublings_to_measured(micro_batch);
  const std::string text = strategies::strategy_of(request).text();
  const bool same_strategy = std::ranges::any_of(checked_, [&](const CheckedFigure& it) {
    return it.figure.ranks > 1 && strategies::strategy_of(request_of(it.figure)).text() == text;
  });
  const bool joined = request.ranks > 1 ? most_ranks == 1 : least_ranks > 1;
  // One rank exchanges nothing under any strategy.
  errors.strategy = same_strategy || request.ranks == 1 ? 0 : kDeviationOfAnotherStrategy;
  // The error of going from one rank to several includes that of the strategy.
  const double company = joined ? kDeviationOfSeveralRanks * kDeviationOfSeveralRanks -
                                      errors.strategy * errors.strategy
                                : 0;
  errors.job = std::sqrt(std::pow(kDefaultRelativeError * scatter_, 2) +
                         std::pow(kDeviationPerRankDoubling * ranks, 2) + company + batch * batch);
}

StepErrors MeasuredFit::errors_of(const PredictRequest& asked) const {
  PredictRequest request = priced(asked);  // priced() also sets the hosts
  if (request.jobs == nullptr) {
    request.jobs = job_.jobs;
  }
  request.steps = 3;
  const auto log_step = [&](const Values& at) {
    return std::log(plan::seconds_of(
        step_of(priced(request, at, asked.ranks > 1 ? compute_slowdown_ : 1)).step));
  };
  StepErrors errors{.log_step_s = log_step(at_)};
  // Derivatives are taken over a whole standard deviation, because a schedule may jump between
  // close values.
  for (const Values& part : independent_error_components(covariance_)) {
    constexpr double kMaxLogarithmStep = 0.3;  // largest change of an unknown, which is a logarithm
    const double largest =
        std::abs(*std::ranges::max_element(part, {}, [](double it) { return std::abs(it); }));
    const double share = std::min(1.0, kMaxLogarithmStep / largest);
    const auto moved = [&](double by) {
      Values at = at_;
      for (std::size_t k = 0; k < at.size(); ++k) {
        at[k] += by * part[k];
      }
      return log_step(at);
    };
    const auto slope = [&] {
      const double more = moved(share);
      try {
        return (more - moved(-share)) / (2 * share);
      } catch (const UsageError&) {
        return (more - errors.log_step_s) / share;  // less is impossible
      }
    };
    errors.constants.push_back(scatter_ * slope());
  }
  set_extrapolation_errors(request, errors);
  return errors;
}

MeasuredConstant MeasuredFit::constant_of(std::size_t k) const {
  const double half_width = kDeviationsOf95Percent * scatter_ * std::sqrt(covariance_[k][k]);
  const FittedUnknown& shown = unknowns_[k];
  const auto value_of = [&](double at) { return shown.scale * shown.shape(at); };
  MeasuredConstant constant{
      .name = shown.name,
      .unit = shown.unit,
      .value = value_of(at_[k]),
      .interval = {value_of(at_[k] - half_width), value_of(at_[k] + half_width)},
      .by = determined_by(k)};
  if (std::isfinite(shown.most)) {
    constant.interval.high = std::min(constant.interval.high, 1.0);
  }
  return constant;
}

std::string MeasuredFit::determined_by(std::size_t k) const {
  // A constant is determined below this share of its prior deviation.
  constexpr double kDetermined = 0.5;
  if (std::sqrt(covariance_[k][k]) >= kDetermined * unknowns_[k].prior) {
    return "";
  }
  const auto strongest =
      std::ranges::max_element(influence_[k], {}, [](double it) { return std::abs(it); });
  return checked_[static_cast<std::size_t>(strongest - influence_[k].begin())].figure.words;
}

void MeasuredFit::explain() {
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    constants_.push_back(constant_of(k));
  }
  check_compute();
  const int largest = checked_.back().figure.ranks;
  std::vector<double> crowding;
  for (CheckedFigure& it : checked_) {
    it.fitted_s = simulated_s(it.figure, at_);
    if (it.figure.ranks == largest) {
      crowding.push_back(compute_slowdown_of(it.figure));
    }
  }
  warn_of_constants();
  warn_of_figures();
  compute_slowdown_ = stats::median(crowding);
  constexpr double kCrowded = 1.05;
  if (compute_slowdown_ > kCrowded) {
    warnings_.push_back(
        {.code = "shared-compute",
         .seen = fmt::format("{} compute {:.2f} times as long as one", counted(largest, "rank"),
                             compute_slowdown_),
         .why =
             "they share cores or memory; larger numbers of ranks are taken to share them as much",
         .advice = "predict numbers of ranks with as many a host"});
  }
  const bool one_host = std::ranges::none_of(
      checked_, [&](const CheckedFigure& it) { return it.figure.ranks_per_host.size() > 1; });
  if (one_host && !described_ && !job_.machine) {
    warnings_.push_back(
        {.code = "one-host",
         .seen = "all figures are of one host",
         .why = "nothing is known of a network; more ranks are taken to stand on one host as well",
         .advice = "add figures of two hosts, or describe the links in a file of --cluster"});
  }
}

void set_measured_results(const MeasuredFit& fit, const PredictRequest& request,
                          Prediction& prediction) {
  const stats::Interval step = fit.interval_of(request);
  const auto ns = [](double seconds) { return std::llround(seconds * 1e9); };
  prediction.record.predicted->error_bar = records::ErrorBar{
      .low_ns = ns(step.low),
      .high_ns = ns(step.high),
      .level = 0.95,
      .validated = true,
      .of = "the measured figures",
      .how = fmt::format("the fit to {} and the distance from what was measured",
                         counted(static_cast<std::int64_t>(fit.checked().size()), "figure"))};
  const int batch = prediction.record.configuration.batch_size;
  const CheckedFigure& base = fit.smallest(batch);
  prediction.linear_from = fmt::format("{}, as measured", counted(base.figure.ranks, "rank"));
  prediction.linear = plan::picoseconds_of(base.measured_s * batch / base.figure.batch_size);
}

std::string efficiency_text(const MeasuredFit& fit, const Prediction& prediction) {
  const int batch = prediction.record.configuration.batch_size;
  const CheckedFigure& base = fit.smallest(batch);
  if (base.figure.batch_size != batch) {
    return "";
  }
  const double measured = base.figure.batch_size / base.measured_s;
  const double predicted = prediction.samples_per_s() / training_ranks(*prediction.job);
  return fmt::format(
      "  rate per rank {:.1f} % of {} with a batch of {} each, as "
      "measured\n",
      100 * predicted / measured, counted(base.figure.ranks, "rank"), base.figure.batch_size);
}

bool MeasuredFit::is_measured(const MeasuredFigure& figure) const {
  MeasuredFigure asked = figure;
  complete(asked);
  const auto case_of = [this](const MeasuredFigure& it) {
    const PredictRequest request = request_of(it);
    // One rank exchanges nothing under any strategy.
    return std::tuple(it.ranks, it.batch_size, it.accumulate,
                      it.ranks > 1 ? strategies::strategy_of(request).text() : std::string(),
                      cluster::ranks_per_host(request.cluster, it.ranks));
  };
  return std::ranges::any_of(
      checked_, [&](const CheckedFigure& it) { return case_of(it.figure) == case_of(asked); });
}

MeasuredFit::Values MeasuredFit::constants_for(const MeasuredFit& other) const {
  Values at;
  for (const FittedUnknown& it : other.unknowns_) {
    const Unknown unknown = it.unknown;
    if (unknown == Unknown::kCompute || unknown == Unknown::kComputeOfMore) {
      const int batch = unknown == Unknown::kCompute ? other.least_batch_ : other.most_batch_;
      at.push_back(std::log(one_device_s(batch, at_) / other.compute_guess_s_));
    } else {
      at.push_back(value(unknown, at_));
    }
  }
  return at;
}

void MeasuredFit::find_covariance() {
  stats::PriorFit fit = stats::posterior_at([&](const Values& at) { return residuals_at(at); },
                                            values_of(&FittedUnknown::prior), at_);
  covariance_ = std::move(fit.covariance);
  influence_ = std::move(fit.influence);
}

MeasuredFit MeasuredFit::if_measured(MeasuredFigure figure) const {
  if (is_measured(figure)) {
    return *this;
  }
  MeasuredFit more = *this;
  complete(figure);
  const double step = plan::seconds_of(step_of(priced(request_of(figure))).step);
  figure.step_s = step;
  more.checked_.push_back({.figure = std::move(figure), .measured_s = step, .fitted_s = step});
  more.sort_figures();
  more.choose_unknowns();
  more.at_ = constants_for(more);
  more.find_covariance();
  return more;
}

std::optional<MeasuredFit> MeasuredFit::if_collectives_measured() const {
  const bool network =
      fits(Unknown::kNetworkRate) && !has_collective_fits(cluster::LinkScope::kHosts);
  const bool device =
      fits(Unknown::kDeviceRate) && !has_collective_fits(cluster::LinkScope::kDevices);
  if (!described_ || !(network || device)) {
    return std::nullopt;
  }
  MeasuredFit more = *this;
  more.swept_ = true;
  more.choose_unknowns();
  more.find_covariance();
  return more;
}

}  // namespace paceline::predict
