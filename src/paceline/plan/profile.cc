// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/profile.h"

#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/int128.h"
#include "paceline/plan/plan_input.h"

namespace paceline::plan {
namespace {

constexpr auto kLongest = static_cast<double>(kEndOfTime);

void check_times(const ModelShape& model, const std::vector<Picoseconds>& times, std::size_t wanted,
                 std::string_view what) {
  if (times.size() != wanted) {
    throw UsageError(fmt::format("profile of '{}': {} {} times for {} of them", model.name,
                                 times.size(), what, wanted));
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] < 0) {
      throw UsageError(
          fmt::format("profile of '{}': {} {} takes {} ps", model.name, what, i, times[i]));
    }
  }
}

}  // namespace

Picoseconds picoseconds_of(double seconds) {
  const double time = std::round(seconds * 1e12);
  PACELINE_CHECK(time >= 0);
  if (time > kLongest) {
    throw UsageError(
        fmt::format("a time of {:g} s: virtual time ends after {:g}", seconds, kLongest * 1e-12));
  }
  return static_cast<Picoseconds>(time);
}

Picoseconds LayerProfile::forward_total() const {
  return std::accumulate(forward.begin(), forward.end(), Picoseconds{0});
}

Picoseconds LayerProfile::backward_total() const {
  return std::accumulate(backward.begin(), backward.end(), Picoseconds{0});
}

void check_profile(const ModelShape& model, const LayerProfile& profile) {
  check_times(model, profile.forward, model.modules.size(), "module");
  check_times(model, profile.backward, model.parameters.size(), "parameter");
}

std::vector<Picoseconds> ready_times(const ModelShape& model, const LayerProfile& profile) {
  std::vector<Picoseconds> times;
  Picoseconds now = 0;
  for (const ParameterId id : model.ready_order) {
    now += profile.backward[index_of(id)];
    times.push_back(now);
  }
  return times;
}

}  // namespace paceline::plan
