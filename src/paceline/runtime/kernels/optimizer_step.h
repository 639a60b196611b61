// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <torch/types.h>

#include "paceline/plan/optimizer.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/table.h"

// Code that all optimizers' rules share. Each rule is one template, which runs with numbers on CPUs
// and with tensors on GPUs. Names: values w, gradients g, optimizer states s and t.

namespace paceline::runtime {

/// The operands and constants with which one call updates parameters.
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

/// The constants that a rule uses for every element. N is the type in which it computes, R the type
/// of the learning rate and of the weights of averages.
template <class N, class R = N>
struct Constants {
  Constants(const Step& step, R learning_rate, R first_weight, R second_weight)
      : rate(std::move(learning_rate)),
        decay(static_cast<N>(step.rule.weight_decay)),
        momentum(static_cast<N>(step.rule.momentum)),
        nesterov(step.rule.nesterov),
        old(static_cast<N>(step.decay_rates[0])),
        now(static_cast<N>(1 - step.decay_rates[0])),
        old_square(static_cast<N>(step.decay_rates[1])),
        now_square(static_cast<N>(1 - step.decay_rates[1])),
        epsilon(static_cast<N>(step.epsilon)),
        first(std::move(first_weight)),
        second(std::move(second_weight)) {}

  R rate;
  N decay, momentum;
  bool nesterov;
  N old, now;                // weights of the first running average and of the new value
  N old_square, now_square;  // the same for the average of squared gradients
  N epsilon;
  R first, second;  // for each average, the sum of the weights of all gradients (bias correction)
};

/// Returns the sum of the weights of all gradients in an average; 1 if the optimizer counts no
/// steps.
inline at::Tensor weight_of_average(const Step& step, std::size_t average) {
  const at::Tensor one = at::ones({}, step.rate.options().dtype(at::kDouble));
  return step.row.counts_steps
             ? one - at::pow(step.decay_rates[average], step.count.squeeze().to(at::kDouble))
             : one;
}

/// The constants of a rule and the scale of one tensor's step.
template <class R, class C>
struct ScaledConstants {
  const R& scale;  // 1 for rules without norms
  const C& constants;
};

/// The operands of one tensor, as pointers to elements of type E.
template <class E>
struct TensorPointers {
  TensorPointers(const Step& step, std::size_t i)
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

/// The operands of one tensor for PyTorch's operators, converted to the type in which the operators
/// compute, with the gradients divided.  A missing state is an undefined tensor.
class OpMathOperands {
 public:
  OpMathOperands(const Step& step, std::size_t i) : all_{step.values[i], step.gradients[i]} {
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

  /// Rounds the operands to their own types and writes them back.
  void store() {
    for (std::size_t k = 0; k < all_.size(); ++k) {
      all_[k].copy_(numbers_[k]);
    }
  }

 private:
  std::vector<at::Tensor> all_;
  std::array<at::Tensor, 4> numbers_;
};

/// Norms over all elements of a tensor: of its values, and of the quantity that Rule::measure()
/// returns.
struct Norms {
  double values = 0, measured = 0;
};

/// Splits a tensor into chunks for threads.  The chunks, and so the order of a sum over them, do
/// not depend on the number of threads.
class Chunks {
 public:
  explicit Chunks(std::int64_t elements) : elements_(elements) {}

  std::int64_t count() const { return (elements_ + kElements - 1) / kElements; }

  /// Calls `run` with the number, the begin and the end of each chunk.
  template <class Run>
  void each(const Run& run) const {
    at::parallel_for(0, count(), 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t chunk = first; chunk < last; ++chunk) {
        run(chunk, chunk * kElements, std::min(elements_, (chunk + 1) * kElements));
      }
    });
  }

 private:
  static constexpr std::int64_t kElements = 1 << 14;

  std::int64_t elements_;
};

/// Performs a rule for which PyTorch has no fused kernel.
///
/// `Rule::apply` takes the step.  If `Rule::kNorms` is true, a first pass precedes it: measure()
/// updates the averages and returns the quantity whose norm is taken beside that of the values, and
/// scale() computes the scale of the step from both norms.
template <class Rule>
class RuleLoops {
 public:
  /// Computes on elements of type E as numbers of type N and rounds each result once, as PyTorch's
  /// fused kernels do.
  template <class E, class N>
  static void loop(const Step& step) {
    const Constants<N> c(step, step.rate.item<N>(), weight_of_average(step, 0).item<N>(),
                         weight_of_average(step, 1).item<N>());
    for (std::size_t i = 0; i < step.values.size(); ++i) {
      const TensorPointers<E> all(step, i);
      const Chunks chunks(step.values[i].numel());
      N divisor = step.divisor ? step.divisor->item<N>() : N{1};
      N scale{1};
      if constexpr (Rule::kNorms) {
        const Norms norms = measure<E, N>(all, chunks, divisor, c);
        divisor = 1;  // measure() has divided the gradients
        if (step.rule.layerwise && norms.values > 0 && norms.measured > 0) {
          scale = static_cast<N>(Rule::scale(norms.values, norms.measured, c));
        }
      }
      apply<E, N>(all, chunks, divisor, {scale, c});
    }
  }

  /// Uses PyTorch's operators, each of which is a pass over the memory.
  static void operators(const Step& step) {
    using C = Constants<double, at::Tensor>;
    const C c(step, step.rate.squeeze(), weight_of_average(step, 0), weight_of_average(step, 1));
    for (std::size_t i = 0; i < step.values.size(); ++i) {
      OpMathOperands all(step, i);
      if (!all.s().defined()) {
        all.s() = at::zeros_like(all.w());
      }
      at::Tensor scale = at::ones({}, all.w().options());
      if constexpr (Rule::kNorms) {
        const at::Tensor measured = Rule::measure(all.w(), all.g(), all.s(), all.t(), c);
        if (step.rule.layerwise) {
          const at::Tensor values = at::linalg_vector_norm(all.w());
          const at::Tensor other = at::linalg_vector_norm(measured);
          scale =
              at::where((values > 0).logical_and(other > 0), Rule::scale(values, other, c), scale);
        }
      }
      Rule::apply(all.w(), all.g(), all.s(), all.t(), ScaledConstants<at::Tensor, C>{scale, c});
      all.store();
    }
  }

 private:
  // The first pass: writes the divided gradients and the new averages, and returns the norms.
  template <class E, class N>
  static Norms measure(const TensorPointers<E>& all, const Chunks& chunks, N divisor,
                       const Constants<N>& c) {
    std::vector<Norms> squares(static_cast<std::size_t>(chunks.count()));
    chunks.each([&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
      Norms sum;
      for (std::int64_t k = begin; k < end; ++k) {
        const N w = all.w[k];
        const N g = static_cast<N>(all.g[k]) / divisor;
        N s = number<N>(all.s, k);
        N t = number<N>(all.t, k);
        const double measured = Rule::measure(w, g, s, t, c);
        sum.values += static_cast<double>(w) * static_cast<double>(w);
        sum.measured += measured * measured;
        all.g[k] = g;
        store_state(s, k, all.s);
        store_state(t, k, all.t);
      }
      squares[static_cast<std::size_t>(chunk)] = sum;
    });
    Norms whole;
    for (const Norms& sum : squares) {
      whole.values += sum.values;
      whole.measured += sum.measured;
    }
    return {std::sqrt(whole.values), std::sqrt(whole.measured)};
  }

  template <class E, class N>
  static void apply(const TensorPointers<E>& all, const Chunks& chunks, N divisor,
                    const ScaledConstants<N, Constants<N>>& by) {
    chunks.each([&](std::int64_t /*chunk*/, std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        const N g = static_cast<N>(all.g[k]) / divisor;
        N w = all.w[k];
        N s = number<N>(all.s, k);
        N t = number<N>(all.t, k);
        Rule::apply(w, g, s, t, by);
        all.g[k] = g;
        all.w[k] = w;
        store_state(s, k, all.s);
        store_state(t, k, all.t);
      }
    });
  }

  // Returns element `at` of a state; a state that the optimizer does not have counts as zero.
  template <class N, class E>
  static N number(const E* state, std::int64_t at) {
    return state == nullptr ? N{0} : static_cast<N>(state[at]);
  }

  template <class N, class E>
  static void store_state(N value, std::int64_t at, E* state) {
    if (state != nullptr) {
      state[at] = value;
    }
  }
};

/// Runs a rule: in loops on a CPU, else by PyTorch's operators.
template <class Rule>
void run_rule(const Step& step) {
  if (step.found_inf && step.found_inf->item<float>() == 1) {
    return;
  }
  const at::Tensor& first = step.values.front();
  const at::ScalarType type = first.scalar_type();
  if (first.is_cpu() && type == at::kFloat) {
    RuleLoops<Rule>::template loop<float, float>(step);
  } else if (first.is_cpu() && type == at::kDouble) {
    RuleLoops<Rule>::template loop<double, double>(step);
  } else if (first.is_cpu() && type == at::kBFloat16) {
    RuleLoops<Rule>::template loop<at::BFloat16, float>(step);
  } else {
    RuleLoops<Rule>::operators(step);
  }
}

}  // namespace paceline::runtime
