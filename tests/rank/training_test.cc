// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <gtest/gtest.h>

#include "paceline/rank/window.h"

namespace paceline::rank {
namespace {

/// Steps of 10 ns, drains of 3 ns, evaluations of 100 ns, on a clock of its own.
class FakeJob final : public TimedJob {
 public:
  StepTimes step() override {
    now += 10;
    ++steps;
    return {.forward_ns = 4, .backward_ns = 6};
  }
  void drain() override { now += 3; }
  void mark() override { marks_.push_back(now); }
  std::vector<std::int64_t> take_marks() override {
    std::vector<std::int64_t> taken;
    for (const std::int64_t mark : marks_) {
      taken.push_back(mark - marks_.front());
    }
    marks_.clear();
    return taken;
  }

  std::int64_t now = 0, steps = 0;

 private:
  std::vector<std::int64_t> marks_;
};

TEST(Training, EvaluatesApartFromTheTimesOfSteps) {
  FakeJob job;
  std::vector<int> aligned, progress;
  const auto samples =
      measure(job, {.warmup = 1,
                    .steps = 6,
                    .evaluate_every = 3,
                    .barrier = [&](int done) { aligned.push_back(done); },
                    .progress = [&](int done, int) { progress.push_back(done); },
                    .evaluate =
                        [&] {
                          job.now += 100;
                          return records::Evaluation{.loss = static_cast<double>(job.steps),
                                                     .accuracy = {}};
                        }});
  EXPECT_EQ(aligned, (std::vector<int>{0, 3, 6}));
  EXPECT_EQ(progress, (std::vector<int>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(samples.step_ns, (std::vector<std::int64_t>{10, 13, 10, 10, 13, 13}));
  EXPECT_EQ(samples.window_ns, 69);
  EXPECT_EQ(samples.flush_ns, 0);
  EXPECT_EQ(samples.phase_ns.at("forward").size(), 6u);
  ASSERT_EQ(samples.evaluations.size(), 4u);
  const std::vector<std::int64_t> steps{0, 3, 6, 7}, times{0, 33, 66, 79};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(samples.evaluations[i].step, steps[i]);
    EXPECT_EQ(samples.evaluations[i].trained_ns, times[i]);
    EXPECT_EQ(samples.evaluations[i].loss, static_cast<double>(steps[i]));
  }
}

}  // namespace
}  // namespace paceline::rank
