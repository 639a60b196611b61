// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "paceline/records/run_record.h"

// Functions that time the steps of a training job: consecutive steps after a warm-up, or pairs of
// blocks with and without communication.

namespace paceline::rank {

/// The times of the training thread in one step, in nanoseconds.
struct StepTimes {
  std::int64_t began_ns = 0;     // start of the forward pass, by the monotonic clock
  std::int64_t forward_ns = 0;   // time of the forward pass, without waits at gates
  std::int64_t backward_ns = 0;  // time of the backward pass, without waits at gates
  std::int64_t wait_ns = 0;      // time spent waiting at gates for communicated values
  std::int64_t ended_ns = 0;     // time at which the backward pass returned
  std::int64_t data_ns = 0;      // time to get the batch, if it is read from a file
  std::int64_t examples = 0;     // examples of the step; 0: as many as the configuration's batch
};

/// A forward or backward pass on the training thread, waits included.
struct PhaseSpan {
  bool forward = true;
  std::int64_t step = 0;
  std::int64_t start_ns = 0, end_ns = 0;
};

/// A training job that is timed.
class TimedJob {
 public:
  virtual ~TimedJob() = default;

  /// Runs one training step.  Operations that the plan allows to cross the step border may still be
  /// in flight when step() returns.
  virtual StepTimes step() = 0;

  /// Waits for all operations in flight.
  virtual void drain() = 0;

  /// Marks the moment at which the device will have finished its queued work; on a CPU that is now.
  /// The host does not wait for that moment.
  virtual void mark() = 0;

  /// Returns the times of all marks since the last call, in nanoseconds after the first of these
  /// marks.  Waits for the device.
  virtual std::vector<std::int64_t> take_marks() = 0;
};

struct WindowOptions {
  int warmup = 5;
  int steps = 10;
  bool sync_each_step = false;
  bool reads_data = false;  // whether reading data is recorded as a phase
  int evaluate_every = 50;  // number of steps between two evaluations
  /// Called before the warm-up, and after each evaluation with the number of steps done; waits for
  /// all ranks.  It is not called after the warm-up, because operations that the last warm-up step
  /// leaves in flight belong to the first measured step.
  std::function<void(int done)> barrier{};
  /// Called after every step with the number of steps done; may throw to stop.
  std::function<void(int done, int total)> progress{};
  /// Called with the samples of all complete steps before measure() throws: an error, or a request
  /// to stop, which ends the surviving ranks when another rank has failed.
  std::function<void(records::RankSamples)> interrupted{};
  /// Called when no operation is in flight: before the first step, after every `evaluate_every`
  /// steps, and after the last.  Null: there are no evaluations.
  std::function<records::Evaluation()> evaluate{};
};

/// Runs warm-up and measured steps.  A step's time runs from the start of its forward pass to the
/// start of the next step's.  So a schedule that crosses the step border is timed fairly: the first
/// step inherits operations of the warm-up, and the last one leaves as many to the flush.
///
/// Evaluations are no part of a step.  Operations in flight before an evaluation are completed in
/// the step before it, and count there; then the flush takes no time.
records::RankSamples measure(TimedJob& job, const WindowOptions& options);

/// How steps with and without communication alternate.  A pair is a block of `block_steps` steps
/// with communication and a block of as many steps without, next to each other.  The order changes
/// from pair to pair, so that a machine that drifts favors neither side.  Neighboring blocks of one
/// kind form one run:
///
///   with | without without | with with | without without | ... | with
///
/// A run starts with empty queues and two steps that are not counted.  These steps synchronize the
/// ranks, and bring a schedule that crosses the step border into its steady state.
struct PairLayout {
  int pairs = 2;  // number of pairs, even
  int block_steps = 1;

  /// Returns the number of all steps, including those that are not counted.
  int total_steps() const;
  bool operator==(const PairLayout&) const = default;
};

/// The number of steps without communication before the first pair.  They touch the memory for the
/// first time.
inline constexpr int kColdSteps = 1;

/// Returns a layout with about as many steps in all as a window of `steps` steps has, and with at
/// least 4 pairs if `steps` is 9 or more.
PairLayout pair_layout(int steps);

struct PairOptions {
  PairLayout layout;
  bool sync_each_step = false;
  /// Called before every run with communication, to synchronize the ranks.  A run without
  /// communication needs no barrier: the ranks' last operation has synchronized them.
  std::function<void()> barrier{};
};

/// Measures the pairs into `samples`: `paired_step_ns`, `compute_only_step_ns` and `pair_of_step`.
/// Neither job has operations in flight before or after.  On a rank without model work, `without`
/// is null: it takes part only in the steps with communication, and has no samples.
void measure_pairs(TimedJob& with, TimedJob* without, const PairOptions& options,
                   records::RankSamples& samples);

}  // namespace paceline::rank
