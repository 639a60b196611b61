// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/window.h"

#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "paceline/base/error.h"

namespace paceline::measure {

namespace {

// A window while it runs.
class MeasuredWindow {
 public:
  MeasuredWindow(TimedJob& job, const WindowOptions& options)
      : job_(job), options_(options) {
    give_access([this] { return so_far(); });
  }
  ~MeasuredWindow() { give_access({}); }
  MeasuredWindow(const MeasuredWindow&) = delete;
  MeasuredWindow& operator=(const MeasuredWindow&) = delete;

  records::RankSamples run() {
    if (options_.barrier) {
      options_.barrier();
    }
    for (int i = 0; i < options_.warmup; ++i) {
      advance(i + 1);
    }
    mark();
    for (int i = 0; i < options_.steps; ++i) {
      add(advance(options_.warmup + i + 1));
    }
    job_.drain();
    const auto held = hold();
    job_.mark();
    const std::vector<std::int64_t> marks = take_steps(1);
    const auto steps = samples_.step_ns.size();
    PACELINE_CHECK_EQ(steps, static_cast<std::size_t>(options_.steps));
    samples_.flush_ns = marks[steps + 1] - marks[steps];
    return std::move(samples_);
  }

  /// The samples of the steps that ended before run() threw.
  records::RankSamples interrupted() {
    const auto held = hold();
    return so_far();
  }

 private:
  // Keeps another thread from reading meanwhile, where one may.
  std::unique_lock<std::mutex> hold() const {
    return options_.access != nullptr ? std::unique_lock(options_.access->mutex)
                                      : std::unique_lock<std::mutex>();
  }

  void give_access(std::function<records::RankSamples()> take) {
    const auto held = hold();
    if (options_.access != nullptr) {
      options_.access->tell =
          take ? options_.interrupted : decltype(options_.interrupted)();
      options_.access->take = std::move(take);
    }
  }

  void mark() {
    const auto held = hold();
    job_.mark();
  }

  void add(const StepTimes& times) {
    const auto held = hold();
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

  records::RankSamples so_far() {
    take_steps(0);
    return std::move(samples_);
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

  // The last `others` marks are not of steps.
  std::vector<std::int64_t> take_steps(std::size_t others) {
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

}  // namespace

records::RankSamples measure(TimedJob& job, const WindowOptions& options) {
  MeasuredWindow window(job, options);
  try {
    return window.run();
  } catch (...) {  // a wish to stop is no std::exception
    if (options.interrupted) {
      options.interrupted(window.interrupted());
    }
    throw;
  }
}

}  // namespace paceline::measure
