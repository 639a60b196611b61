// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/OpMathType.h>
#include <torch/types.h>

#include "paceline/plan/optimizer.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/table.h"

// Code that the optimizers' rules share.  Each rule is written once, as a template for numbers and
// for tensors: values w, gradients g, states s and t.

namespace paceline::runtime {

/// The operands of an update.
struct Step {
  const OptimizerSettings& rule;
  const plan::Optimizer& row;
  Operand values, gradients;
  std::vector<Operand> states;
  at::Tensor rate, count;  // one element each; `count` only if the optimizer counts steps
  std::array<double, 2> decay_rates{};
  double epsilon = 0;
  std::optional<at::Tensor> divisor{};
  std::optional<at::Tensor> found_inf{};  // 1 if the update is skipped
};

/// The constants that a rule uses for every element, as numbers of the type in which it computes.
/// R: the learning rate's type.
template <class N, class R = N>
struct Constants {
  Constants(const Step& step, R learning_rate)
      : rate(std::move(learning_rate)),
        decay(static_cast<N>(step.rule.weight_decay)),
        momentum(static_cast<N>(step.rule.momentum)),
        nesterov(step.rule.nesterov),
        old(static_cast<N>(step.decay_rates[0])),
        now(static_cast<N>(1 - step.decay_rates[0])),
        epsilon(static_cast<N>(step.epsilon)) {}

  R rate;
  N decay, momentum;
  bool nesterov;
  N old, now;  // weights of the running average and of the new value
  N epsilon;
};

/// The operands of one tensor, as pointers to elements of type E.
template <class E>
struct Pointers {
  Pointers(const Step& step, std::size_t i)
      : w(step.values[i].data_ptr<E>()), g(step.gradients[i].data_ptr<E>()) {
    if (!step.states.empty()) {
      s = step.states[0][i].data_ptr<E>();
    }
    if (step.states.size() > 1) {
      t = step.states[1][i].data_ptr<E>();
    }
  }

  E *w, *g, *s = nullptr, *t = nullptr;
};

/// The operands of one tensor for PyTorch's operators, converted to the type in which these
/// compute, and the gradients divided.  A missing state is an undefined tensor.
class Wide {
 public:
  Wide(const Step& step, std::size_t i) : all_{step.values[i], step.gradients[i]} {
    for (const Operand& state : step.states) {
      all_.push_back(state[i]);
    }
    for (std::size_t k = 0; k < all_.size(); ++k) {
      numbers_[k] = all_[k].to(at::toOpMathType(all_[k].scalar_type()));
    }
    if (step.divisor) {
      g() = g() / step.divisor->squeeze();
    }
  }

  at::Tensor& w() { return numbers_[0]; }
  at::Tensor& g() { return numbers_[1]; }
  at::Tensor& s() { return numbers_[2]; }
  at::Tensor& t() { return numbers_[3]; }

  /// Writes the operands back.
  void store() {
    for (std::size_t k = 0; k < all_.size(); ++k) {
      all_[k].copy_(numbers_[k]);
    }
  }

 private:
  std::vector<at::Tensor> all_;
  std::array<at::Tensor, 4> numbers_;
};

/// Runs a rule for which PyTorch has no fused kernel.  On a CPU `Rule::loop<E, N>` computes on
/// elements of type E as numbers of type N and rounds each result once, as PyTorch's fused kernels
/// do; otherwise `Rule::operators` uses PyTorch's operators, each of which is a pass over the
/// memory.
template <class Rule>
void run_rule(const Step& step) {
  if (step.found_inf && step.found_inf->item<float>() == 1) {
    return;
  }
  const at::Tensor& first = step.values.front();
  const at::ScalarType type = first.scalar_type();
  if (first.is_cpu() && type == at::kFloat) {
    Rule::template loop<float, float>(step);
  } else if (first.is_cpu() && type == at::kDouble) {
    Rule::template loop<double, double>(step);
  } else if (first.is_cpu() && type == at::kBFloat16) {
    Rule::template loop<at::BFloat16, float>(step);
  } else {
    Rule::operators(step);
  }
}

// layerwise.cc: rules that scale each parameter's step by norms over all of its elements.

void run_lamb(const Step& step);
void run_lars(const Step& step);

}  // namespace paceline::runtime
