// SPDX-License-Identifier: Apache-2.0
// Every optimizer against its definition, computed in float64.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/plan/optimizer.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"

namespace paceline::runtime {
namespace {

constexpr double kRate = 0.05, kDecay = 0.25, kMomentum = 0.9, kDivisor = 3;
constexpr int kSteps = 5;

struct Reference {
  at::Tensor w, first, second;  // parameters and state

  void step(const std::string& optimizer, const at::Tensor& gradient, int t) {
    if (plan::optimizer_named(optimizer).layerwise) {
      step_of_layer(optimizer, gradient, t);
      return;
    }
    const bool apart = optimizer == "adamw" || optimizer == "bert-adamw";
    const at::Tensor g = apart ? gradient : gradient + kDecay * w;
    if (optimizer == "sgd") {
      first = kMomentum * first + g;
      w = w - kRate * first;
    } else if (optimizer == "rmsprop") {
      first = 0.99 * first + 0.01 * g * g;
      w = w - kRate * g / (first.sqrt() + 1e-8);
    } else if (optimizer == "adagrad") {
      first = first + g * g;
      w = w - kRate * g / (first.sqrt() + 1e-10);
    } else if (optimizer == "adadelta") {
      first = 0.9 * first + 0.1 * g * g;
      const at::Tensor u = g * (second + 1e-6).sqrt() / (first + 1e-6).sqrt();
      second = 0.9 * second + 0.1 * u * u;
      w = w - kRate * u;
    } else {
      first = 0.9 * first + 0.1 * g;
      second = 0.999 * second + 0.001 * g * g;
      const at::Tensor m = first / (1 - std::pow(0.9, t));
      const at::Tensor v = second / (1 - std::pow(0.999, t));
      const double epsilon = optimizer == "bert-adamw" ? 1e-6 : 1e-8;
      w = (apart ? 1 - kRate * kDecay : 1) * w - kRate * m / (v.sqrt() + epsilon);
    }
  }

  void step_of_layer(const std::string& optimizer, const at::Tensor& g, int t) {
    if (optimizer == "lars") {
      const at::Tensor rate = 0.001 * w.norm() / (g.norm() + kDecay * w.norm());
      first = kMomentum * first + rate * (g + kDecay * w);
      w = w - kRate * first;
      return;
    }
    first = 0.9 * first + 0.1 * g;
    second = 0.999 * second + 0.001 * g * g;
    const at::Tensor v = second / (1 - std::pow(0.999, t));
    const at::Tensor u = first / (1 - std::pow(0.9, t)) / (v.sqrt() + 1e-6) + kDecay * w;
    w = w - kRate * w.norm() / u.norm() * u;
  }
};

// None is near 0, whose square a half would not hold.
at::Tensor gradient_at(int step, std::int64_t elements) {
  const at::Tensor wave = (at::arange(elements, at::kDouble) * (0.37 + step)).sin();
  return wave + 0.5 * wave.sign();
}

// Of one parameter of so many elements.
OptimizerSettings settings_of(const std::string& optimizer, std::int64_t elements) {
  OptimizerSettings rule{.name = optimizer, .momentum = kMomentum, .weight_decay = kDecay};
  if (plan::optimizer_named(optimizer).layerwise) {
    OptimizerSettings parameter = rule;
    parameter.layerwise = true;
    parameter.slices = {{plan::BufferId{0}, 0, elements}};
    rule.groups.push_back(parameter);
  }
  return rule;
}

struct Trained {
  at::Tensor ours, reference;
};

Trained train(const std::string& optimizer, std::int64_t elements, at::ScalarType type) {
  const auto states = plan::state_names(plan::shape_of(optimizer)).size();
  const at::Tensor start = (at::arange(elements, at::kDouble) * 0.91).cos();
  Reference reference{.w = start.to(type).to(at::kDouble),
                      .first = at::zeros_like(start),
                      .second = at::zeros_like(start)};
  const at::Tensor values = start.to(type);
  const at::Tensor gradient = at::zeros({elements}, type);
  Call call;
  const std::vector<double> divisor{kDivisor};
  call.numbers = divisor;
  call.written = {plan::BufferId{0}, 0, elements};
  call.reads = {{values}, {gradient}};
  for (std::size_t s = 0; s < states; ++s) {
    call.reads.push_back({at::zeros({elements}, type)});
  }
  call.writes = call.reads;
  call.reads.push_back({at::full({1}, kRate, at::kDouble)});
  const at::Tensor count = at::zeros({1});
  if (plan::optimizer_named(optimizer).counts_steps) {
    call.reads.push_back({count});
  }
  for (int step = 1; step <= kSteps; ++step) {
    const at::Tensor now = gradient_at(step, elements).to(type);
    gradient.copy_(now * kDivisor);
    count.add_(1);
    run_update(settings_of(optimizer, elements), call);
    reference.step(optimizer, now.to(at::kDouble), step);
  }
  return {values.to(at::kDouble), reference.w};
}

double distance(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

TEST(Optimizers, EqualTheirDefinitionsToRounding) {
  for (const std::string& name : plan::optimizer_names()) {
    for (const std::int64_t elements : {31, 40003}) {
      const auto [ours, reference] = train(name, elements, at::kFloat);
      EXPECT_LT(distance(ours, reference), 5e-6) << name << " " << elements;
      EXPECT_GT(distance(ours, (at::arange(elements, at::kDouble) * 0.91).cos()), 5e-5)
          << name << " changes nothing";
    }
  }
}

// To the roundings of their bits in parameters and state.
TEST(Optimizers, TrainParametersOfBf16) {
  for (const std::string& name : plan::optimizer_names()) {
    const auto [ours, reference] = train(name, 1000, at::kBFloat16);
    EXPECT_LT(distance(ours, reference), 0.02) << name;
  }
}

// Rules without fused kernel have no loop for this type, as they have none on a GPU.
TEST(Optimizers, TrainInOperatorsWhereThereIsNoLoop) {
  for (const std::string name : {"rmsprop", "adadelta", "lamb", "lars"}) {
    const auto [ours, reference] = train(name, 1000, at::kHalf);
    EXPECT_LT(distance(ours, reference), 2e-3) << name;
  }
}

TEST(Optimizers, AnUnknownOneIsRejectedWithTheKnown) {
  try {
    plan::shape_of("adamax");
    ADD_FAILURE() << "adamax is known";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("unknown optimizer 'adamax'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("rmsprop"), std::string::npos);
  }
}

}  // namespace
}  // namespace paceline::runtime
