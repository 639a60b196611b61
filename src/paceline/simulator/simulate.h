// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "paceline/cluster/machine.h"
#include "paceline/plan/profile.h"
#include "paceline/simulator/job.h"

namespace paceline::simulator {

/// All costs that a simulation may vary without planning again.
struct Costs {
  cluster::Machine machine;
  cluster::SoftwareCosts software;
  plan::LayerProfile profile;       // of one micro-batch on one device
  bool free_communication = false;  // communication takes no time
};

/// The result of a simulation.  A step lasts from the start of its first forward to the start of
/// the next step's first forward.
struct StepTimes {
  plan::Picoseconds step = 0;            // mean over the last `window` steps, of the slowest rank
  plan::Picoseconds compute = 0;         // model work per step, same mean
  plan::Picoseconds flush = 0;           // from the end of the last step until all ops are complete
  bool steady = false;                   // steps repeat exactly, so more steps give the same result
  std::vector<plan::Picoseconds> steps;  // each step's time, of that step's slowest rank
  plan::Step window = 1;                 // number of last steps over which means are taken
  std::uint64_t events = 0;
};

/// The begin and the end of an item or a transfer, from the start of the first step.
struct RunInterval {
  plan::Picoseconds begin = -1, end = -1;
};

/// The bytes that cross a link of the machine.
struct LinkBytes {
  std::uint32_t link = 0;
  std::int64_t bytes = 0;
};

/// Executes compiled plans in virtual time.
///
/// Model work takes the times of the layer profile, one op after another on each rank.  Kernels run
/// in parallel with it, one at a time, smallest priority first.  A communication op is issued when
/// the ops that it waits for are complete, its communicator's order allows it and the bytes in
/// flight are below the credit.  A transfer starts when all its participants have issued it.
/// docs/simulator.md has the full model.
///
/// Times are whole picoseconds, and events are ordered by (time, sequence number).  All decisions
/// for one time are made together, so the result depends only on the inputs, and folded ranks run
/// exactly as unfolded ones.
class Simulator {
 public:
  /// `job` must outlive the simulator.
  explicit Simulator(const Job& job);
  ~Simulator();
  Simulator(Simulator&&) noexcept;
  Simulator& operator=(Simulator&&) noexcept;

  /// Simulates the job; stops early if steps repeat.  Throws UsageError for invalid costs, or costs
  /// that differ between folded ranks, and PlanError, which names the ops that wait for each other,
  /// if the ranks block.
  StepTimes run(const Costs& costs);

  /// Computes the cost of every transfer without executing the plan; run() begins with this.
  /// Throws UsageError as run() does.
  void set_costs(const Costs& costs);

  /// The begin and the end of each item or transfer in the last run; -1 if the run did not reach
  /// it.
  const std::vector<RunInterval>& items() const;
  const std::vector<RunInterval>& transfers() const;

  /// The step times of one of the job's actors in the last run.
  std::vector<plan::Picoseconds> step_times_of(const Actor& actor) const;

  /// The bytes that crossed the first link in the last run.  If each device has a link of its own,
  /// these are the bytes that the first simulated rank's device sent.
  std::int64_t bytes_sent() const;

  /// The bytes that one transfer adds to each link, at the last costs.
  std::vector<LinkBytes> loads_of(TransferId transfer) const;

  /// The rate of a link at the last costs.
  std::int64_t bytes_per_s(std::uint32_t link) const;

  /// The time that the busiest link takes for one step's bytes, at the rates of the last costs; the
  /// mean over a period of steps.
  plan::Picoseconds busiest_link_time() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Compiles the job and runs it once.
StepTimes simulate(const plan::Planner& planner, const plan::PlanInput& input, const Costs& costs,
                   const JobOptions& options = {});

}  // namespace paceline::simulator
