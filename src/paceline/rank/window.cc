// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/window.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "paceline/base/error.h"

namespace paceline::rank {
namespace {

void add_step_phases(const StepTimes& times, records::RankSamples& samples) {
  samples.phase_ns["forward"].push_back(times.forward_ns);
  samples.phase_ns["backward"].push_back(times.backward_ns);
  samples.phase_ns["wait"].push_back(times.wait_ns);
}

// Returns the times between the marks since the last call.
std::vector<std::int64_t> times_between_marks(TimedJob& job) {
  std::vector<std::int64_t> marks = job.take_marks();
  std::adjacent_difference(marks.begin(), marks.end(), marks.begin());
  if (!marks.empty()) {
    marks.erase(marks.begin());
  }
  return marks;
}

std::int64_t sum_of(const std::vector<std::int64_t>& times) {
  return std::accumulate(times.begin(), times.end(), std::int64_t{0});
}

void run_window(TimedJob& job, const WindowOptions& options, records::RankSamples& samples) {
  if (options.barrier) {
    options.barrier();
  }
  const int total = options.warmup + options.steps;
  for (int done = 0; done < total; ++done) {
    if (done == options.warmup) {
      job.mark();
    }
    const StepTimes times = job.step();
    if (options.sync_each_step) {
      job.drain();
    }
    if (options.progress) {
      options.progress(done + 1, total);
    }
    if (done < options.warmup) {
      continue;
    }
    job.mark();
    add_step_phases(times, samples);
    if (options.reads_data) {
      samples.phase_ns["data"].push_back(times.data_ns);
    }
    if (times.examples > 0) {
      samples.examples_of_step.push_back(times.examples);
    }
  }
  job.drain();
  job.mark();
}

// The number of steps at the start of each run that are not counted.  The ranks begin a run at
// slightly different times.  The second step waits for the last rank, because operations of the
// first step are due at its gates.
constexpr int kUncountedSteps = 2;

/// Consecutive blocks that all have communication or all have none, and run without a break.
struct BlockRun {
  bool with = true;
  int blocks = 1;
};

std::vector<BlockRun> runs_of(const PairLayout& layout) {
  std::vector<BlockRun> runs;
  const auto add = [&runs](bool with) {
    if (!runs.empty() && runs.back().with == with) {
      ++runs.back().blocks;
    } else {
      runs.push_back({with, 1});
    }
  };
  for (int pair = 0; pair < layout.pairs; ++pair) {
    const bool with_first = pair % 2 == 0;
    add(with_first);
    add(!with_first);
  }
  return runs;
}

/// Returns the times of the counted steps of one run.
std::vector<std::int64_t> step_times(TimedJob& job, const BlockRun& run,
                                     const PairOptions& options) {
  const auto step = [&] {
    job.step();
    if (options.sync_each_step) {
      job.drain();
    }
  };
  for (int k = 0; k < kUncountedSteps; ++k) {
    step();
  }
  job.mark();
  const int counted = run.blocks * options.layout.block_steps;
  for (int k = 0; k < counted; ++k) {
    step();
    job.mark();
  }
  job.drain();
  std::vector<std::int64_t> times = times_between_marks(job);
  PACELINE_CHECK_EQ(times.size(), static_cast<std::size_t>(counted));
  return times;
}

// Trains from step `first` to `end`, and adds the steps after the warm-up to `samples`.  Returns
// the time in nanoseconds that all of these steps took.
std::int64_t train_until_evaluation(TimedJob& job, const TrainingOptions& options, int first,
                                    int end, records::RankSamples& samples) {
  const int total = options.warmup + options.steps;
  std::vector<StepTimes> times;
  job.mark();
  for (int step = first; step < end; ++step) {
    times.push_back(job.step());
    if (step + 1 == end) {
      job.drain();
    }
    job.mark();
    if (options.progress) {
      options.progress(step + 1, total);
    }
  }
  const std::vector<std::int64_t> step_ns = times_between_marks(job);
  PACELINE_CHECK_EQ(step_ns.size(), times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (first + static_cast<int>(i) >= options.warmup) {
      samples.step_ns.push_back(step_ns[i]);
      samples.window_ns += step_ns[i];
      add_step_phases(times[i], samples);
    }
  }
  return sum_of(step_ns);
}

}  // namespace

records::RankSamples measure(TimedJob& job, const WindowOptions& options) {
  records::RankSamples samples;
  try {
    run_window(job, options, samples);
  } catch (...) {  // a request to stop is thrown as a type that is no std::exception
    if (options.interrupted) {
      samples.step_ns = times_between_marks(job);
      samples.window_ns = sum_of(samples.step_ns);
      options.interrupted(std::move(samples));
    }
    throw;
  }
  samples.step_ns = times_between_marks(job);
  samples.flush_ns = samples.step_ns.back();
  samples.step_ns.pop_back();
  PACELINE_CHECK_EQ(samples.step_ns.size(), static_cast<std::size_t>(options.steps));
  samples.window_ns = sum_of(samples.step_ns);
  return samples;
}

int PairLayout::total_steps() const {
  const auto runs = static_cast<int>(runs_of(*this).size());
  return kColdSteps + 2 * pairs * block_steps + kUncountedSteps * runs;
}

PairLayout pair_layout(int steps) {
  PairLayout layout{.block_steps = std::clamp(steps / 20, 1, 5)};
  const int two_pairs = 4 * layout.block_steps + 2 * kUncountedSteps;
  layout.pairs = 2 * std::max(1, (steps + two_pairs - 1) / two_pairs);
  return layout;
}

void measure_pairs(TimedJob& with, TimedJob* without, const PairOptions& options,
                   records::RankSamples& samples) {
  PACELINE_CHECK(options.layout.pairs > 0 && options.layout.block_steps > 0);
  for (int k = 0; without != nullptr && k < kColdSteps; ++k) {
    without->step();
    without->drain();
  }
  for (const BlockRun& run : runs_of(options.layout)) {
    if (run.with && options.barrier) {
      options.barrier();
    }
    TimedJob* const job = run.with ? &with : without;
    if (job == nullptr) {
      continue;
    }
    const auto times = step_times(*job, run, options);
    if (without != nullptr) {
      auto& all = run.with ? samples.paired_step_ns : samples.compute_only_step_ns;
      all.insert(all.end(), times.begin(), times.end());
    }
  }
  for (int pair = 0; without != nullptr && pair < options.layout.pairs; ++pair) {
    samples.pair_of_step.insert(samples.pair_of_step.end(),
                                static_cast<std::size_t>(options.layout.block_steps), pair);
  }
}

records::RankSamples train(TimedJob& job, const TrainingOptions& options) {
  records::RankSamples samples;
  const std::int64_t sent_before = options.sent_bytes();
  const int total = options.warmup + options.steps;
  std::int64_t trained_ns = 0;
  int done = 0;
  while (true) {
    records::Evaluation evaluation = options.evaluate();
    evaluation.step = done;
    evaluation.trained_ns = trained_ns;
    evaluation.sent_bytes = options.sent_bytes() - sent_before;
    samples.evaluations.push_back(evaluation);
    if (done == total) {
      samples.flush_ns = 0;  // the flush is part of the last step
      return samples;
    }
    if (done == 0) {
      options.begin();
    } else {
      options.align(done);
    }
    const int end = std::min(done + options.evaluate_every, total);
    trained_ns += train_until_evaluation(job, options, done, end, samples);
    done = end;
  }
}

}  // namespace paceline::rank
