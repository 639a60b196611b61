// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "paceline/predict/measured_fit.h"
#include "paceline/stats/prior_fit.h"
#include "paceline/strategies/strategy.h"

// Computes how well a figure that is not measured yet would determine the constants.

namespace paceline::predict {

bool MeasuredFit::is_measured(const MeasuredFigure& figure) const {
  MeasuredFigure asked = figure;
  complete(asked);
  const auto case_of = [this](const MeasuredFigure& it) {
    const PredictRequest request = request_of(it);
    // One rank exchanges nothing under any strategy.
    return std::tuple(it.ranks, it.batch_size, it.accumulate,
                      it.ranks > 1 ? strategies::strategy_of(request).text() : std::string(),
                      cluster::ranks_per_host(request.cluster, it.ranks));
  };
  return std::ranges::any_of(
      checked_, [&](const CheckedFigure& it) { return case_of(it.figure) == case_of(asked); });
}

MeasuredFit::Values MeasuredFit::constants_for(const MeasuredFit& other) const {
  Values at;
  for (const Unknown unknown : other.unknowns_) {
    if (unknown == Unknown::kCompute || unknown == Unknown::kComputeOfMore) {
      const int batch = unknown == Unknown::kCompute ? other.least_batch_ : other.most_batch_;
      at.push_back(std::log(one_device_s(batch, at_) / other.first_guess_s_));
    } else {
      at.push_back(value(unknown, at_));
    }
  }
  return at;
}

void MeasuredFit::find_covariance() {
  stats::PriorFit fit =
      stats::posterior_at([&](const Values& at) { return residuals_at(at); }, prior_, at_);
  covariance_ = std::move(fit.covariance);
  influence_ = std::move(fit.influence);
}

MeasuredFit MeasuredFit::if_measured(MeasuredFigure figure) const {
  if (is_measured(figure)) {
    return *this;
  }
  MeasuredFit more = *this;
  complete(figure);
  const double step = plan::seconds_of(step_of(priced(request_of(figure))).step);
  figure.step_s = step;
  more.checked_.push_back({.figure = std::move(figure), .measured_s = step, .fitted_s = step});
  more.sort_figures();
  more.choose_unknowns();
  more.at_ = constants_for(more);
  more.find_covariance();
  return more;
}

std::optional<MeasuredFit> MeasuredFit::if_collectives_measured() const {
  const bool network =
      fits(Unknown::kNetworkRate) && !has_collective_fits(cluster::LinkScope::kHosts);
  const bool device =
      fits(Unknown::kDeviceRate) && !has_collective_fits(cluster::LinkScope::kDevices);
  if (!described_ || !(network || device)) {
    return std::nullopt;
  }
  MeasuredFit more = *this;
  more.swept_ = true;
  more.choose_unknowns();
  more.find_covariance();
  return more;
}

}  // namespace paceline::predict
