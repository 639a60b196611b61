// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <torch/types.h>

#include "paceline/runtime/kernels/optimizer_step.h"

namespace paceline::runtime {
namespace {

// Adds the constants of the second running average, that of squared gradients.
template <class N, class R = N>
struct LayerConstants : Constants<N, R> {
  LayerConstants(const Step& step, R learning_rate, R first_weight, R second_weight)
      : Constants<N, R>(step, std::move(learning_rate)),
        old_square(static_cast<N>(step.decay_rates[1])),
        now_square(static_cast<N>(1 - step.decay_rates[1])),
        first(std::move(first_weight)),
        second(std::move(second_weight)) {}

  N old_square, now_square;
  R first, second;  // for each average, the sum of the weights of all gradients (bias correction)
};

// Returns the sum of the weights of all gradients in an average; 1 if the optimizer counts no
// steps.
at::Tensor weight_of_average(const Step& step, std::size_t average) {
  const at::Tensor one = at::ones({}, step.rate.options().dtype(at::kDouble));
  return step.row.counts_steps
             ? one - at::pow(step.decay_rates[average], step.count.squeeze().to(at::kDouble))
             : one;
}

// The factors that the second pass uses for every element.
template <class R, class C>
struct Scaled {
  const R& scale;
  const C& constants;
};

// A rule has two passes.  In the first, measure() updates the averages and returns the quantity
// whose norm is taken beside that of the values.  scale() computes the scale of the step from both
// norms. In the second pass, apply() takes the step.

struct Lamb {
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
  static void apply(T& w, const T& /*g*/, T& s, T& t, const Scaled<R, C>& by) {
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
  static void apply(T& w, const T& g, T& s, T& /*t*/, const Scaled<R, C>& by) {
    const C& c = by.constants;
    s = c.momentum * s + by.scale * (g + c.decay * w);
    w = w - c.rate * s;
  }
};

// Norms over all elements of a tensor.
struct Norms {
  double values = 0, measured = 0;
};

// Splits a tensor into chunks for threads.  The chunks, and so the order of a sum over them, do not
// depend on the number of threads.
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

template <class Rule>
class Layerwise {
 public:
  template <class E, class N>
  static void loop(const Step& step) {
    const LayerConstants<N> c(step, step.rate.item<N>(), weight_of_average(step, 0).item<N>(),
                              weight_of_average(step, 1).item<N>());
    const N divisor = step.divisor ? step.divisor->item<N>() : N{1};
    for (std::size_t i = 0; i < step.values.size(); ++i) {
      const Pointers<E> all(step, i);
      const Chunks chunks(step.values[i].numel());
      const Norms norms = measure<E, N>(all, chunks, divisor, c);
      const bool scales = step.rule.layerwise && norms.values > 0 && norms.measured > 0;
      apply<E, N>(all, chunks,
                  scales ? static_cast<N>(Rule::scale(norms.values, norms.measured, c)) : N{1}, c);
    }
  }

  static void operators(const Step& step) {
    const LayerConstants<double, at::Tensor> c(
        step, step.rate.squeeze(), weight_of_average(step, 0), weight_of_average(step, 1));
    for (std::size_t i = 0; i < step.values.size(); ++i) {
      Wide all(step, i);
      if (!all.s().defined()) {
        all.s() = at::zeros_like(all.w());
      }
      const at::Tensor measured = Rule::measure(all.w(), all.g(), all.s(), all.t(), c);
      at::Tensor scale = at::ones({}, all.w().options());
      if (step.rule.layerwise) {
        const at::Tensor values = at::linalg_vector_norm(all.w());
        const at::Tensor other = at::linalg_vector_norm(measured);
        scale =
            at::where((values > 0).logical_and(other > 0), Rule::scale(values, other, c), scale);
      }
      Rule::apply(all.w(), all.g(), all.s(), all.t(),
                  Scaled<at::Tensor, LayerConstants<double, at::Tensor>>{scale, c});
      all.store();
    }
  }

 private:
  // The first pass: writes the divided gradients and the new averages, and returns the norms.
  template <class E, class N>
  static Norms measure(const Pointers<E>& all, const Chunks& chunks, N divisor,
                       const LayerConstants<N>& c) {
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
        put(s, k, all.s);
        put(t, k, all.t);
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
  static void apply(const Pointers<E>& all, const Chunks& chunks, N scale,
                    const LayerConstants<N>& c) {
    const Scaled<N, LayerConstants<N>> by{scale, c};
    chunks.each([&](std::int64_t /*chunk*/, std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        N w = all.w[k];
        N s = number<N>(all.s, k);
        N t = number<N>(all.t, k);
        Rule::apply(w, static_cast<N>(all.g[k]), s, t, by);
        all.w[k] = w;
        put(s, k, all.s);
      }
    });
  }

  // A missing state is zero.
  template <class N, class E>
  static N number(const E* state, std::int64_t at) {
    return state == nullptr ? N{0} : static_cast<N>(state[at]);
  }

  template <class N, class E>
  static void put(N value, std::int64_t at, E* state) {
    if (state != nullptr) {
      state[at] = value;
    }
  }
};

}  // namespace

void run_lamb(const Step& step) { run_rule<Layerwise<Lamb>>(step); }

void run_lars(const Step& step) { run_rule<Layerwise<Lars>>(step); }

}  // namespace paceline::runtime
