// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/window.h"

#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

#include "paceline/base/error.h"

namespace paceline::measure {

namespace {

// A window while it runs.
class MeasuredWindow {
 public:
  MeasuredWindow(Steps& job, const WindowOptions& options)
      : job_(job), options_(options) {}

  records::RankSamples run() {
    if (options_.barrier) {
      options_.barrier();
    }
    for (int i = 0; i < options_.warmup; ++i) {
      advance(i + 1);
    }
    job_.mark();
    for (int i = 0; i < options_.steps; ++i) {
      const StepTimes times = advance(options_.warmup + i + 1);
      job_.mark();
      samples_.phase_ns["forward"].push_back(times.forward_ns);
      samples_.phase_ns["backward"].push_back(times.backward_ns);
      samples_.phase_ns["wait"].push_back(times.wait_ns);
      if (options_.reads_data) {
        samples_.phase_ns["data"].push_back(times.data_ns);
      }
      if (times.examples > 0) {
        samples_.examples_of_step.push_back(times.examples);
      }
    }
    job_.drain();
    job_.mark();
    const std::vector<std::int64_t> marks = take_steps(1);
    const auto steps = samples_.step_ns.size();
    PACELINE_CHECK_EQ(steps, static_cast<std::size_t>(options_.steps));
    samples_.flush_ns = marks[steps + 1] - marks[steps];
    return std::move(samples_);
  }

  /// Of steps that ended, where run() did not.
  records::RankSamples so_far() {
    take_steps(0);
    return std::move(samples_);
  }

 private:
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

  // The last `others` marks are not of steps.
  std::vector<std::int64_t> take_steps(std::size_t others) {
    std::vector<std::int64_t> marks = job_.take_marks();
    for (std::size_t i = 0; i + 1 + others < marks.size(); ++i) {
      samples_.step_ns.push_back(marks[i + 1] - marks[i]);
      samples_.window_ns = marks[i + 1];
    }
    return marks;
  }

  Steps& job_;
  const WindowOptions& options_;
  records::RankSamples samples_;
};

}  // namespace

records::RankSamples measure(Steps& job, const WindowOptions& options) {
  MeasuredWindow window(job, options);
  try {
    return window.run();
  } catch (const std::exception&) {
    if (options.interrupted) {
      options.interrupted(window.so_far());
    }
    throw;
  }
}

}  // namespace paceline::measure
