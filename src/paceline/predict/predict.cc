// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/predict.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/cluster/profile_file.h"
#include "paceline/plan/issue_rule.h"
#include "paceline/plan/optimizer.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/predict/case_request.h"
#include "paceline/predict/engine_choice.h"
#include "paceline/predict/engines.h"
#include "paceline/predict/kernel_costs.h"
#include "paceline/predict/launch_overhead.h"
#include "paceline/predict/one_host.h"
#include "paceline/predict/request_costs.h"
#include "paceline/predict/request_profile.h"
#include "paceline/simulator/job_cache.h"
#include "paceline/strategies/dense_part.h"
#include "paceline/strategies/sharded_embeddings.h"
#include "paceline/strategies/strategy.h"

namespace paceline::predict {
namespace {

constexpr int kBatch = 32;  // batch size if neither the request nor the cluster gives one
constexpr plan::Step kWarmup = 2;
constexpr plan::Step kMostPeriods = 8;  // most periods that are simulated until steps repeat

plan::PlanInput input_of(const PredictRequest& request) {
  plan::PlanInput input;
  input.model = request.network.model;
  input.world = request.ranks;
  input.local_world = cluster::ranks_per_host(request.cluster, request.ranks);
  input.optimizer = plan::shape_of(request.optimizer, request.momentum);
  input.micro_batches = request.accumulate;
  return input;
}

/// Returns the input without the part of the network that embedding tables replace.
plan::PlanInput dense_part(const PredictRequest& request, plan::PlanInput input) {
  if (request.tables) {
    input.model = strategies::dense_part_of(input.model).dense;
  }
  return input;
}

std::unique_ptr<plan::Planner> planner_of(const PredictRequest& request,
                                          const strategies::StrategySpec& strategy) {
  auto planner = strategies::make_planner(strategy);
  return request.tables ? strategies::make_sharded_embeddings(*request.tables, std::move(planner),
                                                              strategies::RowExchange::kServed)
                        : std::move(planner);
}

plan::Step whole_periods(plan::Step steps, plan::Step period) {
  return (steps + period - 1) / period * period;
}

/// Returns the record's configuration without the fields that follow from the compiled job.
cases::Case case_of(const PredictRequest& request, const std::string& strategy,
                    const EngineCosts& engine) {
  cases::Case configuration;
  configuration.label = counted(request.ranks, "rank");
  configuration.model = request.network.model.name;
  configuration.sequence_length = request.network.sequence_length;
  configuration.batch_size = batch_size_of(request);
  configuration.accumulate = request.accumulate;
  configuration.dtype = cluster::word_of(request.network.model.dtype);
  configuration.ranks = request.ranks;
  configuration.strategy = strategy;
  configuration.bucket_mb = request.bucket_mb;
  configuration.engine = engine.name;
  const std::string& device = request.cluster.device.name;
  configuration.device = device.empty() ? "device" : device;
  configuration.steps = static_cast<int>(request.steps);
  configuration.warmup = kWarmup;
  configuration.optimizer = request.optimizer;
  configuration.seed = request.noise.seed;
  configuration.cluster = priced_on(request);
  if (request.tables) {
    describe_tables(request, configuration);
  }
  return configuration;
}

/// Returns the strategy's canonical text; the text as given if its parts cannot be combined.
std::string text_of_strategy(const PredictRequest& request) {
  try {
    return strategies::strategy_of(request).text();
  } catch (const UsageError&) {
    return request.strategy;
  }
}

/// Sets the names of the ranks' hosts.  Hosts are filled in the cluster's order.
void name_hosts(const PredictRequest& request, Prediction& prediction) {
  const simulator::Classes& classes = prediction.job->classes;
  for (records::RankSamples& rank : prediction.record.ranks) {
    const auto host = classes.host_of[static_cast<std::size_t>(rank.rank)];
    rank.host = request.cluster.hosts[static_cast<std::size_t>(host)].name;
  }
}

/// Adds warnings of the strategy's parts that have no effect in this world.  With embedding tables
/// nothing is added, because the strategy is that of fewer ranks.
void add_idle_parts(const PredictRequest& request, const strategies::StrategySpec& strategy,
                    const plan::PlanInput& input, records::RunRecord& record) {
  if (request.tables) {
    return;
  }
  if (auto one_host = one_host_warning(strategy, input)) {
    record.warnings.push_back(*std::move(one_host));
  }
  if (auto idle = idle_codec_warning(strategy, input.world)) {
    record.warnings.push_back(*std::move(idle));
  }
}

/// A job and the results of its simulation.
struct SimulatedJob {
  std::shared_ptr<const simulator::Job> job;
  simulator::Simulator simulator;
  simulator::StepTimes times;
};

/// Simulates enough steps that all variation between steps occurs and that steps repeat.  If two
/// periods do not show this, more are simulated, except with a period of one step: such steps never
/// repeat if they do not repeat at once.
SimulatedJob simulate_until_steady(const PredictRequest& request,
                                   const strategies::StrategySpec& strategy,
                                   const plan::PlanInput& input, const simulator::Costs& costs,
                                   simulator::JobCache& jobs) {
  const plan::Step period = simulator::period_of(*planner_of(request, strategy), input);
  const plan::Step shown = whole_periods(request.steps, period);
  const plan::Step most = (period > 1 ? kMostPeriods : 2) * period + 2;
  plan::Step steps = std::max({plan::Step{6}, kWarmup + shown + 1, 2 * period + 2});
  while (true) {
    const simulator::JobOptions options{
        .steps = steps, .fold = !request.noise.any(), .warmup = steps - 1 - shown};
    auto job = request.tables ? std::make_shared<const simulator::Job>(simulator::compile(
                                    *planner_of(request, strategy), input, options))
                              : jobs.compiled(strategy, input, options);
    simulator::Simulator simulator(*job);
    simulator::StepTimes times = simulator.run(costs);
    if (steps >= most || request.noise.any() || times.steady) {
      return {std::move(job), std::move(simulator), std::move(times)};
    }
    steps = std::min(2 * steps, most);
  }
}

// Throws the errors of a run on an engine that needs one order of issue on all ranks.
void check_order(const strategies::StrategySpec& strategy, const plan::PlanInput& input,
                 const std::string& engine) {
  if (strategy.exchange.row != nullptr && strategy.exchange.row->late) {
    throw UsageError(fmt::format(
        "--strategy: '{}' averages what has arrived, but on {} a rank performs one operation after "
        "the other and each waits for its peer; take --engine gloo or mpi, or neighbor-allreduce",
        strategy.exchange.row->name, engine));
  }
  const auto planner = strategies::make_planner(strategy);
  plan::require_one_order(*planner, input, planner->setup(input), engine);
}

/// Throws UsageError if the engine cannot carry the strategy out.
SimulatedJob simulate_engine(const PredictRequest& request,
                             const strategies::StrategySpec& strategy, const plan::PlanInput& input,
                             const simulator::Costs& costs, simulator::JobCache& jobs) {
  if (costs.software.one_issue_order && request.ranks > 1 && !request.tables) {
    check_order(strategy, input, engine_of(request.engine, request.cluster));
  }
  return simulate_until_steady(request, strategy, input, costs, jobs);
}

/// Simulates the lower bound, with costs of the links alone.  A list schedule may get longer when
/// its parts get shorter (Graham, SIAM J. Appl.  Math. 1969, doi:10.1137/0117039), so the engine's
/// own schedule is used if it is shorter.  An engine that cannot carry the strategy out has no
/// schedule.
SimulatedJob simulate_bound(const PredictRequest& request, const strategies::StrategySpec& strategy,
                            const plan::PlanInput& input, simulator::Costs& costs,
                            simulator::JobCache& jobs) {
  const simulator::Costs of_engine = costs;
  remove_software_costs(request, costs);
  SimulatedJob bound = simulate_until_steady(request, strategy, input, costs, jobs);
  std::optional<SimulatedJob> engine;
  try {
    engine.emplace(simulate_engine(request, strategy, input, of_engine, jobs));
  } catch (const UsageError&) {
    return bound;
  }
  if (engine->times.step < bound.times.step) {
    costs = of_engine;
    return *std::move(engine);
  }
  return bound;
}

/// Simulates the job without communication.
simulator::Simulator simulate_without_communication(Prediction& prediction) {
  simulator::Simulator simulator(*prediction.job);
  simulator::Costs free = prediction.costs;
  free.free_communication = true;
  prediction.compute_only = simulator.run(free);
  return simulator;
}

cluster::Group world_of(const plan::PlanInput& input) {
  return {.ranks = input.world,
          .hosts = static_cast<plan::Rank>(input.local_world.hosts()),
          .ranks_on_fullest_host = input.local_world.most()};
}

/// Sets the planner's times to those from which a measured run made its plan.
void set_planner_times(const records::PlannerTimes& by, plan::PlanInput& input) {
  const auto line = [&](plan::Pattern pattern) {
    const auto found = by.costs.find(std::string(plan::name_of(pattern)));
    return found == by.costs.end() ? plan::AlphaBetaTime{}
                                   : plan::alpha_beta_time_of(found->second);
  };
  input.profile = plan::LayerProfile{
      .origin = by.profile_origin, .forward = by.forward_ps, .backward = by.backward_ps};
  plan::check_profile(input.model, *input.profile);
  plan::AlphaBeta& costs = *input.alpha_beta;
  costs.origin = by.costs_origin;
  costs.all_reduce = line(plan::Pattern::kAllReduce);
  costs.reduce_scatter = line(plan::Pattern::kReduceScatter);
  costs.all_gather = line(plan::Pattern::kAllGather);
  costs.broadcast = line(plan::Pattern::kBroadcast);
}

/// A request with its layer times, link costs and software costs, before the simulation.
struct CostedRequest {
  const EngineCosts& asked;
  strategies::StrategySpec strategy;
  plan::PlanInput input;
  simulator::Costs costs;
  int batch_size = 0;
  double update_s = 0;           // seconds that one device's update takes
  plan::Picoseconds linear = 0;  // time of a step of one device alone
  std::vector<records::Warning> warnings;
};

cases::Case case_of(const PredictRequest& request, const CostedRequest& costed,
                    const simulator::Job& job) {
  cases::Case configuration = case_of(request, costed.strategy.text(), costed.asked);
  configuration.ranks_per_host = job.input.local_world.sizes();
  configuration.steps = static_cast<int>(whole_periods(request.steps, job.period));
  return configuration;
}

CostedRequest costed_request(const PredictRequest& request) {
  check_steps(request);
  check_batch(request);
  const EngineCosts& asked =
      request.cost_table().engine(engine_of(request.engine, request.cluster));
  const EngineCosts& engine =
      costs_of_engine(request.cost_table(), request.engine, request.cluster);
  CostedRequest costed{.asked = asked,
                       .strategy = strategies::strategy_of(request),
                       .input = input_of(request),
                       .costs = {},
                       .batch_size = batch_size_of(request),
                       .warnings = request.warnings};
  plan::PlanInput& input = costed.input;
  const plan::PlanInput dense = dense_part(request, input);
  simulator::Costs& costs = costed.costs;
  costs = costs_of(request, engine, dense, costed.warnings);
  if (!request.unfused) {
    warn_of_launches(request.network, engine, costs.software, costed.warnings);
  }
  costed.update_s = update_seconds(request, costs.software, dense);
  costs.profile =
      profile_of(request, costed.batch_size / request.accumulate, costed.update_s, costed.warnings);
  costed.linear =
      request.accumulate * (costs.profile.forward_total() + costs.profile.backward_total()) +
      plan::picoseconds_of(costed.update_s);
  if (!asked.bound && engine.module_call > 0) {
    add_launch_overhead(request.network, plan::seconds_of(engine.module_call),
                        engine.module_call_spread, request.ranks, costs);
  }
  input.profile = costs.profile;
  input.alpha_beta = alpha_beta_of(costs.machine, costs.software, world_of(input));
  if (request.planned_by) {
    set_planner_times(*request.planned_by, input);
  }
  return costed;
}

SimulatedJob simulated(const PredictRequest& request, CostedRequest& costed) {
  simulator::JobCache own;
  simulator::JobCache& jobs = request.jobs != nullptr ? *request.jobs : own;
  return costed.asked.bound
             ? simulate_bound(request, costed.strategy, costed.input, costed.costs, jobs)
             : simulate_engine(request, costed.strategy, costed.input, costed.costs, jobs);
}

}  // namespace

double update_seconds_of(const PredictRequest& request) {
  const plan::PlanInput input = dense_part(request, input_of(request));
  std::vector<records::Warning> warnings;
  const simulator::Costs costs =
      costs_of(request, costs_of_engine(request.cost_table(), request.engine, request.cluster),
               input, warnings);
  return update_seconds(request, costs.software, input);
}

int batch_size_of(const PredictRequest& request) {
  const cluster::DeviceThroughput* row = throughput_of(request);
  return request.batch_size > 0 ? request.batch_size
         : row != nullptr       ? row->batch_size * request.accumulate
                                : kBatch * request.accumulate;
}

double Prediction::samples_per_s() const {
  return static_cast<double>(record.configuration.batch_size) * training_ranks(*job) /
         plan::seconds_of(times.step);
}

double Prediction::linear_samples_per_s() const {
  return static_cast<double>(record.configuration.batch_size) * training_ranks(*job) /
         plan::seconds_of(linear);
}

PredictedStep step_of(const PredictRequest& request) {
  const CostedRequest costed = costed_request(request);
  const auto of_micro_batches = [&](int count) {
    CostedRequest fewer = costed;
    fewer.input.micro_batches = count;
    const SimulatedJob done = simulated(request, fewer);
    return PredictedStep{.step = done.times.step, .training_ranks = training_ranks(*done.job)};
  };
  constexpr int kFew = 3;
  if (request.accumulate > 2 * kFew && !request.noise.any()) {
    const plan::Picoseconds work =
        costed.costs.profile.forward_total() + costed.costs.profile.backward_total();
    PredictedStep few = of_micro_batches(kFew);
    // If one more micro-batch adds only its model work, it waits for no communication, and further
    // ones do not either.
    if (few.step - of_micro_batches(kFew - 1).step == work) {
      few.step += (request.accumulate - kFew) * work;
      return few;
    }
  }
  return of_micro_batches(request.accumulate);
}

records::RunRecord rejected_record(const PredictRequest& request, const std::string& why) {
  records::RunRecord record;
  record.source = records::Source::kPredicted;
  record.experiment = "predict";
  record.configuration =
      case_of(request, text_of_strategy(request),
              request.cost_table().engine(engine_of(request.engine, request.cluster)));
  if (request.ranks <= request.cluster.slots()) {
    record.configuration.ranks_per_host = cluster::ranks_per_host(request.cluster, request.ranks);
  }
  record.error = why;
  return record;
}

Prediction predict(const PredictRequest& request, bool with_spans) {
  Prediction prediction;
  CostedRequest costed = costed_request(request);
  const plan::PlanInput& input = costed.input;
  auto [job, simulator, times] = simulated(request, costed);
  prediction.linear = costed.linear;
  prediction.costs = std::move(costed.costs);
  const simulator::Costs& costs = prediction.costs;
  prediction.job = std::move(job);
  prediction.times = std::move(times);
  prediction.bound = bound_of(*prediction.job, costs);
  prediction.bar = error_bar_of(request, costs.machine);
  const simulator::Simulator alone = simulate_without_communication(prediction);
  prediction.record = record_of(*prediction.job, simulator, prediction.times, alone,
                                case_of(request, costed, *prediction.job));
  name_hosts(request, prediction);
  prediction.record.experiment = "predict";
  prediction.record.warnings = std::move(costed.warnings);
  add_idle_parts(request, costed.strategy, input, prediction.record);
  prediction.record.predicted =
      predicted_of(*prediction.job, prediction.bound, prediction.bar, prediction.times.step);
  if (with_spans) {
    prediction.spans = spans_of(*prediction.job, simulator);
    prediction.rank_names = rank_names(*prediction.job, request.cluster);
  }
  return prediction;
}

}  // namespace paceline::predict
