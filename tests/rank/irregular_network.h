// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <torch/optim.h>
#include <torch/types.h>

#include "paceline/networks/layer.h"
#include "paceline/plan/cost.h"
#include "rank/small_case.h"

// A small network with what is irregular about networks, trained by any schedule and by one process
// on the whole batch.

namespace paceline::testing {

using rank::Trainer;
using rank::TrainerOptions;

inline constexpr int kSteps = 20;

/// One frozen layer, one used twice, one that forward never reaches, and a parameter of the module
/// that has the layers.
class IrregularNetwork final : public networks::Classifier {
 public:
  IrregularNetwork() {
    first = register_module("first", networks::Linear(3 * 8 * 8, 24));
    frozen = register_module("frozen", networks::Linear(24, 24));
    twice = register_module("twice", networks::Linear(24, 24));
    unused = register_module("unused", networks::Linear(24, 5));
    last = register_module("last", networks::Linear(24, 10));
    shift = register_parameter("shift", at::zeros({24}));
    frozen->weight.set_requires_grad(false);
    frozen->bias.set_requires_grad(false);
    networks::fill_by_formula(*this, 11);  // the same in every thread
  }

  at::Tensor forward(const at::Tensor& input) override {
    at::Tensor x = at::tanh(first(input.flatten(1)));
    x = at::tanh(frozen(x) + shift);
    x = at::tanh(twice(x));
    return last(at::tanh(twice(x)));
  }

  networks::Linear first{nullptr}, frozen{nullptr}, twice{nullptr}, unused{nullptr}, last{nullptr};
  at::Tensor shift;
};

inline cases::Case irregular_case(const std::string& strategy) {
  auto c = small_case("resnet18", strategy);  // for its inputs alone
  c.image_size = 8;
  c.classes = 10;
  c.bucket_mb = 0.002;
  c.learning_rate = 0.125;  // exact in fp32, as a GPU's fused kernels take it
  return c;
}

inline TrainerOptions irregular_options() {
  return {.network = [] { return std::make_shared<IrregularNetwork>(); }, .dtype = at::kDouble};
}

/// On the CPU.
inline std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& tensor : tensors) {
    all.push_back(tensor.detach().to(at::kCPU,
                                     /*non_blocking=*/false,
                                     /*copy=*/true));
  }
  return all;
}

struct Training {
  std::vector<at::Tensor> start, end;
};

/// Updates parameters by their gradients.
using Update = std::function<void(const std::vector<at::Tensor>& trained)>;

/// One process on the batches of all ranks.
inline Training whole_batch(int world, const Update& update) {
  const auto c = irregular_case("none");
  IrregularNetwork network;
  networks::cast_network(network, at::kDouble);
  std::vector<at::Tensor> inputs, targets;
  for (int rank = 0; rank < world; ++rank) {
    const auto batch =
        networks::make_batch(networks::find_network(c.model),
                             {.batch_size = c.batch_size,
                              .seed = c.seed,
                              .rank = rank,
                              .dtype = at::kDouble,
                              .network = {.image_size = c.image_size, .classes = c.classes}});
    inputs.push_back(batch.input);
    targets.push_back(batch.target);
  }
  std::vector<at::Tensor> trained;
  for (const auto& parameter : network.parameters()) {
    if (parameter.requires_grad()) {
      trained.push_back(parameter);
    }
  }
  Training result{copies(network.parameters()), {}};
  for (int step = 0; step < kSteps; ++step) {
    network.zero_grad();
    at::cross_entropy_loss(network.forward(at::cat(inputs)), at::cat(targets)).backward();
    update(trained);
  }
  result.end = copies(network.parameters());
  return result;
}

/// The same by PyTorch's own optimizer.
inline Training whole_batch(int world) {
  const auto c = irregular_case("none");
  std::unique_ptr<torch::optim::SGD> sgd;
  return whole_batch(world, [&](const std::vector<at::Tensor>& trained) {
    if (sgd == nullptr) {
      sgd = std::make_unique<torch::optim::SGD>(
          trained, torch::optim::SGDOptions(c.learning_rate).momentum(c.momentum));
    }
    sgd->step();
  });
}

/// The largest ||w - w_ref|| / ||w_ref - w_0|| over the tensors; tensors that the reference leaves
/// alone must be equal.
inline double distance(const Training& reference, const std::vector<at::Tensor>& w) {
  double worst = 0;
  for (std::size_t p = 0; p < w.size(); ++p) {
    const double moved = (reference.end[p] - reference.start[p]).norm().item<double>();
    const double off = (w[p] - reference.end[p]).norm().item<double>();
    worst = std::max(worst, moved == 0 ? (off == 0 ? 0 : 1e300) : off / moved);
  }
  return worst;
}

inline const std::vector<std::string>& schedules() {
  static const std::vector<std::string> all{
      "bsp",
      "wfbp",
      "fusion",
      "mg-wfbp",
      "optimal-merge",
      "dear",
      "dear:bucket-mb=0",
      "dear+all-reduce",
      "fusion+rs-ag",
      "fusion+hierarchical:local=1",
      "bytescheduler:partition-mb=0.02,credit-mb=0.04",
      "bytescheduler:partition-mb=0.02,credit-mb=0+rs-ag",
      "bytescheduler:partition-mb=0.02,credit-mb=0.04,order=priority",
      "bytescheduler:partition-mb=0.02,credit-mb=0.04,queue=module",
      "bsp+ps",
      "wfbp+ps:servers=1",
      "fusion+ps:assign=hash,partition-mb=0.002",
      "dear+ps:local=1",
      "bytescheduler:partition-mb=0.02,credit-mb=0.04+ps"};
  return all;
}

/// Trains for some steps and sets what entered the engine against the cost of the plan: [bytes,
/// calls] of each.
struct Booked {
  std::int64_t bytes = 0, calls = 0;
  bool operator==(const Booked&) const = default;
};

inline Booked booked(Trainer& trainer, int steps) {
  const auto before = trainer.ledger();
  for (int step = 0; step < steps; ++step) {
    trainer.step();
  }
  trainer.drain();
  const auto after = trainer.ledger();
  return {after.total_bytes() - before.total_bytes(), after.total_calls() - before.total_calls()};
}

inline Booked planned(const Trainer& trainer, int rank, int steps) {
  const auto cost = plan::cost(trainer.setup(),
                               trainer.planner().plan(trainer.input(), trainer.setup(), 0), rank);
  return {steps * cost.wire_bytes, steps * cost.calls};
}

}  // namespace paceline::testing
