// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/fit.h"

#include <algorithm>
#include <cmath>

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#include <unsupported/Eigen/NonLinearOptimization>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace paceline::stats {
namespace {

/// The form in which Eigen wants a problem.
class Functor {
 public:
  Functor(const FitProblem& problem,
          std::size_t unknowns,
          double scale,
          double step)
      : problem_(problem), unknowns_(unknowns), scale_(scale), step_(step) {}

  int inputs() const { return static_cast<int>(unknowns_); }
  int values() const { return static_cast<int>(problem_.residuals); }

  int operator()(const Eigen::VectorXd& logs, Eigen::VectorXd& out) const {
    const std::vector<double> at = exponential(logs);
    for (std::size_t i = 0; i < problem_.residuals; ++i) {
      out[index(i)] = softened(problem_.residual(i, at));
    }
    return 0;
  }

  /// Forward differences.
  int df(const Eigen::VectorXd& logs, Eigen::MatrixXd& jacobian) const {
    Eigen::VectorXd base(values());
    (*this)(logs, base);
    for (std::size_t j = 0; j < unknowns_; ++j) {
      Eigen::VectorXd moved = logs;
      moved[index(j)] += step_;
      const std::vector<double> at = exponential(moved);
      for (std::size_t i = 0; i < problem_.residuals; ++i) {
        jacobian(index(i), index(j)) =
            (softened(problem_.residual(i, at)) - base[index(i)]) / step_;
      }
    }
    return 0;
  }

 private:
  static Eigen::Index index(std::size_t i) {
    return static_cast<Eigen::Index>(i);
  }

  static std::vector<double> exponential(const Eigen::VectorXd& logs) {
    std::vector<double> values;
    for (const double log : logs) {
      values.push_back(std::exp(log));
    }
    return values;
  }

  /// Its square is the pseudo-Huber loss.
  double softened(double residual) const {
    const double ratio = residual / scale_;
    const double loss = 2 * (std::sqrt(1 + ratio * ratio) - 1);
    return std::copysign(scale_ * std::sqrt(loss), residual);
  }

  const FitProblem& problem_;
  std::size_t unknowns_;
  double scale_, step_;
};

}  // namespace

std::vector<double> fit(const FitProblem& problem,
                        const std::vector<double>& start,
                        const FitOptions& options) {
  Functor functor(problem, start.size(), options.scale, options.step);
  Eigen::LevenbergMarquardt<Functor> search(functor);
  search.parameters.ftol = 1e-5;
  Eigen::VectorXd logs(static_cast<Eigen::Index>(start.size()));
  for (std::size_t i = 0; i < start.size(); ++i) {
    logs[static_cast<Eigen::Index>(i)] = std::log(start[i]);
  }
  search.useExternalScaling = true;
  search.diag.setOnes(logs.size());
  search.parameters.factor = 1 / std::max(1.0, logs.norm());
  search.parameters.xtol = 1e-6;
  auto status = search.minimizeInit(logs);
  for (int i = 0;
       i < options.iterations &&
       status != Eigen::LevenbergMarquardtSpace::ImproperInputParameters;
       ++i) {
    status = search.minimizeOneStep(logs);
    if (status != Eigen::LevenbergMarquardtSpace::Running) {
      break;
    }
  }
  std::vector<double> best;
  for (const double log : logs) {
    best.push_back(std::exp(log));
  }
  return best;
}

}  // namespace paceline::stats
