// SPDX-License-Identifier: Apache-2.0
#include "paceline/train/window.h"

#include "paceline/base/clock.h"

namespace paceline::train {

record::RankSamples measure(Steps& job, const WindowOptions& options) {
  record::RankSamples samples;
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
  if (options.line_up) {
    options.line_up();
  }
  for (int i = 0; i < options.warmup; ++i) {
    advance(i + 1);
  }
  const std::int64_t window_began = steady_ns();
  std::int64_t step_began = window_began;
  for (int i = 0; i < options.steps; ++i) {
    const StepTimes times = advance(options.warmup + i + 1);
    const std::int64_t now = steady_ns();
    samples.step_ns.push_back(now - step_began);
    samples.phase_ns["forward"].push_back(times.forward_ns);
    samples.phase_ns["backward"].push_back(times.backward_ns);
    samples.phase_ns["wait"].push_back(times.wait_ns);
    step_began = now;
  }
  samples.window_ns = step_began - window_began;
  job.drain();
  samples.flush_ns = steady_ns() - step_began;
  return samples;
}

}  // namespace paceline::train
