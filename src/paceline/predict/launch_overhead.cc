// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/launch_overhead.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/stats/distribution.h"

namespace paceline::predict {
namespace {

/// The host that launches ops and the device that executes them.
class Launches {
 public:
  explicit Launches(plan::Picoseconds per_module) : per_module_(per_module) {}

  /// Launches one op, and sets its time to that from the end of the previous op to its own end.
  void launch(plan::Picoseconds& time) {
    launched_ += per_module_;
    append(time, launched_);
  }

  /// Adds an op that was launched together with the previous op.
  void follow(plan::Picoseconds& time) { append(time, 0); }

 private:
  void append(plan::Picoseconds& time, plan::Picoseconds earliest) {
    const plan::Picoseconds end = std::max(earliest, end_) + time;
    time = end - end_;
    end_ = end;
  }

  plan::Picoseconds per_module_, launched_ = 0, end_ = 0;
};

plan::Picoseconds per_module(const plan::NetworkShape& network, plan::Picoseconds per_call) {
  const auto modules = static_cast<double>(network.model.modules.size());
  const double calls = network.leaf_calls > 0 ? network.leaf_calls : modules;
  return std::llround(static_cast<double>(per_call) * calls / modules);
}

plan::Picoseconds total(const plan::LayerProfile& profile) {
  return profile.forward_total() + profile.backward_total();
}

}  // namespace

LaunchOverheadProfile with_launch_overhead(const plan::NetworkShape& network,
                                           plan::LayerProfile profile, plan::Picoseconds per_call) {
  PACELINE_CHECK(per_call >= 0);
  const plan::ModelShape& model = network.model;
  const plan::Picoseconds device = total(profile);
  Launches launches(per_module(network, per_call));
  for (plan::Picoseconds& time : profile.forward) {
    launches.launch(time);
  }
  std::optional<plan::ModuleId> last;
  for (const plan::ParameterId id : model.ready_order) {
    const plan::ModuleId module = model.parameters[plan::index_of(id)].module;
    plan::Picoseconds& time = profile.backward[plan::index_of(id)];
    if (module == last) {
      launches.follow(time);
    } else {
      launches.launch(time);
    }
    last = module;
  }
  const plan::Picoseconds all = total(profile);
  const double busy = all > 0 ? static_cast<double>(device) / static_cast<double>(all) : 1;
  return {std::move(profile), busy};
}

double slowest_call(double per_call, double spread, plan::Rank ranks) {
  constexpr plan::Rank kMost = 64;
  return per_call * (1 + spread * stats::slowest_delay_sd(std::min(ranks, kMost)));
}

void add_launch_overhead(const plan::NetworkShape& network, double seconds_per_call, double spread,
                         plan::Rank ranks, simulator::Costs& costs) {
  LaunchOverheadProfile slowed =
      with_launch_overhead(network, std::move(costs.profile),
                           plan::picoseconds_of(slowest_call(seconds_per_call, spread, ranks)));
  costs.profile = std::move(slowed.profile);
  double& left = costs.machine.interference.device_link_under_compute;
  left = 1 - slowed.busy * (1 - left);
}

void warn_of_launches(const plan::NetworkShape& network, const EngineCosts& engine,
                      const cluster::SoftwareCosts& software,
                      std::vector<records::Warning>& warnings) {
  if (!engine.published || software.kernels.empty()) {
    return;
  }
  const double launches_s = plan::seconds_of(software.kernels.front().launch_per_tensor) *
                            static_cast<double>(network.model.parameters.size());
  if (launches_s == 0) {
    return;
  }
  warnings.push_back(
      {.code = "launches-of-a-published-program",
       .seen = fmt::format("{:.1f} ms of the step launch the update of each tensor, which one rank "
                           "alone does not wait for",
                           launches_s * 1e3),
       .why = fmt::format("engine {} is the program of {}, which waits for the last collective "
                          "before it launches them from Python",
                          engine.name, engine.source),
       .advice = fmt::format("give --engine {} for a program of today", engine.fit_engine_name())});
}

}  // namespace paceline::predict
