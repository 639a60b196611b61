// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/mean.h"

#include <cmath>
#include <numeric>

#include "paceline/base/error.h"

namespace paceline::stats {

double mean(std::span<const double> samples) {
  PACELINE_CHECK(!samples.empty());
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double standard_error(std::span<const double> samples) {
  PACELINE_CHECK(samples.size() > 1);
  const double center = mean(samples);
  double squares = 0;
  for (const double sample : samples) {
    squares += (sample - center) * (sample - center);
  }
  const auto n = static_cast<double>(samples.size());
  return std::sqrt(squares / (n - 1) / n);
}

}  // namespace paceline::stats
