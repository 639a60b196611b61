// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "paceline/cluster/link_spec.h"
#include "paceline/plan/plan_input.h"
#include "paceline/predict/measured_cases.h"
#include "paceline/simulator/simulate.h"

namespace paceline::predict {

/// What a fit may vary, in the order in which they are added as cases become
/// more.
enum class Unknown : std::uint8_t {
  kNetworkRate,  // bytes/s
  kDeviceRate,   // bytes/s
  kLatency,      // s, one hop
  kSlowdown,     // compute takes 1 + so much under a transfer
  kStart         // s, of a collective
};

using UnknownValues = std::map<Unknown, double>;

/// What one rank does alone.
struct AloneTimes {
  double step = 0, forward = 0, backward = 0;  // seconds
};

/// From the runs without an exchange where there are some, else from all.
AloneTimes alone_times(const std::vector<MeasuredCase>& alone);

/// One set of constants: those of the records, or of resampled ones.
struct Fitted {
  AloneTimes alone;
  double factor = 1;
  UnknownValues values;
};

/// Cases of more than one rank, compiled once, priced under any constants.
class CalibrationFit {
 public:
  struct Setting {
    plan::PlanInput input;     // model, optimizer
    plan::LayerProfile shape;  // of the layer times
    double update_bytes = 0;
    std::optional<cluster::LinkSpec> link;
    cluster::Machine machine{};       // what is not fitted
    bool one_link = true;             // ranks of a host meet on the same link
    cluster::SoftwareCosts software;  // of the engine: what it carries at once
  };

  CalibrationFit(Setting setting, const MeasuredJob& job);

  /// Unknowns that the cases are enough for and depend on.
  const std::vector<Unknown>& unknowns() const { return unknowns_; }

  /// Least squares over the cases, whose times are those of `job` (the one
  /// given before, resampled perhaps).
  UnknownValues fit(const MeasuredJob& job,
                    const UnknownValues& start,
                    int iterations);
  UnknownValues first_guess(const MeasuredJob& job);

  /// What a world costs in which computing takes `factor` times as long as on
  /// one rank.
  simulator::Costs costs(const AloneTimes& alone,
                         double factor,
                         const UnknownValues& values) const;

  /// Seconds of a case's step.
  double simulated(std::size_t i,
                   const MeasuredJob& job,
                   const UnknownValues& values);

  /// The largest share of its step that a case spends waiting.
  double most_exposed(const MeasuredJob& job, const UnknownValues& values);

 private:
  struct Compiled {
    simulator::Job job;
    std::unique_ptr<simulator::Simulator> simulator;
  };
  void choose_unknowns(const MeasuredJob& job);
  /// Whether some case depends on it, at `values`.
  bool depends_on(const MeasuredJob& job,
                  const UnknownValues& values,
                  Unknown unknown);

  Setting setting_;
  std::vector<std::unique_ptr<Compiled>> compiled_;
  std::vector<Unknown> unknowns_;
};

/// How many times longer than one rank alone the ranks of a case compute.
double compute_factor(const MeasuredCase& measured, const AloneTimes& alone);

}  // namespace paceline::predict
