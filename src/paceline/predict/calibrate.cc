// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/calibrate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/random.h"
#include "paceline/plan/optimizer.h"
#include "paceline/predict/calibration_fit.h"
#include "paceline/predict/calibration_warnings.h"
#include "paceline/predict/engines.h"
#include "paceline/predict/kernel_costs.h"
#include "paceline/predict/roofline.h"
#include "paceline/stats/bootstrap.h"
#include "paceline/stats/quantile.h"
#include "paceline/strategies/strategy.h"

namespace paceline::predict {
namespace {

constexpr int kIterations = 60, kIterationsAgain = 5;

plan::NetworkShape network_of(const records::Configuration& c,
                              const CalibrationOptions& options) {
  if (options.profile) {
    if (options.profile->model.name != c.model) {
      throw UsageError(
          fmt::format("the profile is of {}, the records are of {}",
                      options.profile->model.name,
                      c.model));
    }
    return {.model = options.profile->model};
  }
  const auto names = plan::network_names();
  if (std::ranges::find(names, c.model) == names.end() || c.image_size != 0 ||
      c.classes != 0 || c.sequence_length != 0) {
    throw UsageError(fmt::format(
        "the layers of {} with image_size {}, classes {} and sequence_length "
        "{} are not known here: give its --profile (`paceline profile` writes "
        "one)",
        c.model,
        c.image_size,
        c.classes,
        c.sequence_length));
  }
  return plan::network_shape(c.model);
}

/// The shape of the layer times over the network, and whose it is.
plan::LayerProfile shape_of(const MeasuredJob& job,
                            const plan::NetworkShape& network,
                            const CalibrationOptions& options) {
  if (options.profile) {
    return options.profile->profile;
  }
  for (const auto* cases : {&job.one_rank, &job.several_ranks}) {
    for (const MeasuredCase& measured : *cases) {
      if (measured.planned_by && !measured.planned_by->forward_ps.empty()) {
        plan::LayerProfile profile{
            .origin = measured.planned_by->profile_origin,
            .forward = measured.planned_by->forward_ps,
            .backward = measured.planned_by->backward_ps};
        plan::check_profile(network.model, profile);
        return profile;
      }
    }
  }
  return roofline_profile(network, job.common().batch_size);
}

cluster::LinkModel own_link(const cluster::LinkSpec& link) {
  return {.bytes_per_s = std::llround(link.bytes_per_s),
          .latency = link.latency_ns * plan::kPicosecondsPerNanosecond,
          .sharing = cluster::LinkSharing::kDevice};
}

/// A cluster may be hosts alone.
/// `within`: who shares the link of a host's ranks, where nobody says.
cluster::Machine machine_for(const CalibrationOptions& options,
                             cluster::LinkSharing within) {
  cluster::Machine machine;
  if (options.link) {
    machine.device = machine.network = own_link(*options.link);
    machine.servers_have_links = true;
  } else if (options.gives_links()) {
    machine = cluster::machine_of(*options.cluster, "");
    machine.algorithm = cluster::Algorithm::kRing;
  } else {
    machine.network.sharing = cluster::LinkSharing::kHost;
    machine.device.sharing = within;
  }
  return machine;
}

/// The plan input for `job`, whose network and optimizer are set, with loss
/// scaling and clipping as in `c`.
plan::PlanInput input_of(const PredictRequest& job,
                         const records::Configuration& c) {
  plan::PlanInput input;
  input.model = job.network.model;
  input.optimizer = plan::shape_of(job.optimizer, job.momentum);
  input.loss_scaling = c.dtype == "amp" && c.device != "cpu";
  input.clip_norm = c.clip_norm;
  return input;
}

void check_supported(const records::Configuration& c) {
  if (c.accumulate != 1) {
    throw UsageError(fmt::format(
        "records of accumulate {}: predictions know one micro-batch a step",
        c.accumulate));
  }
}

/// The median compute factor of the largest measured world.  Larger worlds are
/// taken to have the same factor.
double largest_factor(const MeasuredJob& job) {
  const AloneTimes alone = alone_times(job.one_rank);
  const int largest = job.several_ranks.back().configuration.ranks;
  std::vector<double> factors;
  for (const MeasuredCase& measured : job.several_ranks) {
    if (measured.configuration.ranks == largest) {
      factors.push_back(compute_factor(measured, alone));
    }
  }
  return stats::median(factors);
}

MeasuredJob drawn(const MeasuredJob& job, Random& random) {
  MeasuredJob other;
  for (const MeasuredCase& measured : job.one_rank) {
    other.one_rank.push_back(measured.drawn(random));
  }
  for (const MeasuredCase& measured : job.several_ranks) {
    other.several_ranks.push_back(measured.drawn(random));
  }
  return other;
}

/// With what the records say of the link and the layers.
CalibrationOptions completed(CalibrationOptions options,
                             const records::Configuration& c) {
  if (!options.link && !c.link.empty()) {
    options.link = cluster::parse_link("link of the records", c.link);
  }
  if (!options.profile && !c.replay.empty()) {
    options.profile = cluster::read_profile(c.replay);
  }
  return options;
}

struct Named {
  Unknown unknown;
  const char *name, *unit;
  double unit_size;
};
constexpr Named kNames[] = {
    {Unknown::kNetworkRate, "rate between hosts", "Gbit/s", 1e9 / 8},
    {Unknown::kDeviceRate, "rate within a host", "Gbit/s", 1e9 / 8},
    {Unknown::kLatency, "latency of a hop", "us", 1e-6},
    {Unknown::kSlowdown, "slow-down of compute under transfers", "%", 0.01},
    {Unknown::kStart, "start of a collective", "us", 1e-6}};

/// A figure of every resample, by name.
using Series = std::vector<double>;

Fitted fitted(CalibrationFit& fit,
              const MeasuredJob& job,
              const UnknownValues& start,
              int iterations) {
  return {.alone = alone_times(job.one_rank),
          .factor = largest_factor(job),
          .values = fit.fit(job, start, iterations)};
}

/// A model of the links with its constants.
struct Candidate {
  std::unique_ptr<CalibrationFit> fit;
  cluster::LinkSharing within{};
  Fitted best{};
  double squares = 0;  // of the logarithms' residuals
};

Candidate candidate_of(CalibrationFit::Setting setting,
                       const MeasuredJob& job,
                       const CalibrationOptions& options,
                       cluster::LinkSharing within) {
  setting.machine = machine_for(options, within);
  Candidate candidate{
      .fit = std::make_unique<CalibrationFit>(std::move(setting), job),
      .within = within};
  candidate.best =
      fitted(*candidate.fit, job, candidate.fit->first_guess(job), kIterations);
  for (std::size_t i = 0; i < job.several_ranks.size(); ++i) {
    const double residual =
        std::log(candidate.fit->simulated(i, job, candidate.best.values) /
                 job.several_ranks[i].step());
    candidate.squares += residual * residual;
  }
  return candidate;
}

/// Where nobody says whether ranks of a host share its link, the records do;
/// where they do not either, as those of one world do not, `warnings` say so.
Candidate best_candidate(const CalibrationFit::Setting& setting,
                         const CalibrationOptions& options,
                         MeasuredJob& job) {
  Candidate own =
      candidate_of(setting, job, options, cluster::LinkSharing::kDevice);
  if (options.link || options.gives_links()) {
    return own;
  }
  Candidate shared =
      candidate_of(setting, job, options, cluster::LinkSharing::kHost);
  const auto error = [&](const Candidate& it) {
    return std::sqrt(it.squares /
                     static_cast<double>(job.several_ranks.size()));
  };
  constexpr double kTold = 0.002;  // of a step
  if (std::abs(error(shared) - error(own)) < kTold) {
    job.warnings.push_back(
        {.code = "unknown-sharing",
         .seen = "the records do not tell whether ranks of a host share its "
                 "link",
         .why = "each is taken to have one of its own",
         .advice = "add runs of other worlds, or give the links of --cluster"});
    return own;
  }
  return shared.squares < own.squares ? std::move(shared) : std::move(own);
}

void put_constants(const Candidate& chosen,
                   const std::vector<Fitted>& again,
                   const CalibrationOptions& options,
                   Calibration& calibration) {
  const Fitted& best = chosen.best;
  const auto add = [&](const std::string& name,
                       const std::string& unit,
                       const std::string& from,
                       auto value) {
    Series series;
    for (const Fitted& it : again) {
      series.push_back(value(it));
    }
    CalibratedConstant constant{
        .name = name, .unit = unit, .value = value(best), .from = from};
    if (!series.empty()) {
      // Refits to draws of few runs may all lie on one side of the value.
      constant.interval =
          stats::percentile_interval(std::move(series), options.level)
              .reaching(constant.value);
    }
    calibration.constants.push_back(std::move(constant));
  };
  add("step of one rank", "ms", "runs of 1 rank", [](const Fitted& it) {
    return it.alone.step * 1e3;
  });
  const int largest =
      calibration.measured.several_ranks.back().configuration.ranks;
  add(fmt::format("compute of {} ranks at once", largest),
      "of one rank's",
      "their steps without communication",
      [](const Fitted& it) { return it.factor; });
  if (options.link) {
    calibration.constants.push_back({.name = "rate of a rank's link",
                                     .unit = "Gbit/s",
                                     .value = options.link->bytes_per_s * 8e-9,
                                     .from = "the records' link"});
    calibration.constants.push_back(
        {.name = "latency of a hop",
         .unit = "us",
         .value = static_cast<double>(options.link->latency_ns) * 1e-3,
         .from = "the records' link"});
  }
  for (const Named& named : kNames) {
    if (best.values.contains(named.unknown)) {
      add(named.name,
          named.unit,
          fmt::format("fit to {} {}",
                      calibration.measured.several_ranks.size(),
                      calibration.measured.several_ranks.size() == 1 ? "case"
                                                                     : "cases"),
          [&](const Fitted& it) {
            return it.values.at(named.unknown) / named.unit_size;
          });
    }
  }
  const simulator::Costs costs =
      chosen.fit->costs(best.alone, best.factor, best.values);
  calibration.job.profile = costs.profile;
  calibration.job.machine = costs.machine;
  calibration.job.software = costs.software;
}

void put_cases(Candidate& candidate, Calibration& calibration) {
  const std::size_t cases = calibration.measured.several_ranks.size();
  const std::size_t free =
      std::max<std::size_t>(1, cases - candidate.best.values.size());
  const double scale =
      std::sqrt(static_cast<double>(cases) / static_cast<double>(free));
  for (std::size_t i = 0; i < cases; ++i) {
    const MeasuredCase& measured = calibration.measured.several_ranks[i];
    const double simulated = candidate.fit->simulated(
        i, calibration.measured, candidate.best.values);
    calibration.cases.push_back({.configuration = measured.configuration,
                                 .runs = measured.runs.size(),
                                 .measured_s = measured.step(),
                                 .simulated_s = simulated});
    calibration.residuals.push_back(scale *
                                    std::log(measured.step() / simulated));
  }
}

}  // namespace

Calibration calibrate(std::span<const records::RunRecord> records,
                      const CalibrationOptions& asked) {
  Calibration calibration;
  calibration.measured = measured_job_of(records);
  const CalibrationOptions options =
      completed(asked, calibration.measured.common());
  calibration.cluster = options.cluster;
  calibration.level = options.level;
  calibration.seed = options.seed;
  const records::Configuration& c = calibration.measured.common();
  check_supported(c);
  PredictRequest& job = calibration.job;
  job.network = network_of(c, options);
  job.batch_size = c.batch_size;
  job.optimizer = plan::update_rule_of(c.optimizer);
  const plan::PlanInput input = input_of(job, c);
  Candidate chosen = best_candidate(
      {.input = input,
       .shape = shape_of(calibration.measured, job.network, options),
       .update_bytes = update_bytes(input),
       .link = options.link,
       .one_link = !options.gives_links() || options.link,
       .software = engine_costs_named(options.link ? "link" : c.engine).costs},
      options,
      calibration.measured);
  std::vector<Fitted> again;
  for (std::size_t i = 0; i < options.resamples; ++i) {
    Random random(options.seed, i);
    again.push_back(fitted(*chosen.fit,
                           drawn(calibration.measured, random),
                           chosen.best.values,
                           kIterationsAgain));
    calibration.replicates.push_back(chosen.fit->costs(
        again.back().alone, again.back().factor, again.back().values));
  }
  put_constants(chosen, again, options, calibration);
  put_cases(chosen, calibration);
  const double exposed =
      chosen.best.values.empty()
          ? 1
          : chosen.fit->most_exposed(calibration.measured, chosen.best.values);
  warn_of_gaps(exposed, options, calibration);
  warn_of_fit(chosen.best, calibration);
  return calibration;
}

}  // namespace paceline::predict
