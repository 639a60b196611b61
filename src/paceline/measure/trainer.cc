// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/trainer.h"

#include <utility>

#include <torch/torch.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/plan/program.h"

namespace paceline::measure {
namespace {

// As PyTorch's GradScaler starts.
constexpr double kInitialLossScale = 65536;

}  // namespace

Trainer::Trainer(const records::Configuration& configuration,
                 const Team& team,
                 const TrainerOptions& options)
    : configuration_(configuration),
      team_(team),
      options_(options),
      precision_(configuration.replay.empty()
                     ? networks::parse_precision(configuration.dtype)
                     : networks::Precision::kFp32) {
  if (!options_.loss_scale &&
      networks::needs_loss_scaling(precision_, team_.device.type())) {
    options_.loss_scale = kInitialLossScale;
  }
  if (options_.loss_scale && configuration_.compat_accumulate) {
    throw UsageError(
        "--compat-accumulate adds gradients of different steps, which loss "
        "scaling (--dtype amp on cuda) gives different scales: use --dtype "
        "fp32 or bf16.");
  }
  make_network();
  make_plan();
  connect();
  start_from_rank_zero();
}

Trainer::~Trainer() {
  // Hooks and gates refer to the executor, channels to the store.
  executor_.reset();
  reducer_.reset();
  pick_channels_.clear();
  channels_.clear();
}

at::Tensor Trainer::loss_of(const networks::Batch& batch) {
  const networks::Autocast autocast(precision_, team_.device.type());
  const at::Tensor logits = network_->forward(batch.input);
  if (options_.integers) {
    return networks::integer_loss(logits, batch.target);
  }
  const at::Tensor loss = at::cross_entropy_loss(logits, batch.target);
  return batches_.size() == 1 ? loss
                              : loss / static_cast<double>(batches_.size());
}

ReplayEvents Trainer::replay_events() {
  runtime::Executor& executor = *executor_;
  return {
      .enter = [&](plan::ModuleId m) { executor.enter(m); },
      .leave = [&](plan::ModuleId m) { executor.leave(m); },
      .gates_backward =
          [&](plan::ModuleId m) { return executor.gates_backward(m); },
      .enter_backward = [&](plan::ModuleId m) { executor.enter_backward(m); },
      .ready = [&](plan::ParameterId p) { executor.gradient_ready(p); },
      .stood_ns = [&] { return executor.waited_in_all_ns(); }};
}

void Trainer::forward(std::size_t micro) {
  if (replay_ != nullptr) {
    replay_->forward(replay_events());
  } else {
    last_loss_ = loss_of(batches_[micro]);
  }
}

void Trainer::backward() {
  if (replay_ != nullptr) {
    replay_->backward(replay_events());
    return;
  }
  const at::Tensor loss = std::exchange(last_loss_, last_loss_.detach());
  if (!options_.loss_scale) {
    loss.backward();
    return;
  }
  // All Forward are complete, so the scale is this step's (Note [Loss scaling]
  // in plan/program.h); a copy, because the plan changes it in place.
  loss.backward(memory_->scalar(plan::kLossScale)->reshape({}).clone());
}

bool Trainer::trains() const {
  return team_.rank < planner_->training_ranks(input_);
}

StepTimes Trainer::step() {
  const auto held = options_.in_step ? options_.in_step() : nullptr;
  StepTimes times{.began_ns = steady_ns()};
  if (!trains()) {
    executor_->serve_step();
    times.ended_ns = steady_ns();
    times.wait_ns = times.ended_ns - times.began_ns;
    return times;
  }
  executor_->begin_step();
  std::int64_t mark = times.began_ns;
  const auto lap = [&](bool forward, std::int64_t& phase) {
    const std::int64_t waited = executor_->take_waited_ns();
    const std::int64_t now = steady_ns();
    if (options_.record_spans) {
      phases_.push_back({forward, executor_->steps_begun() - 1, mark, now});
    }
    phase += now - mark - waited;
    times.wait_ns += waited;
    mark = now;
  };
  for (int micro = 0; micro < configuration_.accumulate; ++micro) {
    executor_->begin_forward(micro);
    forward(static_cast<std::size_t>(micro));
    lap(true, times.forward_ns);
    executor_->begin_backward();
    backward();
    executor_->end_backward();
    lap(false, times.backward_ns);
  }
  times.ended_ns = mark;
  return times;
}

void Trainer::drain() {
  const auto held = options_.in_step ? options_.in_step() : nullptr;
  executor_->drain();
  executor_->take_waited_ns();  // of no step
  if (replay_ != nullptr) {
    replay_->interrupt();
  }
}

engines::Ledger Trainer::ledger() const {
  engines::Ledger all;
  for (const auto& channel : channels_) {
    const engines::Ledger one = channel->ledger();
    for (const auto& [pattern, bytes] : one.bytes) {
      all.bytes[pattern] += bytes;
    }
    for (const auto& [pattern, calls] : one.calls) {
      all.calls[pattern] += calls;
    }
  }
  return all;
}

std::vector<engines::Transfer> Trainer::take_transfers() {
  return reducer_ == nullptr ? std::vector<engines::Transfer>()
                             : channels_.front()->take_transfers();
}

std::int64_t Trainer::parameter_digest() const {
  const at::NoGradGuard no_grad;
  std::int64_t digest = 0;
  for (const at::Tensor& parameter : traced_.parameters) {
    // Bit patterns as integers: their sum, weighted by position, wraps alike
    // everywhere.
    const at::Tensor words =
        parameter.reshape({-1})
            .view(parameter.element_size() == 2   ? at::kShort
                  : parameter.element_size() == 4 ? at::kInt
                                                  : at::kLong)
            .to(at::kLong);
    const at::Tensor weights =
        at::arange(1, words.numel() + 1, words.options());
    digest = digest * 31 + (words * weights).sum().item<std::int64_t>();
  }
  return digest;
}

}  // namespace paceline::measure
