// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/trainer.h"

#include <functional>
#include <utility>

#include <fmt/format.h>
#include <torch/types.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/case/learning_rate.h"
#include "paceline/plan/program.h"
#include "paceline/rank/embedding_case.h"
#include "paceline/rank/wire.h"

namespace paceline::rank {
namespace {

// The initial scale of PyTorch's GradScaler.
constexpr double kInitialLossScale = 65536;

}  // namespace

Trainer::Trainer(cases::Case configuration, RankGroup group, TrainerOptions options)
    : configuration_(std::move(configuration)),
      ranks_(std::move(group)),
      options_(std::move(options)),
      precision_(configuration_.replay.empty() ? networks::parse_precision(configuration_.dtype)
                                               : networks::Precision::kFp32) {
  if (!options_.loss_scale && networks::needs_loss_scaling(precision_, ranks_.device.type())) {
    options_.loss_scale = kInitialLossScale;
  }
  if (options_.loss_scale && keeps_gradients(configuration_)) {
    throw UsageError(
        "--as-original adds gradients of different steps, which loss "
        "scaling (--dtype amp on cuda) gives different scales: use --dtype "
        "fp32 or bf16.");
  }
  if (configuration_.replay.empty()) {
    embeddings_ = embedding_job_of(configuration_);
  }
  if (embeddings_) {
    embeddings_->integers = options_.integers;
  }
  make_network();
  make_plan();
  wait_before_connecting();
  connect();
  start_from_rank_zero();
  executor_->start();
}

Trainer::~Trainer() {
  // This order is needed: hooks and gates refer to the executor, and channels to the store.
  executor_.reset();
  reducer_.reset();
  pick_channels_.clear();
  channels_.clear();
}

// A rank that rejects the case only by its own input does so before this call.
void Trainer::wait_before_connecting() const {
  if (ranks_.before_connecting) {
    ranks_.before_connecting();
  }
}

at::Tensor Trainer::loss_of(const networks::Batch& batch) {
  const networks::Autocast autocast(precision_, ranks_.device.type());
  const at::Tensor loss = network_->loss(batch);
  // The loss of an integer batch is a sum, not a mean.
  return batches_.size() == 1 || batch.integers ? loss
                                                : loss / static_cast<double>(batches_.size());
}

ReplayCallbacks Trainer::replay_events() {
  runtime::Executor& executor = *executor_;
  return {.gates = executor,
          .ready = [&](plan::ParameterId p) { executor.gradient_ready(p); },
          .gate_wait_ns = [&] { return executor.total_waited_ns(); }};
}

void Trainer::forward(std::size_t micro) {
  if (replay_ != nullptr) {
    replay_->forward(replay_events());
  } else {
    loss_ = loss_of(batches_[micro]);
    const at::Tensor value = loss_.detach();
    last_loss_ = micro == 0 ? value : last_loss_ + value;
  }
}

std::optional<double> Trainer::last_loss() const {
  return last_loss_.defined() ? std::optional(last_loss_.item<double>()) : std::nullopt;
}

void Trainer::backward() {
  if (replay_ != nullptr) {
    replay_->backward(replay_events());
    return;
  }
  const at::Tensor loss = std::exchange(loss_, {});
  if (!options_.loss_scale) {
    loss.backward();
    return;
  }
  // All Forward ops are complete, so the scale is that of this step (Note [Loss scaling] in
  // plan/program.h).  It is copied, because the plan changes it in place.
  loss.backward(memory_->scalar(plan::kLossScale)->reshape({}).clone());
}

// Note [The learning rate of a step]
// Updates read the learning rate, which the training thread sets outside of the plan.  It does so
// when all Forward ops of a step are complete and no Backward op is.  The values that an update of
// the previous step writes are read by one of these Forward ops, so that update has already read
// its rate.  The updates of this step wait for gradients, so they have not read theirs.
void Trainer::set_learning_rate(plan::Step step) {
  if (configuration_.lr_warmup == 0 && configuration_.lr_decay.empty()) {
    return;
  }
  if (const at::Tensor* rate = memory_->scalar(plan::kLearningRate)) {
    rate->fill_(cases::learning_rate_at(configuration_, step));
  }
}

bool Trainer::trains() const { return ranks_.rank < planner_->training_ranks(input_); }

std::string Trainer::role() const {
  return trains() ? "" : fmt::format("server {}", ranks_.rank - planner_->training_ranks(input_));
}

void Trainer::begin_step() {
  if (reducer_ != nullptr) {  // c10d::Reducer completes its operations within the step
    channels_.front()->set_step(executor_->steps_begun());
  }
  executor_->begin_step();
}

StepTimes Trainer::step() {
  StepTimes times{.began_ns = steady_ns()};
  if (!trains()) {
    executor_->serve_step();
    times.ended_ns = steady_ns();
    times.wait_ns = times.ended_ns - times.began_ns;
    return times;
  }
  const plan::Step step = executor_->steps_begun();
  if (data_ != nullptr) {
    set_batches(data_->batch(step));
  }
  if (mapped_ != nullptr) {
    set_batches(mapped_->batch(step));
    times.data_ns = steady_ns() - times.began_ns;
  }
  begin_step();
  if (embeddings_) {
    batches_ = {bag_batch(executor_->steps_begun() - 1)};
    times.examples = batches_.front().target.size(0);
  }
  std::int64_t mark = times.began_ns + times.data_ns;
  const auto lap = [&](bool forward, std::int64_t& phase) {
    const std::int64_t waited = executor_->take_waited_ns();
    const std::int64_t now = steady_ns();
    if (options_.dispatcher.record_spans) {
      phases_.push_back({forward, executor_->steps_begun() - 1, mark, now});
    }
    phase += now - mark - waited;
    times.wait_ns += waited;
    mark = now;
  };
  for (int micro = 0; micro < configuration_.accumulate; ++micro) {
    executor_->begin_forward(micro);
    forward(static_cast<std::size_t>(micro));
    if (micro == 0) {
      set_learning_rate(step);
    }
    lap(true, times.forward_ns);
    executor_->begin_backward();
    backward();
    executor_->end_backward();
    lap(false, times.backward_ns);
  }
  times.ended_ns = mark;
  if (embeddings_) {
    add_lookups(*embeddings_, plan_of(step), *memory_, lookups_);
  }
  return times;
}

void Trainer::drain() {
  executor_->drain();
  executor_->take_waited_ns();  // discards a wait that belongs to no step
  if (replay_ != nullptr) {
    replay_->interrupt();
  }
}

engines::Ledger Trainer::ledger() const {
  engines::Ledger all;
  for (const auto& channel : channels_) {
    all.add(channel->ledger());
  }
  return all;
}

engines::Ledger Trainer::counted() const {
  engines::Ledger all;
  for (const auto& channel : channels_) {
    all.add(channel->counted());
  }
  return all;
}

records::WireBytes Trainer::wire(int steps) const {
  return wire_bytes_of({.first = configuration_.warmup,
                        .steps = steps,
                        .rank = input_.rank,
                        .setup = setup(),
                        .plan_of = std::bind_front(&Trainer::plan_of, this)},
                       counted());
}

std::vector<engines::CollectiveSpan> Trainer::take_transfers() {
  return reducer_ == nullptr ? std::vector<engines::CollectiveSpan>()
                             : channels_.front()->take_transfers();
}

bool Trainer::is_shared(std::size_t parameter) const {
  return setup().parameters[parameter].value.buffer == plan::buffer_named(setup(), plan::kValues);
}

std::int64_t Trainer::parameter_digest() const {
  const at::NoGradGuard no_grad;
  std::int64_t digest = 0;
  for (std::size_t p = 0; p < traced_.parameters.size(); ++p) {
    if (!is_shared(p)) {
      continue;
    }
    const at::Tensor& parameter = traced_.parameters[p];
    // The sum of the bit patterns as integers, weighted by position; it wraps alike on all ranks.
    const at::Tensor words = parameter.reshape({-1})
                                 .view(parameter.element_size() == 2   ? at::kShort
                                       : parameter.element_size() == 4 ? at::kInt
                                                                       : at::kLong)
                                 .to(at::kLong);
    const at::Tensor weights = at::arange(1, words.numel() + 1, words.options());
    digest = digest * 31 + (words * weights).sum().item<std::int64_t>();
  }
  return digest;
}

}  // namespace paceline::rank
