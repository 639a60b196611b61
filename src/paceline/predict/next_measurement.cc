// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/next_measurement.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::predict {
namespace {

/// A measurement is worth its effort only if the interval shrinks below this share of its width.
constexpr double kMaxUsefulWidthRatio = 0.95;

/// A number of ranks on which the user could measure.
struct World {
  std::string what;
  plan::Rank ranks = 1;
};

std::vector<World> worlds_of(const cluster::Cluster& cluster) {
  const std::vector<int> slots = cluster.slots_by_host();
  std::vector<World> worlds{{"one device", 1}};
  const auto add = [&](std::string what, int ranks) {
    if (ranks > worlds.back().ranks) {
      worlds.push_back({std::move(what), ranks});
    }
  };
  add("one host", slots.front());
  if (slots.size() > 2) {
    add("two hosts", slots[0] + slots[1]);
  }
  add("all hosts", cluster.slots());
  return worlds;
}

/// Returns the measurement of the strategy on this number of ranks, as a figure of `--measured`.
/// One device is measured with strategy none.
MeasuredFigure figure_of(const PredictRequest& job, plan::Rank ranks) {
  MeasuredFigure figure{.ranks = ranks,
                        .batch_size = batch_size_of(job),
                        .accumulate = job.accumulate,
                        .strategy = ranks == 1 ? "none" : job.strategy};
  figure.words = fmt::format(
      "ranks={} batch={} {}strategy={}", ranks, figure.batch_size,
      job.accumulate > 1 ? fmt::format("accumulate={} ", job.accumulate) : "", figure.strategy);
  return figure;
}

/// Returns the request's fit with the figure added; without a fit, a fit to this figure alone.
MeasuredFit fit_with(const AdviseRequest& request, MeasuredFigure figure) {
  if (request.fit) {
    return request.fit->if_measured(std::move(figure));
  }
  PredictRequest job = request.job;
  job.ranks = figure.ranks;
  job.strategy = figure.strategy;
  job.steps = 3;  // the fewest allowed; single steps are not shown
  figure.step_s = plan::seconds_of(step_of(job).step);
  return {request.job, {std::move(figure)}};
}

double share_of(const StepErrors& errors) { return std::expm1(errors.half_width()); }

}  // namespace

const NextMeasurement* NextMeasurements::best(bool skip_asked) const {
  const auto found = std::ranges::find_if(candidates, [&](const NextMeasurement& it) {
    return !(skip_asked && it.is_asked) &&
           (!present_half_width || it.half_width < kMaxUsefulWidthRatio * *present_half_width);
  });
  return found == candidates.end() ? nullptr : &*found;
}

NextMeasurements next_measurements(const AdviseRequest& request, const Advice& asked) {
  PredictRequest job = request.job;
  job.strategy = asked.configuration.strategy;
  NextMeasurements next{.strategy = job.strategy,
                        .present_half_width = asked.bar.share,
                        .measured = request.fit != nullptr,
                        .candidates = {}};
  if (request.fit) {
    next.present_half_width = share_of(request.fit->errors_of(job));
  }
  for (const World& world : worlds_of(job.cluster)) {
    if (has_servers(job.strategy) && world.ranks > kMostServers) {
      continue;  // the simulation of more takes minutes
    }
    const MeasuredFigure figure = figure_of(job, world.ranks);
    try {
      if (!(request.fit && request.fit->is_measured(figure))) {
        next.candidates.push_back(
            {.what = world.what,
             .figure = figure.words,
             .ranks = world.ranks,
             .is_asked = world.ranks == job.ranks,
             .half_width = share_of(fit_with(request, figure).errors_of(job))});
      }
    } catch (const UsageError&) {
      continue;  // the strategy cannot run there, or its step does not depend on compute
    }
  }
  if (const auto swept = request.fit ? request.fit->if_collectives_measured() : std::nullopt) {
    next.candidates.push_back({.what = "collectives alone",
                               .figure = {},
                               .ranks = job.ranks,
                               .half_width = share_of(swept->errors_of(job))});
  }
  std::ranges::stable_sort(next.candidates, {}, &NextMeasurement::half_width);
  return next;
}

}  // namespace paceline::predict
