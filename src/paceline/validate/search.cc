// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace paceline::validate {
namespace {

/// Moves one unknown at a time; derivatives do not see across a jump.
class Walk {
 public:
  Walk(const stats::FitProblem& problem,
       std::vector<double> values,
       const SearchOptions& options)
      : problem_(problem), options_(options), values_(std::move(values)) {
    for (std::size_t i = 0; i < problem_.residuals; ++i) {
      losses_.push_back(loss(i, values_));
    }
  }

  double loss() const {
    return std::accumulate(losses_.begin(), losses_.end(), 0.0);
  }

  std::vector<double> run() {
    double step = options_.walk;
    while (step > options_.walk_end) {
      for (int sweep = 0; sweep < options_.sweeps && sweep_once(step);
           ++sweep) {
      }
      step /= 2;
    }
    return values_;
  }

 private:
  double loss(std::size_t i, const std::vector<double>& at) const {
    const double ratio = problem_.residual(i, at) / options_.scale;
    return std::sqrt(1 + ratio * ratio) - 1;
  }

  bool sweep_once(double step) {
    bool moved = false;
    for (std::size_t j = 0; j < values_.size(); ++j) {
      moved = try_step(j, step) || try_step(j, -step) || moved;
    }
    return moved;
  }

  bool try_step(std::size_t j, double step) {
    std::vector<double> at = values_;
    at[j] *= std::exp(step);
    std::vector<double> losses = losses_;
    double gain = 0;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      if (problem_.depends(i, j)) {
        losses[i] = loss(i, at);
        gain += losses_[i] - losses[i];
      }
    }
    if (gain <= 0) {
      return false;
    }
    values_ = std::move(at);
    losses_ = std::move(losses);
    return true;
  }

  const stats::FitProblem& problem_;
  const SearchOptions& options_;
  std::vector<double> values_, losses_;
};

/// The same problem where no unknown goes further from `center` than the
/// options let it.
stats::FitProblem bounded(const stats::FitProblem& problem,
                          const std::vector<double>& center,
                          double furthest) {
  stats::FitProblem within = problem;
  within.residual = [&problem, center, furthest](
                        std::size_t i, const std::vector<double>& values) {
    std::vector<double> at = values;
    for (std::size_t j = 0; j < at.size(); ++j) {
      at[j] = std::clamp(at[j], center[j] / furthest, center[j] * furthest);
    }
    return problem.residual(i, at);
  };
  return within;
}

}  // namespace

std::vector<double> search(const stats::FitProblem& problem,
                           const std::vector<std::vector<double>>& starts,
                           const SearchOptions& options) {
  const stats::FitProblem within =
      bounded(problem, starts.front(), options.furthest);
  const auto descend = [&](const std::vector<double>& start, double step) {
    return stats::fit(within,
                      start,
                      {.iterations = options.iterations,
                       .scale = options.scale,
                       .step = step,
                       .careful = true});
  };
  std::optional<std::pair<double, std::vector<double>>> best;
  for (const std::vector<double>& start : starts) {
    std::vector<double> end = descend(start, options.wide);
    const double loss = Walk(within, end, options).loss();
    if (!best.has_value() || loss < best->first) {
      best.emplace(loss, std::move(end));
    }
  }
  std::vector<double> values =
      Walk(within, descend(best->second, options.narrow), options).run();
  for (std::size_t j = 0; j < values.size(); ++j) {
    values[j] = std::clamp(values[j],
                           starts.front()[j] / options.furthest,
                           starts.front()[j] * options.furthest);
  }
  return values;
}

}  // namespace paceline::validate
