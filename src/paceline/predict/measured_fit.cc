// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/measured_fit.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/predict/engine_choice.h"
#include "paceline/predict/engines.h"
#include "paceline/predict/request_costs.h"
#include "paceline/stats/prior_fit.h"

namespace paceline::predict {
namespace {

// Standard deviations of the priors.  They are of logarithms, except that of the collective's
// start, which is in seconds.
constexpr double kComputeDeviation = 5;  // of the compute time, of which nothing is known
constexpr double kRateDeviation = 0.35;  // of a link's rate, if links are described
// Of a link's rate, if its collectives were measured.
constexpr double kMeasuredRateDeviation = 0.1;
constexpr double kUndescribedRateDeviation = 3;  // of rates, if nothing describes the links
constexpr double kLatencyDeviation = 1.5;  // of a hop's latency, if nothing describes the links
// Of the slow-down of compute, if nothing describes the links.
constexpr double kSlowdownDeviation = 1;
constexpr double kStartDeviationSeconds = 30e-6;  // at least, for the start of a collective
constexpr double kHostShareDeviation = 0.033;     // for each doubling of the ranks on a host

using cluster::LinkScope;

bool spans_hosts(const PredictRequest& request) {
  return cluster::ranks_per_host(request.cluster, request.ranks).size() > 1;
}

}  // namespace

int most_ranks_on_a_host(const PredictRequest& request) {
  return std::ranges::max(cluster::ranks_per_host(request.cluster, request.ranks));
}

MeasuredFit::MeasuredFit(PredictRequest job, std::vector<MeasuredFigure> figures)
    : job_(std::move(job)), described_(job_.machine || !job_.cluster.links.empty()) {
  PACELINE_CHECK(!figures.empty());
  if (job_.jobs == nullptr) {
    own_jobs_ = std::make_shared<simulator::JobCache>();
    job_.jobs = own_jobs_.get();
  }
  job_.steps = 3;  // the fewest allowed; single steps are not shown
  job_.batch_size = batch_size_of(job_);
  for (MeasuredFigure& figure : figures) {
    complete(figure);
    checked_.push_back({.figure = std::move(figure)});
  }
  resolve_rates();
  sort_figures();
  check_figures();
  fit();
  check_fit_explains_figures();
  explain();
}

/// Sets what a measurement does not state: batch and micro-batches to those of the job, and the
/// error to kDefaultRelativeError.
void MeasuredFit::complete(MeasuredFigure& figure) const {
  if (figure.batch_size == 0) {
    figure.batch_size = job_.batch_size;
  }
  if (figure.accumulate == 0) {
    figure.accumulate = job_.accumulate;
  }
  if (figure.spread == 0) {
    figure.spread = kDefaultRelativeError;
  }
}

/// Sorts the figures by ranks and batch, and finds the smallest and largest micro-batch.
void MeasuredFit::sort_figures() {
  const auto micro_batch = [](const CheckedFigure& it) { return it.figure.micro_batch(); };
  const auto [least, most] = std::ranges::minmax(checked_, {}, micro_batch);
  least_batch_ = micro_batch(least);
  most_batch_ = micro_batch(most);
  std::ranges::stable_sort(checked_, {}, [](const CheckedFigure& it) {
    return std::tuple(it.figure.ranks, it.figure.batch_size);
  });
}

/// Computes the step time of each measurement that gives a rate, from the number of ranks that
/// train.
void MeasuredFit::resolve_rates() {
  for (CheckedFigure& it : checked_) {
    MeasuredFigure& figure = it.figure;
    if (figure.samples_per_s) {
      PredictRequest request = without_fitted_costs(figure);
      request.samples_per_s = *figure.samples_per_s / figure.ranks;
      const double step =
          figure.batch_size * step_of(request).training_ranks / *figure.samples_per_s;
      constexpr double kRounded = 0.01;
      if (figure.step_s && std::abs(*figure.step_s / step - 1) > kRounded) {
        throw UsageError(
            fmt::format("--measured '{}': the rate is that of steps of {:.4g} ms with a batch of "
                        "{} per rank, not of {:.4g} ms",
                        figure.words, step * 1e3, figure.batch_size, *figure.step_s * 1e3));
      }
      figure.step_s = step;
    }
    it.measured_s = *figure.step_s;
  }
}

MeasuredFit::Values MeasuredFit::values_of(double FittedUnknown::*member) const {
  Values values;
  std::ranges::transform(unknowns_, std::back_inserter(values), member);
  return values;
}

void MeasuredFit::choose_unknowns() {
  unknowns_.clear();
  compute_guess_s_ = checked_.front().measured_s / checked_.front().figure.accumulate;
  fixed_s_ = fixed_s();
  const auto add_compute = [&](Unknown unknown, int batch) {
    unknowns_.push_back({unknown, fmt::format("one device alone, batch {}", batch), "ms",
                         kComputeDeviation, compute_guess_s_ * 1e3});
  };
  add_compute(Unknown::kCompute, least_batch_);
  if (most_batch_ > least_batch_) {
    add_compute(Unknown::kComputeOfMore, most_batch_);
    unknowns_.back().start =
        std::log(seconds_at_batch(compute_guess_s_, least_batch_, most_batch_) / compute_guess_s_);
  }
  std::set<std::tuple<int, std::string>> cases;
  bool known_compute = false;
  for (const CheckedFigure& it : checked_) {
    cases.insert({it.figure.ranks, it.figure.strategy});
    known_compute = known_compute || it.figure.compute_only_s;
  }
  const bool meet = checked_.back().figure.ranks > 1;
  if (meet && (cases.size() > 1 || known_compute || !described_ ||
               (!job_.machine && waits_for_network(checked_.back().figure)))) {
    add_links();
  }
  // The costs of published programs already include the slowdown by other ranks of a host.
  const bool published = job_.cost_table().engine(engine_of(job_.engine, job_.cluster)).published;
  if (described_ && !job_.machine && !known_compute && !published) {
    add_host_share();
  }
}

/// Adds an unknown for the slowdown of compute by other ranks of the same host (input pipelines,
/// processors, power), if the figures differ in the ranks per host.
void MeasuredFit::add_host_share() {
  std::set<int> ranks_on_fullest_host;
  for (const CheckedFigure& it : checked_) {
    ranks_on_fullest_host.insert(most_ranks_on_a_host(request_of(it.figure)));
  }
  if (ranks_on_fullest_host.size() > 1) {
    unknowns_.push_back({Unknown::kHostShare, "slow-down of compute by sharing a host",
                         "% for each doubling of its ranks", kHostShareDeviation, 100,
                         [](double at) { return std::expm1(at); }});
  }
}

/// Adds as unknowns the links over which the figures' ranks communicate, and the added start time.
void MeasuredFit::add_links() {
  bool across = false, inside = false;
  for (const CheckedFigure& it : checked_) {
    const bool spans = spans_hosts(request_of(it.figure));
    across = across || spans;
    inside = inside || (!spans && it.figure.ranks > 1);
  }
  if (across && !job_.machine) {
    add_rate(LinkScope::kHosts);
  }
  if (inside && !job_.machine) {
    add_rate(LinkScope::kDevices);
  }
  const EngineCosts& engine = job_.cost_table().engine(engine_of(job_.engine, job_.cluster));
  const bool swept = (!across || has_collective_fits(LinkScope::kHosts)) &&
                     (!inside || has_collective_fits(LinkScope::kDevices));
  // A measured fit of collectives already contains the engine's start.
  const double start = swept ? 0 : plan::seconds_of(engine.costs.collective);
  unknowns_.push_back(
      {Unknown::kStart,
       fmt::format("start of a collective, beside the {}", described_ ? "described" : "engine's"),
       "us", std::max(kStartDeviationSeconds, start), 1e6, [](double at) { return at; }});
  if (!described_) {
    unknowns_.push_back(
        {Unknown::kLatency, "latency of a hop", "us", kLatencyDeviation, kUsualLatency * 1e6});
  }
  if (!described_ || job_.machine) {
    unknowns_.push_back({Unknown::kSlowdown, "slow-down of compute under transfers", "%",
                         kSlowdownDeviation, kUsualSlowdown * 100});
  }
}

/// Adds the rate of a link as an unknown.  The rate of a described link is bounded by the described
/// rate, unless the rate comes from a fit of collectives.
void MeasuredFit::add_rate(LinkScope scope) {
  const bool network = scope == LinkScope::kHosts;
  const char* where = network ? "between hosts" : "within a host";
  const Unknown unknown = network ? Unknown::kNetworkRate : Unknown::kDeviceRate;
  if (!described_) {
    unknowns_.push_back({unknown, fmt::format("rate {}", where), "Gbit/s",
                         kUndescribedRateDeviation, kUsualRate * 8e-9});
    return;
  }
  const bool measured = has_collective_fits(scope);
  unknowns_.push_back({unknown, fmt::format("reached rate {}", where), "of the described",
                       measured ? kMeasuredRateDeviation : kRateDeviation});
  if (!measured && job_.cluster.link(scope) != nullptr) {
    const EngineCosts& engine = costs_of_engine(job_.cost_table(), job_.engine, job_.cluster);
    const auto rate = [&](const cluster::Machine& machine) {
      return static_cast<double>((network ? machine.network : machine.device).bytes_per_s);
    };
    // The rate is printed as a share of the described one, which is its upper end.
    unknowns_.back().scale = rate(machine_for(job_.cluster, engine)) /
                             rate(cluster::machine_of(job_.cluster, engine.fit_engine_name()));
    unknowns_.back().most = -std::log(unknowns_.back().scale);
  }
}

/// Returns whether the link has times of collectives that ran alone.
bool MeasuredFit::has_collective_fits(cluster::LinkScope scope) const {
  const cluster::ClusterLink* link = job_.cluster.link(scope);
  return described_ && !job_.machine && (swept_ || (link != nullptr && !link->fits.empty()));
}

bool MeasuredFit::fits(Unknown unknown) const {
  return std::ranges::find(unknowns_, unknown, &FittedUnknown::unknown) != unknowns_.end();
}

double MeasuredFit::value(Unknown unknown, const Values& at) const {
  const auto found = std::ranges::find(unknowns_, unknown, &FittedUnknown::unknown);
  return found == unknowns_.end() ? 0 : at[static_cast<std::size_t>(found - unknowns_.begin())];
}

/// Chooses the unknowns and finds them.
void MeasuredFit::fit() {
  choose_unknowns();
  described_ ? solve(values_of(&FittedUnknown::start)) : solve_links();
}

/// Returns the values with all rates of links at e^`log_rate` times the described or usual ones.
MeasuredFit::Values MeasuredFit::with_rates(Values at, double log_rate) const {
  for (std::size_t k = 0; k < at.size(); ++k) {
    const Unknown unknown = unknowns_[k].unknown;
    at[k] = unknown == Unknown::kNetworkRate || unknown == Unknown::kDeviceRate ? log_rate : at[k];
  }
  return at;
}

/// Finds the unknowns.  If communication hides under compute, a rate has no effect until it is low
/// enough, and the search cannot find it.  So lower starting rates are tried too.
void MeasuredFit::solve(const Values& start) {
  solve_from(start);
  constexpr double kFar = 9;  // three standard deviations, squared
  const Unknown rate = fits(Unknown::kNetworkRate) ? Unknown::kNetworkRate : Unknown::kDeviceRate;
  if (!fits(rate) || objective_ < kFar) {
    return;
  }
  const MeasuredFit first = *this;
  Values best = at_;
  double least = INFINITY;
  for (int halvings = 1; halvings <= 6; ++halvings) {
    const Values lower = with_rates(first.at_, value(rate, start) - halvings * std::log(2));
    if (const double there = objective_at(lower); there < least) {
      least = there;
      best = lower;
    }
  }
  solve_from(best);
  if (objective_ >= first.objective_) {
    *this = first;
  }
}

/// Returns the residuals of the measurements, in standard deviations of their errors.
MeasuredFit::Values MeasuredFit::residuals_at(const Values& at) const {
  Values out;
  for (const CheckedFigure& it : checked_) {
    out.push_back(std::log(simulated_s(it.figure, at) / it.measured_s) / it.figure.spread);
  }
  return out;
}

/// Returns the objective that the fit minimizes; infinite if a measured job cannot be simulated.
double MeasuredFit::objective_at(const Values& at) const {
  double sum = 0;
  try {
    for (const double residual : residuals_at(at)) {
      sum += residual * residual;
    }
  } catch (const UsageError&) {
    return INFINITY;
  }
  for (std::size_t k = 0; k < at.size(); ++k) {
    sum += std::pow(at[k] / unknowns_[k].prior, 2);
  }
  return sum;
}

void MeasuredFit::solve_from(const Values& start) {
  try {
    (void)residuals_at(start);
  } catch (const UsageError& error) {
    throw UsageError(
        fmt::format("--measured '{}': {}", checked_.front().figure.words, error.what()));
  }
  stats::PriorFit fit = stats::fit_with_priors([&](const Values& at) { return residuals_at(at); },
                                               values_of(&FittedUnknown::prior), start,
                                               values_of(&FittedUnknown::most));
  objective_ = objective_at(fit.at);
  const Values residuals = residuals_at(fit.at);
  const double largest =
      std::abs(*std::ranges::max_element(residuals, {}, [](double it) { return std::abs(it); }));
  scatter_ = std::max(std::sqrt(std::max(1.0, objective_ / static_cast<double>(residuals.size()))),
                      largest > kUnexplainedDeviations ? largest : 1);
  at_ = std::move(fit.at);
  covariance_ = std::move(fit.covariance);
  influence_ = std::move(fit.influence);
}

/// Finds the unknowns if nothing describes the links.  Starts from the best of several rates,
/// because a rate that is far too high gives the search no direction.  Tries both ways in which
/// ranks of a host may share links.
void MeasuredFit::solve_links() {
  link_sharing_ = cluster::LinkSharing::kHost;
  solve(best_start());
  const MeasuredFit shared = *this;
  link_sharing_ = cluster::LinkSharing::kDevice;
  solve(best_start());
  const double gain = objective_ - shared.objective_;
  constexpr double kDistinctObjective = 4;  // two standard deviations
  if (gain > kDistinctObjective) {
    *this = shared;
  }
  if (unknowns_.size() > 1 && std::abs(gain) < kDistinctObjective) {
    warnings_.push_back(
        {.code = "unknown-sharing",
         .seen = "the figures do not tell whether ranks of a host share its link",
         .why = "each is taken to have one of its own",
         .advice = "add figures of other numbers of ranks, or give the links of --cluster"});
  }
}

/// Returns the starting values with the best of the rates from 1e7 bytes/s on, in steps of half a
/// decade.
MeasuredFit::Values MeasuredFit::best_start() const {
  Values best;
  double least = INFINITY;
  for (int half = 0; half < 11; ++half) {
    const Values start = with_rates(values_of(&FittedUnknown::start),
                                    std::log(1e7 * std::pow(10.0, half / 2.0) / kUsualRate));
    double sum = 0;
    for (const CheckedFigure& it : checked_) {
      sum += std::abs(std::log(simulated_s(it.figure, start) / it.measured_s));
    }
    if (sum < least) {
      least = sum;
      best = start;
    }
  }
  return best;
}

void MeasuredFit::predict_each_from_others() {
  for (std::size_t i = 0; i < checked_.size() && checked_.size() > 1; ++i) {
    std::vector<MeasuredFigure> others;
    for (std::size_t j = 0; j < checked_.size(); ++j) {
      if (j != i) {
        others.push_back(checked_[j].figure);
      }
    }
    try {
      const MeasuredFit without(job_, std::move(others));
      checked_[i].predicted_from_others_s = without.simulated_s(checked_[i].figure, without.at_);
    } catch (const UsageError&) {
      checked_[i].predicted_from_others_s.reset();  // the other measurements alone explain nothing
    }
  }
}

const CheckedFigure& MeasuredFit::smallest(int batch_size) const {
  const auto same = std::ranges::find_if(
      checked_, [&](const auto& it) { return it.figure.batch_size == batch_size; });
  if (same != checked_.end()) {
    return *same;
  }
  return *std::ranges::min_element(checked_, {}, [&](const CheckedFigure& it) {
    return std::tuple(it.figure.ranks,
                      std::abs(std::log(static_cast<double>(it.figure.batch_size) / batch_size)));
  });
}

}  // namespace paceline::predict
