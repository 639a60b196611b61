// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/training.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "paceline/base/error.h"

namespace paceline::measure {
namespace {

/// Steps from one evaluation to the next.
class Stretch {
 public:
  Stretch(TimedJob& job, const TrainingOptions& options)
      : job_(job), options_(options) {}

  /// Runs the steps from `first` to `end` and adds those after the warm-up.
  /// Returns the time that all of them took.
  std::int64_t run(int first, int end, records::RankSamples& samples) {
    const int total = options_.warmup + options_.steps;
    std::vector<StepTimes> times;
    job_.mark();
    for (int step = first; step < end; ++step) {
      times.push_back(job_.step());
      if (step + 1 == end) {
        job_.drain();
      }
      job_.mark();
      if (options_.progress) {
        options_.progress(step + 1, total);
      }
    }
    const std::vector<std::int64_t> marks = job_.take_marks();
    PACELINE_CHECK_EQ(marks.size(), times.size() + 1);
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (first + static_cast<int>(i) < options_.warmup) {
        continue;
      }
      samples.step_ns.push_back(marks[i + 1] - marks[i]);
      samples.window_ns += samples.step_ns.back();
      samples.phase_ns["forward"].push_back(times[i].forward_ns);
      samples.phase_ns["backward"].push_back(times[i].backward_ns);
      samples.phase_ns["wait"].push_back(times[i].wait_ns);
    }
    return marks.back();
  }

 private:
  TimedJob& job_;
  const TrainingOptions& options_;
};

}  // namespace

records::RankSamples train(TimedJob& job, const TrainingOptions& options) {
  records::RankSamples samples;
  Stretch stretch(job, options);
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
      samples.flush_ns = 0;  // in the last step
      return samples;
    }
    if (done == 0) {
      options.begin();
    } else {
      options.align(done);
    }
    const int end = std::min(done + options.evaluate_every, total);
    trained_ns += stretch.run(done, end, samples);
    done = end;
  }
}

}  // namespace paceline::measure
