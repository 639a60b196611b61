// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/plan/optimizer.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"
#include "paceline/runtime/kernels/optimizer_step.h"

namespace paceline::runtime {
namespace {

// Reads the operands of an update.  The divisor becomes a tensor, as PyTorch's fused kernels take
// it.
Step step_of(const OptimizerSettings& rule, const Call& call) {
  const plan::Optimizer& row = plan::optimizer_named(rule.name);
  const auto state = call.reads.begin() + 2;
  const auto rate = call.reads.begin() + static_cast<std::ptrdiff_t>(call.writes.size());
  Step step{.rule = rule,
            .row = row,
            .values = call.reads[0],
            .gradients = call.reads[1],
            .states = {state, rate},
            .rate = rule.rate ? at::full_like(rate->front(), *rule.rate) : rate->front(),
            .count = row.counts_steps ? rate[1].front() : at::Tensor(),
            .decay_rates = rule.decay_rates.value_or(row.decay_rates),
            .epsilon = rule.epsilon.value_or(row.epsilon)};
  // Without momentum, PyTorch's fused kernel takes no momentum buffer.
  if (row.momentum && rule.momentum == 0) {
    step.states.clear();
  }
  const double divisor = call.numbers.empty() ? 1.0 : call.numbers[0];
  const auto scale = rate + (row.counts_steps ? 2 : 1);
  if (scale != call.reads.end()) {
    PACELINE_CHECK_EQ(call.reads.end() - scale, 2);
    step.divisor = scale[0].front() * divisor;
    step.found_inf = scale[1].front();
  } else if (divisor != 1.0) {
    step.divisor = at::full(
        {}, divisor, at::TensorOptions().dtype(at::kFloat).device(step.values.front().device()));
  }
  return step;
}

// Returns the learning rate in the type that PyTorch's fused kernels take: double on the CPU, float
// on a GPU.
at::Tensor learning_rate(const Step& step) {
  return step.rate.is_cpu() ? step.rate : step.rate.to(at::kFloat);
}

std::vector<at::Tensor> counts(const Step& step) {
  return std::vector<at::Tensor>(step.values.size(), step.count);
}

struct Sgd {
  static constexpr bool kNorms = false;

  template <class T, class R, class C>
  static void apply(T& w, const T& g, T& s, T& /*t*/, const ScaledConstants<R, C>& by) {
    const C& c = by.constants;
    const T change = g + c.decay * w;
    s = change + c.momentum * s;
    w = c.nesterov ? w - c.rate * (change + c.momentum * s) : w - c.rate * s;
  }
};

struct RmsProp {
  static constexpr bool kNorms = false;

  template <class T, class R, class C>
  static void apply(T& w, const T& g, T& s, T& /*t*/, const ScaledConstants<R, C>& by) {
    const C& c = by.constants;
    using std::sqrt;
    const T change = g + c.decay * w;
    s = c.old * s + c.now * change * change;
    w = w - c.rate * change / (sqrt(s) + c.epsilon);
  }
};

struct Adadelta {
  static constexpr bool kNorms = false;

  template <class T, class R, class C>
  static void apply(T& w, const T& g, T& s, T& t, const ScaledConstants<R, C>& by) {
    const C& c = by.constants;
    using std::sqrt;
    const T change = g + c.decay * w;
    s = c.old * s + c.now * change * change;
    const T scaled = sqrt(t + c.epsilon) / sqrt(s + c.epsilon) * change;
    t = c.old * t + c.now * scaled * scaled;
    w = w - c.rate * scaled;
  }
};

struct Lamb {
  static constexpr bool kNorms = true;

  template <class T, class C>
  static T measure(const T& w, const T& g, T& s, T& t, const C& c) {
    s = c.old * s + c.now * g;
    t = c.old_square * t + c.now_square * g * g;
    return direction(w, s, t, c);
  }

  template <class R, class C>
  static R scale(const R& values, const R& measured, const C& /*c*/) {
    return values / measured;
  }

  template <class T, class R, class C>
  static void apply(T& w, const T& /*g*/, T& s, T& t, const ScaledConstants<R, C>& by) {
    w = w - by.constants.rate * by.scale * direction(w, s, t, by.constants);
  }

 private:
  template <class T, class C>
  static T direction(const T& w, const T& s, const T& t, const C& c) {
    using std::sqrt;
    return s / c.first / (sqrt(t / c.second) + c.epsilon) + c.decay * w;
  }
};

struct Lars {
  static constexpr bool kNorms = true;

  template <class T, class C>
  static T measure(const T& /*w*/, const T& g, T& /*s*/, T& /*t*/, const C& /*c*/) {
    return g;
  }

  template <class R, class C>
  static R scale(const R& values, const R& measured, const C& c) {
    constexpr double kCoefficient = 0.001;
    return kCoefficient * values / (measured + c.decay * values);
  }

  template <class T, class R, class C>
  static void apply(T& w, const T& g, T& s, T& /*t*/, const ScaledConstants<R, C>& by) {
    const C& c = by.constants;
    s = c.momentum * s + by.scale * (g + c.decay * w);
    w = w - c.rate * s;
  }
};

void sgd(const Step& step) {
  // PyTorch's fused SGD kernel for CPUs leaves whole SIMD vectors of bf16 parameters unchanged
  // (pytorch#191763; 2.13 has this bug).
  if (step.values.front().is_cpu() && step.values.front().scalar_type() == at::kBFloat16) {
    run_rule<Sgd>(step);
    return;
  }
  // is_first_step may stay false, because the momentum buffer starts at zero.
  at::_fused_sgd_(step.values, step.gradients, step.states.empty() ? Operand{} : step.states[0],
                  step.rule.weight_decay, step.rule.momentum, learning_rate(step),
                  /*dampening=*/0, step.rule.nesterov,
                  /*maximize=*/false,
                  /*is_first_step=*/false, step.divisor, step.found_inf);
}

template <class Fused>
void adam_with(const Fused& fused, const Step& step) {
  fused(step.values, step.gradients, step.states[0], step.states[1], at::TensorList(), counts(step),
        learning_rate(step), step.decay_rates[0], step.decay_rates[1], step.rule.weight_decay,
        step.epsilon,
        /*amsgrad=*/false,
        /*maximize=*/false, step.divisor, step.found_inf);
}

void adam(const Step& step) {
  adam_with([](auto&&... all) { at::_fused_adam_(all...); }, step);
}

void adamw(const Step& step) {
  adam_with([](auto&&... all) { at::_fused_adamw_(all...); }, step);
}

void adagrad(const Step& step) {
  at::_fused_adagrad_(step.values, step.gradients, step.states[0], counts(step),
                      learning_rate(step), step.rule.rate_decay, step.rule.weight_decay,
                      step.epsilon,
                      /*maximize=*/false, step.divisor, step.found_inf);
}

// Divides the gradients and does nothing else: the caller updates the values with an optimizer of
// its own.
void divide_gradients_only(const Step& step) {
  for (const at::Tensor& gradient : step.gradients) {
    if (step.divisor) {
      at::Tensor(gradient).div_(*step.divisor);
    }
  }
}

struct Kernel {
  std::string_view rule;
  void (*run)(const Step& step);
};

constexpr auto kRules = std::to_array<Kernel>({{"sgd", sgd},
                                               {"adam", adam},
                                               {"adamw", adamw},
                                               {"rmsprop", run_rule<RmsProp>},
                                               {"adagrad", adagrad},
                                               {"adadelta", run_rule<Adadelta>},
                                               {"lamb", run_rule<Lamb>},
                                               {"lars", run_rule<Lars>}});

// Checks that every optimizer has a rule.
static_assert(std::ranges::all_of(plan::kOptimizers, [](const plan::Optimizer& row) {
  return std::ranges::find(kRules, row.rule, &Kernel::rule) != kRules.end();
}));

}  // namespace

// With g the divided gradient, d the weight decay, lr the learning rate, mu the momentum, a and r
// decay rates, e the epsilon, v, s and t states, |x| the norm of x over a whole parameter:
//   sgd       v = mu v + g + d w;  w -= lr v
//   adam      torch.optim.Adam: d w is added to g
//   adamw     torch.optim.AdamW: w is scaled by 1 - lr d
//   rmsprop   g' = g + d w;  s = a s + (1 - a) g'^2;  w -= lr g' / (sqrt(s) + e)
//   adagrad   g' = g + d w;  s += g'^2;  w -= lr g' / (sqrt(s) + e)
//   adadelta  g' = g + d w;  s = r s + (1 - r) g'^2;  u = g' sqrt(t + e) / sqrt(s + e);
//             t = r t + (1 - r) u^2;  w -= lr u
//   lamb      u = m / (sqrt(v) + e) + d w with adam's m and v of g;  w -= lr |w| / |u| u
//   lars      v = mu v + 0.001 |w| / (|g| + d |w|) (g + d w);  w -= lr v
// The scales of lamb and lars are 1 if either norm is 0 or the settings are not layerwise; with
// layerwise settings each tensor is one parameter.
void run_optimizer(const OptimizerSettings& rule, const Call& call) {
  if (call.reads[0].empty()) {
    return;  // the slice is nothing but padding
  }
  const Step step = step_of(rule, call);
  if (!rule.updates) {
    divide_gradients_only(step);
    return;
  }
  std::ranges::find(kRules, step.row.rule, &Kernel::rule)->run(step);
}

}  // namespace paceline::runtime
