// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/calibration_fit.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "paceline/base/error.h"
#include "paceline/cluster/link_spec.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/predict/roofline.h"
#include "paceline/stats/fit.h"
#include "paceline/stats/quantile.h"
#include "paceline/strategies/strategy.h"

namespace paceline::predict {
namespace {

/// The times by which the case was planned, if its strategy asked for some.
void put_times(const records::PlannedBy& by, plan::PlanInput& input) {
  const auto line = [&](plan::Pattern pattern) {
    const auto found = by.costs.find(std::string(plan::name_of(pattern)));
    return found == by.costs.end() ? plan::AlphaBetaLine{}
                                   : plan::line_of(found->second);
  };
  input.profile = plan::LayerProfile{.origin = by.profile_origin,
                                     .forward = by.forward_ps,
                                     .backward = by.backward_ps};
  plan::check_profile(input.model, *input.profile);
  input.alpha_beta =
      plan::AlphaBeta{.origin = by.costs_origin,
                      .world = input.world,
                      .all_reduce = line(plan::Pattern::kAllReduce),
                      .reduce_scatter = line(plan::Pattern::kReduceScatter),
                      .all_gather = line(plan::Pattern::kAllGather),
                      .broadcast = line(plan::Pattern::kBroadcast)};
}

simulator::Job job_of(const MeasuredCase& measured, plan::PlanInput input) {
  const records::Configuration& c = measured.configuration;
  input.world = c.ranks;
  input.local_world = c.ranks_per_host;
  if (input.local_world.empty()) {
    input.local_world = {c.ranks};
  }
  if (measured.planned_by) {
    put_times(*measured.planned_by, input);
    input.alpha_beta->concurrent_collectives =
        cluster::concurrent_collectives_of(c.engine);
  }
  const auto planner = strategies::make_planner(strategies::strategy_of(c));
  const plan::Step steps = 2 * simulator::period_of(*planner, input) + 2;
  return simulator::compile(
      *planner, input, {.steps = std::max(plan::Step{6}, steps)});
}

double usual(Unknown unknown) {
  switch (unknown) {
    case Unknown::kNetworkRate:
    case Unknown::kDeviceRate:
      return 1e9;
    case Unknown::kLatency:
    case Unknown::kStart:
      return 20e-6;
    case Unknown::kSlowdown:
      return 0.02;
  }
  return 1;
}

bool spans_hosts(const MeasuredCase& measured) {
  return measured.configuration.ranks_per_host.size() > 1;
}

// A search may try what no machine has.
plan::Picoseconds time_of(double seconds) {
  return plan::picoseconds_of(std::clamp(seconds, 0.0, 100.0));
}

std::int64_t rate_of(double bytes_per_s) {
  return std::llround(std::clamp(bytes_per_s, 1.0, 1e14));
}

}  // namespace

AloneTimes alone_times(const std::vector<MeasuredCase>& alone) {
  const bool bare = std::ranges::any_of(alone, [](const MeasuredCase& it) {
    return it.configuration.strategy == "none";
  });
  std::vector<double> steps, forward, backward;
  for (const MeasuredCase& measured : alone) {
    if (bare && measured.configuration.strategy != "none") {
      continue;
    }
    steps.push_back(measured.step());
    for (const MeasuredRun& run : measured.runs) {
      forward.push_back(run.forward);
      backward.push_back(run.backward);
    }
  }
  return {.step = stats::median(steps),
          .forward = stats::median(forward),
          .backward = stats::median(backward)};
}

double compute_factor(const MeasuredCase& measured, const AloneTimes& alone) {
  const double together = measured.compute_only();
  return together > 0 ? together / alone.step : 1;
}

CalibrationFit::CalibrationFit(Setting setting, const MeasuredJob& job)
    : setting_(std::move(setting)) {
  for (const MeasuredCase& measured : job.several_ranks) {
    auto& at = compiled_.emplace_back(std::make_unique<Compiled>());
    at->job = job_of(measured, setting_.input);
    at->simulator = std::make_unique<simulator::Simulator>(at->job);
  }
  choose_unknowns(job);
}

void CalibrationFit::choose_unknowns(const MeasuredJob& job) {
  const auto& cases = job.several_ranks;
  std::set<int> worlds;
  for (const MeasuredCase& measured : cases) {
    worlds.insert(measured.configuration.ranks);
  }
  std::size_t left = cases.size();
  const auto want = [&](Unknown unknown, bool also = true) {
    if (left > 0 && also) {
      unknowns_.push_back(unknown);
      --left;
    }
  };
  if (!setting_.link) {
    want(Unknown::kNetworkRate, std::ranges::any_of(cases, spans_hosts));
    want(Unknown::kDeviceRate, !std::ranges::all_of(cases, spans_hosts));
    want(Unknown::kLatency);
  }
  want(Unknown::kSlowdown);
  want(Unknown::kStart, worlds.size() > 1 || setting_.link.has_value());
  const UnknownValues guess = first_guess(job);
  std::erase_if(unknowns_, [&](Unknown unknown) {
    return unknown != Unknown::kNetworkRate &&
           unknown != Unknown::kDeviceRate && !depends_on(job, guess, unknown);
  });
}

bool CalibrationFit::depends_on(const MeasuredJob& job,
                                const UnknownValues& values,
                                Unknown unknown) {
  constexpr double kNoticed = 1e-4;
  UnknownValues more = values;
  more[unknown] *= 2;
  for (std::size_t i = 0; i < compiled_.size(); ++i) {
    const double ratio = simulated(i, job, more) / simulated(i, job, values);
    if (std::abs(ratio - 1) > kNoticed) {
      return true;
    }
  }
  return false;
}

simulator::Costs CalibrationFit::costs(const AloneTimes& alone,
                                       double factor,
                                       const UnknownValues& values) const {
  simulator::Costs costs;
  const auto value = [&](Unknown unknown) {
    const auto found = values.find(unknown);
    return found == values.end() ? 0.0 : found->second;
  };
  costs.machine = setting_.machine;
  const auto put = [&](Unknown unknown, cluster::LinkModel& link) {
    if (values.contains(unknown)) {
      link.bytes_per_s = rate_of(value(unknown));
      link.latency = time_of(value(Unknown::kLatency));
    }
  };
  put(Unknown::kNetworkRate, costs.machine.network);
  put(Unknown::kDeviceRate, costs.machine.device);
  if (setting_.one_link && !values.contains(Unknown::kDeviceRate)) {
    put(Unknown::kNetworkRate, costs.machine.device);
  }
  if (setting_.one_link && !values.contains(Unknown::kNetworkRate)) {
    put(Unknown::kDeviceRate, costs.machine.network);
  }
  costs.machine.interference.compute_under_transfer =
      1 / (1 + std::min(value(Unknown::kSlowdown), 1e3));
  costs.software.collective = time_of(value(Unknown::kStart));
  costs.software.concurrent_collectives =
      setting_.software.concurrent_collectives;
  costs.software.one_issue_order = setting_.software.one_issue_order;
  const bool parts = alone.forward > 0 && alone.backward > 0;
  const double rest = parts ? alone.step - alone.forward - alone.backward : 0;
  costs.profile = parts
                      ? stretched(setting_.shape,
                                  plan::picoseconds_of(factor * alone.forward),
                                  plan::picoseconds_of(factor * alone.backward))
                      : stretched(setting_.shape,
                                  plan::picoseconds_of(factor * alone.step));
  costs.software.kernels.push_back(
      {.bytes_per_s = rest > 0 ? setting_.update_bytes / (factor * rest) : 0});
  return costs;
}

double CalibrationFit::simulated(std::size_t i,
                                 const MeasuredJob& job,
                                 const UnknownValues& values) {
  const AloneTimes alone = alone_times(job.one_rank);
  const double factor = compute_factor(job.several_ranks[i], alone);
  return plan::seconds_of(
      compiled_[i]->simulator->run(costs(alone, factor, values)).step);
}

double CalibrationFit::most_exposed(const MeasuredJob& job,
                                    const UnknownValues& values) {
  double most = 0;
  const AloneTimes alone = alone_times(job.one_rank);
  for (std::size_t i = 0; i < compiled_.size(); ++i) {
    simulator::Costs free =
        costs(alone, compute_factor(job.several_ranks[i], alone), values);
    const double step = simulated(i, job, values);
    free.free_communication = true;
    const double bare =
        plan::seconds_of(compiled_[i]->simulator->run(free).step);
    most = std::max(most, 1 - bare / step);
  }
  return most;
}

UnknownValues CalibrationFit::first_guess(const MeasuredJob& job) {
  UnknownValues best;
  for (const Unknown unknown : unknowns_) {
    best[unknown] = usual(unknown);
  }
  // The rates alone, over the decades that links have.
  double least = 0;
  UnknownValues at = best;
  constexpr int kRates = 22;  // from 1e7 bytes/s on, four a decade
  for (int quarter = 0; quarter < kRates; ++quarter) {
    const double rate = 1e7 * std::pow(10.0, quarter / 4.0);
    for (const Unknown unknown :
         {Unknown::kNetworkRate, Unknown::kDeviceRate}) {
      if (at.contains(unknown)) {
        at[unknown] = rate;
      }
    }
    double sum = 0;
    for (std::size_t i = 0; i < compiled_.size(); ++i) {
      sum += std::abs(
          std::log(simulated(i, job, at) / job.several_ranks[i].step()));
    }
    if (quarter == 0 || sum < least) {
      least = sum;
      best = at;
    }
  }
  return best;
}

UnknownValues CalibrationFit::fit(const MeasuredJob& job,
                                  const UnknownValues& start,
                                  int iterations) {
  if (unknowns_.empty()) {
    return {};
  }
  const auto values_at = [&](const std::vector<double>& at) {
    UnknownValues values;
    for (std::size_t j = 0; j < at.size(); ++j) {
      values[unknowns_[j]] = at[j];
    }
    return values;
  };
  std::vector<double> from, measured;
  for (const Unknown unknown : unknowns_) {
    from.push_back(start.at(unknown));
  }
  for (const MeasuredCase& it : job.several_ranks) {
    measured.push_back(it.step());
  }
  const stats::FitProblem problem{
      .residuals = compiled_.size(),
      .residual = [&](std::size_t i, const std::vector<double>& at) {
        return std::log(simulated(i, job, values_at(at)) / measured[i]);
      }};
  return values_at(stats::fit(
      problem, from, {.iterations = iterations, .scale = 0.05, .step = 0.01}));
}

}  // namespace paceline::predict
