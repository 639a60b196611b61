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

// Adds the times of the measured steps since the last call to the samples.  Returns the time in
// nanoseconds between the marks since then.
std::int64_t add_step_times(TimedJob& job, records::RankSamples& samples) {
  const std::vector<std::int64_t> times = times_between_marks(job);
  const std::size_t measured = samples.phase_ns["forward"].size() - samples.step_ns.size();
  samples.step_ns.insert(samples.step_ns.end(), times.end() - static_cast<std::ptrdiff_t>(measured),
                         times.end());
  return sum_of(times);
}

// Runs the steps from `first` to `end`.  Marks the beginning and the end of each measured step, and
// of each warm-up step if there are evaluations.
void run_steps(TimedJob& job, const WindowOptions& options, int first, int end,
               records::RankSamples& samples) {
  const bool evaluates = options.evaluate != nullptr;
  for (int step = first; step < end; ++step) {
    if (step == (evaluates ? first : options.warmup)) {
      job.mark();
    }
    const StepTimes times = job.step();
    if (options.sync_each_step || (evaluates && step + 1 == end)) {
      job.drain();
    }
    if (options.progress) {
      options.progress(step + 1, options.warmup + options.steps);
    }
    if (evaluates || step >= options.warmup) {
      job.mark();
    }
    if (step < options.warmup) {
      continue;
    }
    add_step_phases(times, samples);
    if (options.reads_data) {
      samples.phase_ns["data"].push_back(times.data_ns);
    }
    if (times.examples > 0) {
      samples.examples_of_step.push_back(times.examples);
    }
  }
}

void run_window(TimedJob& job, const WindowOptions& options, records::RankSamples& samples) {
  const int total = options.warmup + options.steps;
  std::int64_t trained_ns = 0;
  for (int done = 0;;) {
    if (options.evaluate) {
      records::Evaluation& evaluation = samples.evaluations.emplace_back(options.evaluate());
      evaluation.step = done;
      evaluation.trained_ns = trained_ns;
    }
    if (done == total) {
      return;
    }
    if (options.barrier) {
      options.barrier(done);
    }
    const int end = options.evaluate ? std::min(done + options.evaluate_every, total) : total;
    run_steps(job, options, done, end, samples);
    done = end;
    if (options.evaluate) {
      trained_ns += add_step_times(job, samples);
    }
  }
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

}  // namespace

records::RankSamples measure(TimedJob& job, const WindowOptions& options) {
  records::RankSamples samples;
  try {
    run_window(job, options, samples);
    if (options.evaluate) {
      samples.flush_ns = 0;  // the flush is part of the last step
    } else {
      job.drain();
      job.mark();
      samples.step_ns = times_between_marks(job);
      samples.flush_ns = samples.step_ns.back();
      samples.step_ns.pop_back();
    }
  } catch (...) {  // a request to stop is thrown as a type that is no std::exception
    if (options.interrupted) {
      add_step_times(job, samples);
      samples.window_ns = sum_of(samples.step_ns);
      options.interrupted(std::move(samples));
    }
    throw;
  }
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

}  // namespace paceline::rank
