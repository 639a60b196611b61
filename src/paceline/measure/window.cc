// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/window.h"

#include <cstddef>
#include <vector>

#include "paceline/base/error.h"

namespace paceline::measure {

records::RankSamples measure(Steps& job, const WindowOptions& options) {
  records::RankSamples samples;
  const int total = options.warmup + options.steps;
  const auto advance = [&](int done) {
    const StepTimes times = job.step();
    if (options.sync_each_step) {
      job.drain();
    }
    if (options.progress) {
      options.progress(done, total);
    }
    return times;
  };
  if (options.barrier) {
    options.barrier();
  }
  for (int i = 0; i < options.warmup; ++i) {
    advance(i + 1);
  }
  job.mark();
  for (int i = 0; i < options.steps; ++i) {
    const StepTimes times = advance(options.warmup + i + 1);
    job.mark();
    samples.phase_ns["forward"].push_back(times.forward_ns);
    samples.phase_ns["backward"].push_back(times.backward_ns);
    samples.phase_ns["wait"].push_back(times.wait_ns);
    if (times.examples > 0) {
      samples.examples_of_step.push_back(times.examples);
    }
  }
  job.drain();
  job.mark();
  const std::vector<std::int64_t> marks = job.take_marks();
  const auto steps = static_cast<std::size_t>(options.steps);
  PACELINE_CHECK_EQ(marks.size(), steps + 2);
  for (std::size_t i = 0; i < steps; ++i) {
    samples.step_ns.push_back(marks[i + 1] - marks[i]);
  }
  samples.window_ns = marks[steps];
  samples.flush_ns = marks[steps + 1] - marks[steps];
  return samples;
}

}  // namespace paceline::measure
