// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "paceline/records/run_record.h"

// How a training job's steps are timed: in a window, in pairs of blocks with and without
// communication, and between evaluations.

namespace paceline::rank {

/// The time of the training thread in one step, nanoseconds.
struct StepTimes {
  std::int64_t began_ns = 0;     // start of forward, monotonic clock
  std::int64_t forward_ns = 0;   // without the wait at gates
  std::int64_t backward_ns = 0;  // without the wait at gates
  std::int64_t wait_ns = 0;      // at gates
  std::int64_t ended_ns = 0;     // backward returned
  std::int64_t data_ns = 0;      // for the batch, where it is read
  std::int64_t examples = 0;     // 0: the configuration's batch
};

/// A forward or backward of the training thread, waits included.
struct PhaseSpan {
  bool forward = true;
  std::int64_t step = 0;
  std::int64_t start_ns = 0, end_ns = 0;
};

/// A training job that is timed.
class TimedJob {
 public:
  virtual ~TimedJob() = default;

  /// One training step.  Operations that the plan allows to cross the step border may still be in
  /// flight when it returns.
  virtual StepTimes step() = 0;

  /// Waits for all operations in flight.
  virtual void drain() = 0;

  /// Marks the moment at which the device will have finished its queued work; on a CPU that is now.
  /// The host does not wait for it.
  virtual void mark() = 0;

  /// The times of all marks since the last call, in nanoseconds after the
  /// first of them.  Waits for the device.
  virtual std::vector<std::int64_t> take_marks() = 0;
};

/// For another thread, to read a window of which a step hangs.  While `mutex` is held the window
/// adds nothing.
struct WindowAccess {
  std::mutex mutex;
  /// The samples of all whole steps; null while no window runs.
  std::function<records::RankSamples()> take{};
  /// What WindowOptions::interrupted does; null while no window runs.
  std::function<void(records::RankSamples)> tell{};
};

struct WindowOptions {
  int warmup = 5;
  int steps = 10;
  bool sync_each_step = false;
  bool reads_data = false;  // its time is a phase
  /// Called before the warm-up.  Not after it, because operations that the last warm-up step leaves
  /// in flight belong to the first measured step.
  std::function<void()> barrier{};
  /// Called after every step with the number done; may throw to stop.
  std::function<void(int done, int total)> progress{};
  /// Called with the samples of all whole steps before an error leaves, or a request to stop, which
  /// ends ranks that live on when another one has failed.
  std::function<void(records::RankSamples)> interrupted{};
  WindowAccess* access = nullptr;  // may be null
};

/// Runs warm-up and measured steps.  A step's time runs from the start of its forward to the start
/// of the next one's, so a schedule that crosses the step border is timed fairly: what the first
/// step inherits from the warm-up, the last one leaves to the flush.
records::RankSamples measure(TimedJob& job, const WindowOptions& options);

/// How steps with and without communication alternate.  A pair is a block of
/// `block_steps` steps with communication and one of as many without, next to
/// each other.  The order changes from pair to pair, so that a machine that drifts favors neither
/// side, and blocks of one kind that meet run on:
///
///   with | without without | with with | without without | ... | with
///
/// A run of such blocks starts from drained queues with two steps that are not counted.  They line
/// the ranks up, and bring a schedule that crosses the step border into its steady state.
struct PairLayout {
  int pairs = 2;  // even
  int block_steps = 1;

  /// All steps, those that are not counted included.
  int total_steps() const;
  bool operator==(const PairLayout&) const = default;
};

/// Steps without communication before the first pair, which touch the memory.
inline constexpr int kColdSteps = 1;

/// About as many steps in all as a window of `steps` has; from 9 steps on at least 4 pairs.
PairLayout pair_layout(int steps);

struct PairOptions {
  PairLayout layout;
  bool sync_each_step = false;
  /// Called before every run with communication; lines the ranks up.  A run without begins where
  /// the ranks' last operation has lined them up.
  std::function<void()> barrier{};
};

/// Measures the pairs into `samples`: `paired_step_ns`, `compute_only_step_ns` and `pair_of_step`.
/// No queue of either job holds operations before or after.  A rank without model work has no steps
/// `without` communication (null): it takes part in the others, and has no samples.
void measure_pairs(TimedJob& with, TimedJob* without, const PairOptions& options,
                   records::RankSamples& samples);

struct TrainingOptions {
  int warmup = 0;
  int steps = 10;
  int evaluate_every = 50;
  /// Called before the first step, as the barrier of measure(), and after each later evaluation:
  /// they wait for all ranks.
  std::function<void()> begin{};
  std::function<void(int done)> align{};
  /// Called between steps, with nothing in flight.
  std::function<records::Evaluation()> evaluate{};
  std::function<std::int64_t()> sent_bytes{};  // so far
  /// Called after every step with the number done; may throw to stop.
  std::function<void(int done, int total)> progress{};
};

/// Trains, and evaluates before the first step, after every `evaluate_every`, and after the last.
/// The times of steps are those of measure(), with what is in flight before an evaluation in the
/// step before it; evaluations are not in them.
records::RankSamples train(TimedJob& job, const TrainingOptions& options);

}  // namespace paceline::rank
