// SPDX-License-Identifier: Apache-2.0
// What a trainer makes before its first step: the network, the plan and the memory.
#include <algorithm>
#include <chrono>
#include <future>

#include <fmt/format.h>
#include <torch/types.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/scheduling.h"
#include "paceline/case/learning_rate.h"
#include "paceline/cluster/link_spec.h"
#include "paceline/engines/background.h"
#include "paceline/networks/network.h"
#include "paceline/plan/access.h"
#include "paceline/plan/data_traits.h"
#include "paceline/plan/program.h"
#include "paceline/plan/sample_file.h"
#include "paceline/plan/verify.h"
#include "paceline/rank/embedding_case.h"
#include "paceline/rank/planner_input.h"
#include "paceline/rank/statistics.h"
#include "paceline/rank/trainer.h"
#include "paceline/runtime/profile_layers.h"

namespace paceline::rank {
namespace {

// The time of larger collectives is extrapolated along the fitted line.
constexpr std::int64_t kLargestTimedBytes = 16 << 20;

// How long ranks compute beside the measurement of collectives, and how long the training thread
// pauses after each step of it.  In training the thread pauses at its waits.  If it never paused,
// other threads of its rank might starve for seconds where ranks share cores and each rank is a
// session of its own: the scheduler's autogroups give a session hardly any time on other cores.
constexpr std::chrono::seconds kLongestCompute{10};
constexpr std::chrono::microseconds kPause{100};

// Each operation of a measurement has a deadline of its own, so the sum of all needs none: the
// limit is above any.
constexpr std::chrono::hours kLongestMeasurement{24};

void check_images(const cases::Case& c) {
  const auto* images = std::get_if<networks::ImageSample>(&networks::find_network(c.model).sample);
  const int channels = images == nullptr ? 0 : images->channels;
  const int given = plan::is_mapped(c.data) ? plan::read_sample_file(c.data).channels
                                            : plan::find_data_traits(c.data)->channels;
  if (channels != given) {
    throw UsageError(
        fmt::format("--data {}: its images have {}, and {} reads {}; take another --model", c.data,
                    given == 1 ? "1 channel" : "3 channels", c.model, channels));
  }
}

}  // namespace

at::ScalarType Trainer::dtype() const {
  return options_.dtype.value_or(networks::parameter_dtype(precision_));
}

// Makes tensors of the profile's shapes, without a network and without values.
void Trainer::make_replay() {
  replay_ = std::make_unique<Replay>(cluster::read_profile(configuration_.replay),
                                     configuration_.stretch);
  const plan::ModelShape& shape = replay_->profiled().model;
  traced_ = {.network = nullptr,
             .shape = shape,
             .gated = std::vector<networks::Gated*>(shape.modules.size()),
             .parameters = {}};
  const auto options =
      at::TensorOptions(ranks_.device).dtype(runtime::scalar_type(shape.dtype)).requires_grad(true);
  for (const plan::ParameterShape& parameter : shape.parameters) {
    traced_.parameters.push_back(torch::empty(parameter.sizes, options));
  }
}

void Trainer::make_network() {
  if (!configuration_.replay.empty()) {
    make_replay();
    return;
  }
  if (configuration_.accumulate < 1 || configuration_.batch_size % configuration_.accumulate != 0) {
    throw UsageError(fmt::format("--accumulate {} must divide --batch-size {}.",
                                 configuration_.accumulate, configuration_.batch_size));
  }
  if (!configuration_.data.empty()) {
    check_images(configuration_);
  }
  if (options_.batch) {
    network_ = options_.network();
    set_batches(*options_.batch);
    return;
  }
  network_ = new_network();
  network_->train();
  if (!configuration_.data.empty()) {
    read_data();
    return;
  }
  if (embeddings_) {
    strategies::check_job(*embeddings_);
    batches_ = {bag_batch(0)};
    return;
  }
  set_batches(networks::make_batch(networks::find_network(configuration_.model),
                                   {.batch_size = configuration_.batch_size,
                                    .seed = configuration_.seed,
                                    .rank = ranks_.rank,
                                    .integers = options_.integers,
                                    .channels_last = configuration_.channels_last,
                                    .dtype = dtype(),
                                    .device = ranks_.device,
                                    .network = network_options(configuration_)}));
}

std::shared_ptr<networks::Network> Trainer::new_network() const {
  auto network = options_.network
                     ? options_.network()
                     : networks::make_network(networks::find_network(configuration_.model),
                                              network_options(configuration_), configuration_.seed);
  if (options_.integers) {
    networks::fill_with_integers(*network, configuration_.seed);
  } else if (configuration_.start == "formula") {
    networks::fill_by_formula(*network, configuration_.seed);
  }
  network->to(ranks_.device);
  networks::cast_network(*network, dtype());
  if (configuration_.channels_last) {
    networks::to_channels_last(*network);
  }
  return network;
}

// Reads the data, and makes a first batch with which the network is traced.
void Trainer::read_data() {
  if (plan::is_mapped(configuration_.data)) {
    mapped_ = std::make_unique<MappedData>(configuration_, ranks_.device, dtype());
    set_batches(mapped_->probe());
    return;
  }
  data_ = std::make_unique<TrainingData>(configuration_, ranks_.device, dtype());
  evaluator_ = std::make_unique<Evaluator>(new_network(), *data_);
  set_batches(data_->probe());
}

void Trainer::set_batches(const networks::Batch& whole) {
  batches_.clear();
  const auto inputs = whole.input.chunk(configuration_.accumulate);
  const auto targets = whole.target.chunk(configuration_.accumulate);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    batches_.push_back({inputs[i], targets[i], whole.integers});
  }
}

// Returns the inputs and targets of a step without its lookups, which the plan's kernels draw.
networks::Batch Trainer::bag_batch(plan::Step step) const {
  return networks::draw_dense_batch(
      *embeddings_, {.seed = configuration_.seed, .trainer = ranks_.rank, .step = step},
      networks::find_network(configuration_.model), dtype());
}

void Trainer::make_plan() {
  if (replay_ == nullptr) {
    traced_ = runtime::trace(network_, configuration_.model, two_sample_batch(batches_[0]),
                             options_.agree_on_order);
  }
  input_ = plan_input_of(configuration_, traced_.shape);
  input_.rank = ranks_.rank;
  input_.world = ranks_.world;
  input_.loss_scaling = options_.loss_scale.has_value();
  planner_ = options_.planner;
  if (planner_ == nullptr) {
    strategy_ = strategies::strategy_of(configuration_);
    planner_ = add_statistics_averaging(configuration_, traced_,
                                        planner_of(configuration_, strategy_, options_.integers));
    input_.profile = options_.profile;
    input_.alpha_beta = options_.alpha_beta;
    if (ranks_.world > 1 && strategies::needs_times(strategy_)) {
      add_configured_times(configuration_, input_);
      if (!input_.profile || !input_.alpha_beta) {
        measure_times();
      }
      input_.alpha_beta->concurrent_collectives =
          engines::find_engine(ranks_.engine->name()).concurrent_collectives;
    }
    plan::verify(*planner_, input_, plan::kVerifiedSteps,
                 engines::find_engine(ranks_.engine->name()).one_issue_order);
  }
  if (mapped_ != nullptr && trains()) {
    mapped_->deal(static_cast<int>(training().size()), ranks_.rank);
  }
  if (data_ != nullptr && trains()) {
    data_->deal(static_cast<int>(training().size()), ranks_.rank);
  }
  const plan::Setup setup = planner_->setup(input_);
  runtime::require_executable(*planner_, input_, setup,
                              engines::find_engine(ranks_.engine->name()).thread_per_message);
  make_memory(setup);
}

void Trainer::make_memory(const plan::Setup& setup) {
  allocate(setup);
  if (const at::Tensor* rate = memory_->scalar(plan::kLearningRate)) {
    rate->fill_(cases::learning_rate_at(configuration_, 0));
  }
  if (options_.loss_scale && trains()) {
    memory_->scalar(plan::kLossScale)->fill_(*options_.loss_scale);
  }
}

void Trainer::allocate(const plan::Setup& setup) {
  if (!trains()) {
    network_ = nullptr;
    batches_.clear();
    traced_ = {
        .network = nullptr, .shape = std::move(traced_.shape), .gated = {}, .parameters = {}};
    memory_ = std::make_unique<runtime::FlatMemory>(
        setup, plan::touched_ranges(*planner_, input_, setup), ranks_.device);
    return;
  }
  memory_ = std::make_unique<runtime::FlatMemory>(setup, ranks_.device,
                                                  replay_ == nullptr
                                                      ? runtime::FlatMemory::Start::kParameters
                                                      : runtime::FlatMemory::Start::kZeros);
  memory_->adopt(traced_.parameters);
  adopt_statistics(traced_, *memory_);
}

// Measures the times that the strategy needs and does not have, on all ranks, over a separate
// communicator.  Restores the random generator, so the run's random numbers do not depend on this.
void Trainer::measure_times() {
  at::Generator random = at::globalContext().defaultGenerator(ranks_.device);
  const at::Tensor before = random.get_state();
  wait_before_connecting();
  // Threads are scheduled as those of a plan that sends the network at once.
  largest_operation_ = input_.model.bytes();
  const auto channel = [&] {
    const ScopedScheduling of_communication_threads(communication_scheduling());
    return connect_to({.name = "times", .members = plan::Members::spaced(0, ranks_.world)});
  }();
  if (!input_.profile) {
    input_.profile = share_profile(
        *channel,
        runtime::profile_layers(traced_, [this] { return loss_of(batches_[0]); }, ranks_.device,
                                {.origin = "measured before the run, rank 0"}),
        ranks_.device, ranks_.peers);
  }
  if (!input_.alpha_beta) {
    input_.alpha_beta = measure_collectives(*channel);
  }
  random.set_state(before);
}

// On a CPU the ranks that train also compute during the measurement, as in a step.  A planner needs
// the start-up time of a collective beside computation, which is many times that on idle ranks.
plan::AlphaBeta Trainer::measure_collectives(engines::Channel& channel) {
  const bool beside_compute = replay_ == nullptr && ranks_.device.is_cpu();
  const auto measure = [&] {
    return measure_alpha_beta(
        channel, ranks_.device, std::min(input_.model.bytes(), kLargestTimedBytes),
        fmt::format("measured before the run{}, {}", beside_compute ? " beside compute" : "",
                    ranks_.engine->name()),
        ranks_.peers);
  };
  // A rank that only waits does so on its main thread, whose waits have a watcher.
  if (!beside_compute || !trains()) {
    return measure();
  }
  auto measured = std::async(std::launch::async, [&] {
    const ScopedScheduling of_this_thread(communication_scheduling());
    return measure();
  });
  const runtime::SavedBuffers statistics(*network_);
  const Stopwatch computing;
  while (computing.elapsed() < kLongestCompute &&
         measured.wait_for(kPause) != std::future_status::ready) {
    loss_of(batches_[0]).backward();
    for (const at::Tensor& parameter : traced_.parameters) {
      parameter.mutable_grad().reset();
    }
  }
  return engines::get_within(std::move(measured), kLongestMeasurement, ranks_.peers.idle);
}

plan::Members Trainer::training() const {
  return plan::Members::spaced(0, planner_->training_ranks(input_));
}

}  // namespace paceline::rank
