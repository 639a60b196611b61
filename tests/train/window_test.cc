// SPDX-License-Identifier: Apache-2.0
#include "paceline/train/window.h"

#include <string>

#include <gtest/gtest.h>

namespace paceline::train {
namespace {

// Writes down what the window asks of it: s for a step, d for a drain.
class Scribe final : public Steps {
 public:
  StepTimes step() override {
    log += 's';
    return {.forward_ns = ++steps_, .backward_ns = 7, .wait_ns = 9};
  }
  void drain() override { log += 'd'; }

  std::string log;

 private:
  std::int64_t steps_ = 0;
};

TEST(Window, LinesUpBeforeTheWarmUpAndDrainsAtTheEnd) {
  Scribe job;
  const auto samples = measure(job,
                               {.warmup = 2,
                                .steps = 3,
                                .line_up = [&] { job.log += '|'; },
                                .progress =
                                    [&](int done, int total) {
                                      EXPECT_EQ(total, 5);
                                      job.log += std::to_string(done);
                                    }});
  EXPECT_EQ(job.log, "|s1s2s3s4s5d");
  EXPECT_EQ(samples.step_ns.size(), 3U);
  EXPECT_EQ(samples.phase_ns.at("forward"),
            (std::vector<std::int64_t>{3, 4, 5}));
  EXPECT_EQ(samples.phase_ns.at("wait"), (std::vector<std::int64_t>{9, 9, 9}));
}

TEST(Window, SyncDrainsAfterEveryStep) {
  Scribe job;
  measure(job, {.warmup = 1, .steps = 2, .sync_each_step = true});
  EXPECT_EQ(job.log, "sdsdsdd");
}

}  // namespace
}  // namespace paceline::train
