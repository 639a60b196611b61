// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/pairs.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "paceline/base/error.h"

namespace paceline::measure {
namespace {

// Steps of each run that are not counted.  The ranks begin a run some time
// apart, and the step that waits for the last of them is the second: operations
// of the first are due at its gates.
constexpr int kUncounted = 2;

/// Neighboring blocks of one kind.
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

/// The counted step times of one run.
std::vector<std::int64_t> step_times(TimedJob& job,
                                     const BlockRun& run,
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

}  // namespace

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

void measure_pairs(TimedJob& with,
                   TimedJob* without,
                   const PairOptions& options,
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
      auto& all =
          run.with ? samples.paired_step_ns : samples.compute_only_step_ns;
      all.insert(all.end(), times.begin(), times.end());
    }
  }
  for (int pair = 0; without != nullptr && pair < options.layout.pairs;
       ++pair) {
    samples.pair_of_step.insert(
        samples.pair_of_step.end(),
        static_cast<std::size_t>(options.layout.block_steps),
        pair);
  }
}

}  // namespace paceline::measure
