// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/base/ranks_per_host.h"
#include "paceline/launch/key_value_store.h"
#include "paceline/plan/optimizer.h"
#include "paceline/plan/program.h"
#include "paceline/rank/dispatcher_options.h"
#include "paceline/rank/parameter_slices.h"
#include "paceline/strategies/strategy.h"

namespace paceline::extension {
namespace {

std::string canonical_strategy(const ModelOptions& options) {
  const strategies::StrategySpec spec =
      strategies::parse_strategy(options.strategy, {.bucket_mb = options.bucket_mb});
  if (spec.external()) {
    throw UsageError(
        fmt::format("strategy '{}' is for external programs, not for Paceline.", options.strategy));
  }
  return spec.text();
}

cases::Case configuration_of(const Job& job, const ModelOptions& options) {
  cases::Case c;
  c.model = "the network";
  c.batch_size = options.accumulate;
  c.accumulate = options.accumulate;
  c.ranks = job.size();
  c.ranks_per_host = ranks_per_host<std::string>(job.world().hosts);
  c.strategy = canonical_strategy(options);
  c.bucket_mb = options.bucket_mb;
  c.warmup = 0;
  c.seed = options.seed;
  c.optimizer = options.optimizer;
  c.clip_norm = options.clip_norm;
  return c;
}

// Returns the order of layers and gradients on rank 0, because ranks may compute different parts of
// the network in the first step, such as experts.
runtime::TracedOrder order_of_rank_0(Job& job, const std::string& group, runtime::TracedOrder own) {
  if (job.size() == 1) {
    return own;
  }
  launch::KeyValueStore& store = *job.world().store;
  const std::string key = group + "/order";
  if (job.rank() == 0) {
    store.set(key, nlohmann::json{{"layers", own.layers}, {"parameters", own.parameters}}.dump());
    return own;
  }
  const engines::PeerWait peers = job.peers(at::kCPU);
  const std::optional<std::string> text = launch::wait_for(store, key, peers.limit(), peers.idle);
  if (!text) {
    throw PeerTimeout("Rank 0 has not traced its first step within the timeout of init().");
  }
  const nlohmann::json order = nlohmann::json::parse(*text);
  return {.layers = order["layers"], .parameters = order["parameters"]};
}

}  // namespace

Model::Model(Job& job, ModelOptions options)
    : job_(job), options_(std::move(options)), configuration_(configuration_of(job, options_)) {
  plan::optimizer_named(options_.optimizer);
}

Model::~Model() { close(); }

void Model::close() {
  const py::gil_scoped_release released;  // threads of the trainer may need it
  trainer_.reset();
  claim_.reset();
}

void Model::set_groups(std::vector<ParameterGroup> groups) {
  groups_ = std::move(groups);
  new_groups_ = true;
}

// Throws UsageError if a parameter that is trained is in no group of the optimizer.
void Model::require_groups_of_all(const plan::ModelShape& model) const {
  for (const plan::ParameterShape& parameter : model.parameters) {
    const bool known = std::ranges::any_of(groups_, [&](const ParameterGroup& group) {
      return std::ranges::find(group.parameters, parameter.name) != group.parameters.end();
    });
    if (!known) {
      throw UsageError(
          fmt::format("Parameter {} is trained and in no group of the optimizer: add it to one, or "
                      "freeze it by requires_grad_(False).",
                      parameter.name));
    }
  }
}

runtime::OptimizerSettings Model::settings_of(const plan::ModelShape& model,
                                              const plan::Setup& setup) const {
  require_groups_of_all(model);
  runtime::OptimizerSettings all = groups_.front().settings;
  if (groups_.size() == 1) {
    return all;  // its rate is the plan's
  }
  for (const ParameterGroup& group : groups_) {
    runtime::OptimizerSettings own = group.settings;
    own.rate = group.learning_rate;
    own.slices = rank::padded_value_slices(setup, [&](std::size_t p) {
      return std::ranges::find(group.parameters, model.parameters[p].name) !=
             group.parameters.end();
    });
    all.groups.push_back(std::move(own));
  }
  return all;
}

void Model::prepare(const py::function& closure) {
  network_->set_closure(closure);
  const auto parameters = network_->parameters();
  if (parameters.empty()) {
    throw UsageError("The network has no parameter that is trained.");
  }
  const at::Device device = parameters.front().device();
  configuration_.device = device.is_cpu() ? "cpu" : "cuda";
  configuration_.engine = job_.engine().name();
  configuration_.learning_rate = groups_.front().learning_rate;
  configuration_.momentum = 0;  // whether the plan has state for it
  for (const ParameterGroup& group : groups_) {
    configuration_.momentum = std::max(configuration_.momentum, group.settings.momentum);
  }
  const at::Tensor any = at::zeros({options_.accumulate});
  job_.without_gil([&] {
    const rank::RankGroup group = job_.make_group(device);
    trainer_ = std::make_unique<rank::Trainer>(
        configuration_, group,
        rank::TrainerOptions{
            .dispatcher = rank::dispatcher_options(
                {.timeout = job_.timeout(), .heartbeat = &job_.heartbeat()},
                [this](const std::exception_ptr& why) {
                  try {
                    std::rethrow_exception(why);
                  } catch (const std::exception& error) {
                    job_.end(error);
                  }
                }),
            .loss_scale = options_.loss_scale,
            .network = [this] { return network_; },
            .batch = networks::Batch{.input = any, .target = any},
            .agree_on_order =
                [&](runtime::TracedOrder own) {
                  return order_of_rank_0(job_, group.name, std::move(own));
                },
            .rule = [this](const plan::ModelShape& model,
                           const plan::Setup& setup) { return settings_of(model, setup); }});
    claim_ = std::make_unique<launch::Heartbeat::Claim>(job_.heartbeat());
  });
  network_->set_closure({});
  new_groups_ = false;
  const auto& shapes = trainer_->input().model.parameters;
  for (std::size_t p = 0; p < shapes.size(); ++p) {
    places_.emplace(shapes[p].name, p);
  }
}

int Model::training_ranks() const { return trainer_->planner().training_ranks(trainer_->input()); }

bool Model::averages_gradients() const {
  const strategies::StrategySpec spec = strategies::strategy_of(configuration_);
  if (job_.size() == 1) {
    return true;
  }
  return spec.update.row == nullptr ? spec.guarantee() == strategies::Guarantee::kExact
                                    : spec.update.row == &strategies::update_rules().front();
}

bool Model::replicates() const {
  const strategies::Guarantee guarantee = strategies::strategy_of(configuration_).guarantee();
  return training_ranks() == job_.size() &&
         (job_.size() == 1 || guarantee == strategies::Guarantee::kExact ||
          guarantee == strategies::Guarantee::kRounded ||
          guarantee == strategies::Guarantee::kCompressed);
}

void Model::begin_forward() {
  job_.without_gil([&] {
    if (micro_ == 0) {
      trainer_->begin_step();
    }
    trainer_->executor().begin_forward(micro_);
  });
}

void Model::enter(const Unit& unit) {
  job_.without_gil([&] { unit.enter(); });
}

bool Model::leave(const Unit& unit) {
  return job_.without_gil([&] { return unit.leave(); });
}

void Model::enter_backward(const Unit& unit) {
  job_.without_gil([&] { unit.enter_backward(); });
}

// The constants of the updates are set here, because the updates of the previous step have read
// theirs when all Forward ops of this step are complete (Note [The learning rate of a step]).
void Model::begin_backward() {
  job_.without_gil([&] {
    trainer_->executor().begin_backward();
    if (micro_ == 0 && std::exchange(new_groups_, false)) {
      const at::NoGradGuard no_grad;
      if (const at::Tensor* rate = trainer_->memory().scalar(plan::kLearningRate)) {
        rate->fill_(groups_.front().learning_rate);
      }
      trainer_->executor().set_rule(settings_of(trainer_->input().model, trainer_->setup()));
    }
  });
}

at::Tensor Model::gradient_slot(const at::Tensor& parameter) {
  return job_.without_gil([&] {
    return trainer_ == nullptr ? at::Tensor() : trainer_->executor().gradient_slot(parameter);
  });
}

void Model::end_backward() {
  job_.without_gil([&] { trainer_->executor().end_backward(); });
  micro_ = (micro_ + 1) % options_.accumulate;
}

void Model::serve() {
  job_.without_gil([&] { trainer_->executor().serve_step(); });
}

void Model::drain() {
  job_.without_gil([&] { trainer_->drain(); });
}

void Model::throw_if_failed() {
  job_.without_gil([&] { trainer_->executor().throw_if_failed(); });
}

at::Tensor Model::loss_scale() const {
  const at::Tensor* scale = trainer_->memory().scalar(plan::kLossScale);
  return scale == nullptr ? at::Tensor() : scale->reshape({}).clone();
}

void Model::show_gradients() {
  for (std::size_t p = 0; p < places_.size(); ++p) {
    trainer_->executor().show_gradient(static_cast<plan::ParameterId>(p));
  }
}

at::Tensor Model::state(const std::string& parameter, const std::string& name) const {
  const auto place = places_.find(parameter);
  const auto buffer = plan::find_buffer(trainer_->setup(), name);
  if (place == places_.end() || !buffer || !trains()) {
    return {};
  }
  const auto& placement = trainer_->setup().parameters[place->second].value;
  const auto& buffers = trainer_->setup().buffers;
  if (buffers[plan::index_of(*buffer)].elements !=
      buffers[plan::index_of(placement.buffer)].elements) {
    return {};  // this rank has a shard of the state
  }
  return trainer_->memory().parameter_view(static_cast<plan::ParameterId>(place->second),
                                           {*buffer, placement.begin, placement.count});
}

at::Tensor Model::step_count() const {
  const at::Tensor* count = trainer_->memory().scalar(plan::kStepCount);
  return count == nullptr ? at::Tensor() : count->reshape({});
}

void Model::restart_from_parameters() { trainer_->restart_from_parameters(); }

std::vector<std::string> Model::ready_order() const {
  std::vector<std::string> names;
  const plan::ModelShape& model = trainer_->input().model;
  for (const plan::ParameterId p : model.ready_order) {
    names.push_back(model.parameters[plan::index_of(p)].name);
  }
  return names;
}

}  // namespace paceline::extension
