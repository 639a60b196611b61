// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/window.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "paceline/base/error.h"

namespace paceline::rank {
namespace {

void add_step_phases(const StepTimes& times, records::RankSamples& samples) {
  samples.phase_ns["forward"].push_back(times.forward_ns);
  samples.phase_ns["backward"].push_back(times.backward_ns);
  samples.phase_ns["wait"].push_back(times.wait_ns);
}

// Collects the samples of a run of measured steps.
class MeasuredWindow {
 public:
  MeasuredWindow(TimedJob& job, const WindowOptions& options) : job_(job), options_(options) {}

  records::RankSamples run() {
    if (options_.barrier) {
      options_.barrier();
    }
    for (int i = 0; i < options_.warmup; ++i) {
      advance(i + 1);
    }
    job_.mark();
    for (int i = 0; i < options_.steps; ++i) {
      add(advance(options_.warmup + i + 1));
    }
    job_.drain();
    job_.mark();
    const std::vector<std::int64_t> marks = take_step_times(1);
    const auto steps = samples_.step_ns.size();
    PACELINE_CHECK_EQ(steps, static_cast<std::size_t>(options_.steps));
    samples_.flush_ns = marks[steps + 1] - marks[steps];
    return std::move(samples_);
  }

  /// Returns the samples of the steps that ended before run() threw.
  records::RankSamples interrupted() {
    take_step_times(0);
    return std::move(samples_);
  }

 private:
  void add(const StepTimes& times) {
    job_.mark();
    add_step_phases(times, samples_);
    if (options_.reads_data) {
      samples_.phase_ns["data"].push_back(times.data_ns);
    }
    if (times.examples > 0) {
      samples_.examples_of_step.push_back(times.examples);
    }
  }

  StepTimes advance(int done) {
    const StepTimes times = job_.step();
    if (options_.sync_each_step) {
      job_.drain();
    }
    if (options_.progress) {
      options_.progress(done, options_.warmup + options_.steps);
    }
    return times;
  }

  // Adds the times of the steps since the last call.  The last `others` marks are not step ends and
  // are ignored.
  std::vector<std::int64_t> take_step_times(std::size_t others) {
    std::vector<std::int64_t> marks = job_.take_marks();
    for (std::size_t i = 0; i + 1 + others < marks.size(); ++i) {
      samples_.step_ns.push_back(marks[i + 1] - marks[i]);
      samples_.window_ns = marks[i + 1];
    }
    return marks;
  }

  TimedJob& job_;
  const WindowOptions& options_;
  records::RankSamples samples_;
};

// The number of steps at the start of each run that are not counted.  The ranks begin a run at
// slightly different times.  The second step waits for the last rank, because operations of the
// first step are due at its gates.
constexpr int kUncounted = 2;

/// Consecutive blocks of one kind, which run without a break.
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
  for (int k = 0; k < kUncounted; ++k) {
    step();
  }
  job.mark();
  const int counted = run.blocks * options.layout.block_steps;
  for (int k = 0; k < counted; ++k) {
    step();
    job.mark();
  }
  job.drain();
  const std::vector<std::int64_t> marks = job.take_marks();
  PACELINE_CHECK_EQ(marks.size(), static_cast<std::size_t>(counted) + 1);
  std::vector<std::int64_t> times;
  for (std::size_t k = 1; k < marks.size(); ++k) {
    times.push_back(marks[k] - marks[k - 1]);
  }
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
  const std::vector<std::int64_t> marks = job.take_marks();
  PACELINE_CHECK_EQ(marks.size(), times.size() + 1);
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (first + static_cast<int>(i) >= options.warmup) {
      samples.step_ns.push_back(marks[i + 1] - marks[i]);
      samples.window_ns += samples.step_ns.back();
      add_step_phases(times[i], samples);
    }
  }
  return marks.back();
}

}  // namespace

records::RankSamples measure(TimedJob& job, const WindowOptions& options) {
  MeasuredWindow window(job, options);
  try {
    return window.run();
  } catch (...) {  // a request to stop is no std::exception
    if (options.interrupted) {
      options.interrupted(window.interrupted());
    }
    throw;
  }
}

int PairLayout::total_steps() const {
  const auto runs = static_cast<int>(runs_of(*this).size());
  return kColdSteps + 2 * pairs * block_steps + kUncounted * runs;
}

PairLayout pair_layout(int steps) {
  PairLayout layout{.block_steps = std::clamp(steps / 20, 1, 5)};
  const int two_pairs = 4 * layout.block_steps + 2 * kUncounted;
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
