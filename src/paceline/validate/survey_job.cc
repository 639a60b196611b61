// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/survey_job.h"

#include <map>
#include <memory>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/strategy.h"
#include "paceline/validate/fenced.h"
#include "paceline/validate/fixed.h"
#include "paceline/validate/published_setup.h"

namespace paceline::validate {
namespace {

using plan::Rank;

constexpr Rank kLocal = 4;

plan::AlphaBeta planned_with(const SurveyCell& cell) {
  for (const PublishedLine& line : planning_lines(planning_table(cell))) {
    if (line.ranks == cell.gpus) {
      plan::AlphaBeta model;
      model.origin = "ddl-benchmarks' tables";
      model.world = cell.gpus;
      model.all_reduce = plan::line_of(line.alpha, line.beta);
      return model;
    }
  }
  throw UsageError(fmt::format("no table of {} workers", cell.gpus));
}

struct Timed {
  TimedNetwork without_optimizer, with_optimizer;
};

Timed timed_of(const Published& one) {
  const double step = one.batch_size / one.samples_per_s;
  const auto elements =
      static_cast<double>(plan::network_shape(one.shape).elements());
  const double optimizer =
      one.adam ? kAdamPasses * 4 * elements / kMemoryRate : 0;
  return {timed_network(one.shape, one.batch_size, step - optimizer),
          timed_network(one.shape, one.batch_size, step)};
}

std::string server_schedule(const SurveyCell& cell) {
  return cell.is_fused() ? "bsp" : "wfbp";
}

std::unique_ptr<plan::Planner> planner_of(const SurveyCell& cell) {
  const auto named = [](std::string_view text) {
    return strategies::make_planner(strategies::parse_strategy(text));
  };
  if (cell.serves()) {
    return named(cell.hosts() > 1 ? server_strategy(cell)
                                  : server_schedule(cell) + "+ps:local=0");
  }
  if (cell.is_scheduled()) {  // 4 and 16 million parameters
    return named(
        "bytescheduler:order=priority,partition-mb=15.2587890625,"
        "credit-mb=61.03515625");
  }
  if (cell.method == "MG-WFBP") {
    return fenced(named("mg-wfbp:small-elements=8192"));
  }
  return named(cell.is_fused() ? "bsp" : "wfbp");
}

}  // namespace

const TimedNetwork& timed(const SurveyCell& cell) {
  static const std::map<std::string, Timed> all = [] {
    std::map<std::string, Timed> networks;
    for (const Published& one : published_models()) {
      networks.emplace(one.model, timed_of(one));
    }
    return networks;
  }();
  const Timed& networks = all.at(cell.model);
  // ByteScheduler's poller launches AdamW's kernels amid the others, so that
  // the device's time for them is part of computing.
  return cell.is_scheduled() ? networks.with_optimizer
                             : networks.without_optimizer;
}

std::string_view planning_table(const SurveyCell& cell) {
  return cell.network == "10GbE" ? "10GbE" : "56GbIB";
}

Case case_of(const SurveyCell& cell) {
  Case one;
  one.input = input_of(timed(cell), cell.hosts(), kLocal);
  one.input.alpha_beta = planned_with(cell);
  if (published(cell.model).adam && !cell.serves()) {
    one.input.optimizer = {.name = "adamw", .state_buffers = 2};
  }
  if (cell.serves() && cell.hosts() > 1) {  // as many servers
    one.input.world += cell.hosts();
    one.input.local_world.add(cell.hosts(), 1);
  }
  one.planner = planner_of(cell);
  if (cell.serves()) {
    one.steps = 2;  // each waits for all of the one before
  }
  if (cell.is_scheduled()) {
    one.steps = 8;  // crosses the step border, so it settles later
  }
  return one;
}

std::string server_strategy(const SurveyCell& cell) {
  std::string strategy =
      fmt::format("{}+ps:local=0,placement=apart,assign=hash,servers={}",
                  server_schedule(cell),
                  cell.hosts());
  if (cell.is_fused()) {
    const std::size_t gradients = timed(cell).shape.model.parameters.size();
    const std::size_t beside =
        cell.model == "ResNet-50" ? kImageState : kTextState;
    strategy += fmt::format(",first-key={}", 2 * gradients + beside);
  }
  return strategy;
}

}  // namespace paceline::validate
