// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "paceline/cluster/machine.h"
#include "paceline/plan/profile.h"
#include "paceline/simulator/job.h"

namespace paceline::simulator {

/// All that a simulation may vary without planning again.
struct Costs {
  cluster::Machine machine;
  cluster::SoftwareCosts software;
  plan::LayerProfile profile;       // of one micro-batch on one device
  bool free_communication = false;  // nothing that crosses takes time
};

/// What a simulation says of a step, which lasts from the start of its first forward to that of the
/// next step's.
struct StepTimes {
  plan::Picoseconds step = 0;            // in the steady state; of the slowest rank
  plan::Picoseconds compute = 0;         // model work of one rank and step, the same mean
  plan::Picoseconds flush = 0;           // from the last step's end until all is done
  bool steady = false;                   // steps repeat exactly, so more of them say no more
  std::vector<plan::Picoseconds> steps;  // one by one, of the slowest rank each
  plan::Step window = 1;                 // the last of them, over which means are taken
  std::uint64_t events = 0;
};

/// When an item or a transfer ran, from the start of the first step.
struct RunInterval {
  plan::Picoseconds begin = -1, end = -1;
};

/// What crosses a link of the machine.
struct LinkBytes {
  std::uint32_t link = 0;
  std::int64_t bytes = 0;
};

/// Executes compiled plans in virtual time.
///
/// Model work follows the layer profile, one op after another on each rank. Kernels run beside it,
/// one at a time, smallest priority first.  A communication op is issued when its hazards are gone,
/// its communicator's order allows it and the bytes in flight are below the credit; a transfer
/// starts when all who take part have issued it.  docs/simulator.md has the model in full.
///
/// Time is whole picoseconds and events are ordered by (time, sequence
/// number); what happens at one time is decided together, so that the result depends on the inputs
/// alone and folded ranks run exactly as unfolded ones.
class Simulator {
 public:
  /// `job` must outlive the simulator.
  explicit Simulator(const Job& job);
  ~Simulator();
  Simulator(Simulator&&) noexcept;
  Simulator& operator=(Simulator&&) noexcept;

  /// Stops early where steps have begun to repeat.  Throws UsageError for costs that cannot be, or
  /// that differ between ranks that the job has folded, and PlanError that names the ops which wait
  /// for each other where nothing can move any more.
  StepTimes run(const Costs& costs);

  /// What run() does first: prices every transfer, without executing the plan.  Throws UsageError
  /// likewise.
  void set_costs(const Costs& costs);

  /// When each item or transfer began and ended in the last run; -1 where the run did not come to
  /// that.
  const std::vector<RunInterval>& items() const;
  const std::vector<RunInterval>& transfers() const;

  /// The steps of one of the job's actors in the last run, one by one.
  std::vector<plan::Picoseconds> steps_of(const Actor& actor) const;

  /// Bytes that crossed the first link in the last run: what the first simulated rank's device
  /// sent, where each has a link of its own.
  std::int64_t bytes_sent() const;

  /// What one transfer adds to the links, at the last costs.
  std::vector<LinkBytes> loads_of(TransferId transfer) const;

  /// A link's rate at the last costs.
  std::int64_t bytes_per_s(std::uint32_t link) const;

  /// How long the busiest link is at work for one step's bytes, at the rates of the last costs; the
  /// mean of a period of steps.
  plan::Picoseconds busiest_link() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Compiles and runs once.
StepTimes simulate(const plan::Planner& planner, const plan::PlanInput& input, const Costs& costs,
                   const JobOptions& options = {});

}  // namespace paceline::simulator
