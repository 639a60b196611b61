// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/prior_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "paceline/base/error.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#include <Eigen/Dense>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace paceline::stats {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<double> list_of(const VectorXd& vector) {
  return {vector.data(), vector.data() + vector.size()};
}

/// The fit with every unknown divided by its prior's standard deviation, so that all priors are 1.
class ScaledProblem {
 public:
  ScaledProblem(const Residuals& residuals, const std::vector<double>& prior)
      : residuals_(residuals),
        prior_(Eigen::Map<const VectorXd>(prior.data(), static_cast<Eigen::Index>(prior.size()))) {}

  VectorXd in_priors(const std::vector<double>& unknowns) const {
    return Eigen::Map<const VectorXd>(unknowns.data(), static_cast<Eigen::Index>(unknowns.size()))
        .cwiseQuotient(prior_);
  }

  VectorXd at(const VectorXd& scaled) const {
    const std::vector<double> values = residuals_(list_of(scaled.cwiseProduct(prior_)));
    return Eigen::Map<const VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
  }

  /// Returns the residuals at `scaled`; nothing if the model throws or is not finite there.
  std::optional<VectorXd> residuals_if_finite(const VectorXd& scaled) const {
    try {
      VectorXd values = at(scaled);
      return values.allFinite() ? std::optional(std::move(values)) : std::nullopt;
    } catch (const UsageError&) {
      return std::nullopt;
    }
  }

  MatrixXd jacobian(const VectorXd& scaled, const VectorXd& base) const {
    MatrixXd out(base.size(), scaled.size());
    for (Eigen::Index k = 0; k < scaled.size(); ++k) {
      const double step = 1e-3 / std::max(1.0, prior_[k]);
      VectorXd moved = scaled;
      moved[k] += step;
      out.col(k) = (at(moved) - base) / step;
    }
    return out;
  }

  const VectorXd& prior() const { return prior_; }

 private:
  const Residuals& residuals_;
  VectorXd prior_;
};

MatrixXd normal_matrix(const MatrixXd& jacobian) {
  return jacobian.transpose() * jacobian + MatrixXd::Identity(jacobian.cols(), jacobian.cols());
}

/// Fixes those unknowns for this step that are at their upper bounds and would grow, by removing
/// them from the equations.
void fix_unknowns_at_bounds(const VectorXd& at, const VectorXd& most, MatrixXd& normal,
                            VectorXd& slope) {
  for (Eigen::Index k = 0; k < at.size(); ++k) {
    if (at[k] >= most[k] && slope[k] < 0) {
      normal.row(k).setZero();
      normal.col(k).setZero();
      normal(k, k) = 1;
      slope[k] = 0;
    }
  }
}

VectorXd minimum(const ScaledProblem& problem, VectorXd at, const VectorXd& most) {
  constexpr int kIterations = 40;
  constexpr double kMostDamping = 1e12, kClose = 1e-12;
  double damping = 1e-6;
  VectorXd base = problem.at(at);
  double cost = base.squaredNorm() + at.squaredNorm();
  for (int i = 0; i < kIterations; ++i) {
    const MatrixXd jacobian = problem.jacobian(at, base);
    MatrixXd normal = normal_matrix(jacobian);
    VectorXd slope = jacobian.transpose() * base + at;
    fix_unknowns_at_bounds(at, most, normal, slope);
    bool better = false;
    double gain = 0;
    while (!better && damping < kMostDamping) {
      MatrixXd damped = normal;
      damped.diagonal() += damping * normal.diagonal();
      const VectorXd trial = (at - damped.ldlt().solve(slope)).cwiseMin(most);
      const std::optional<VectorXd> there = problem.residuals_if_finite(trial);
      const double now = there ? there->squaredNorm() + trial.squaredNorm() : cost;
      better = there && now < cost;
      damping = better ? std::max(damping / 10, 1e-9) : damping * 10;
      if (better) {
        gain = cost - now;
        at = trial;
        base = *there;
        cost = now;
      }
    }
    if (!better || gain <= kClose * (1 + cost)) {
      break;
    }
  }
  return at;
}

PriorFit posterior_of(const ScaledProblem& problem, const VectorXd& best) {
  const MatrixXd jacobian = problem.jacobian(best, problem.at(best));
  const MatrixXd scaled =
      normal_matrix(jacobian).ldlt().solve(MatrixXd::Identity(best.size(), best.size()));
  const auto by_prior = problem.prior().asDiagonal();
  const MatrixXd covariance = by_prior * scaled * by_prior;
  const MatrixXd influence = by_prior * scaled * jacobian.transpose();
  PriorFit fit{.at = list_of(best.cwiseProduct(problem.prior()))};
  for (Eigen::Index k = 0; k < best.size(); ++k) {
    fit.covariance.push_back(list_of(covariance.row(k)));
    fit.influence.push_back(list_of(influence.row(k)));
  }
  return fit;
}

}  // namespace

PriorFit fit_with_priors(const Residuals& residuals, const std::vector<double>& prior,
                         const std::vector<double>& start, const std::vector<double>& most) {
  const ScaledProblem problem(residuals, prior);
  const std::vector<double> none(prior.size(), std::numeric_limits<double>::infinity());
  const VectorXd ends = problem.in_priors(most.empty() ? none : most);
  return posterior_of(problem, minimum(problem, problem.in_priors(start).cwiseMin(ends), ends));
}

PriorFit posterior_at(const Residuals& residuals, const std::vector<double>& prior,
                      const std::vector<double>& at) {
  const ScaledProblem problem(residuals, prior);
  return posterior_of(problem, problem.in_priors(at));
}

}  // namespace paceline::stats
