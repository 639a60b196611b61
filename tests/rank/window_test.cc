// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/window.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/launch/signals.h"

namespace paceline::rank {
namespace {

// Writes down what the window asks of it: s for a step, d for a drain, m for a mark.  Its device is
// slow: 1000 ns after the first mark a step is done, and each later step takes 10 ns more than the
// one before.
class MarkScribe final : public TimedJob {
 public:
  StepTimes step() override {
    log += 's';
    return {.forward_ns = ++steps_, .backward_ns = 7, .wait_ns = 9};
  }
  void drain() override { log += 'd'; }
  void mark() override {
    log += 'm';
    marks_.push_back(marks_.empty() ? 0 : marks_.back() + 1000 + 10 * steps_);
  }
  std::vector<std::int64_t> take_marks() override { return std::exchange(marks_, {}); }

  std::string log;

 private:
  std::int64_t steps_ = 0;
  std::vector<std::int64_t> marks_;
};

TEST(Window, LinesUpBeforeTheWarmUpAndDrainsAtTheEnd) {
  MarkScribe job;
  const auto samples = measure(job, {.warmup = 2,
                                     .steps = 3,
                                     .barrier = [&](int) { job.log += '|'; },
                                     .progress =
                                         [&](int done, int total) {
                                           EXPECT_EQ(total, 5);
                                           job.log += std::to_string(done);
                                         }});
  EXPECT_EQ(job.log, "|s1s2ms3ms4ms5mdm");
  // The device's times, not those at which the host had enqueued the work.
  EXPECT_EQ(samples.step_ns, (std::vector<std::int64_t>{1030, 1040, 1050}));
  EXPECT_EQ(samples.window_ns, 3120);
  EXPECT_EQ(samples.flush_ns, 1050);
  EXPECT_EQ(samples.phase_ns.at("forward"), (std::vector<std::int64_t>{3, 4, 5}));
  EXPECT_EQ(samples.phase_ns.at("wait"), (std::vector<std::int64_t>{9, 9, 9}));
}

/// What is kept of a window in whose fourth step `error` is thrown.
template <class Error>
records::RankSamples kept_before(const Error& error) {
  MarkScribe job;
  records::RankSamples kept;
  EXPECT_THROW(measure(job, {.warmup = 1,
                             .steps = 5,
                             .progress =
                                 [&](int done, int) {
                                   if (done == 4) {
                                     throw error;
                                   }
                                 },
                             .interrupted =
                                 [&](records::RankSamples samples) { kept = std::move(samples); }}),
               Error);
  return kept;
}

TEST(Window, KeepsTheStepsThatEndedBeforeAnError) {
  const auto kept = kept_before(WorldError("a rank died"));
  EXPECT_EQ(kept.step_ns, (std::vector<std::int64_t>{1020, 1030}));
  EXPECT_EQ(kept.window_ns, 2050);
  EXPECT_EQ(kept.phase_ns.at("forward"), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(kept.flush_ns, std::nullopt);
}

// The ranks that live on when another one has failed are asked to stop.
TEST(Window, KeepsTheStepsThatEndedBeforeAWishToStop) {
  const auto kept = kept_before(launch::StopRequested{15});
  EXPECT_EQ(kept.step_ns, (std::vector<std::int64_t>{1020, 1030}));
}

TEST(Window, SyncDrainsAfterEveryStep) {
  MarkScribe job;
  measure(job, {.warmup = 1, .steps = 2, .sync_each_step = true});
  EXPECT_EQ(job.log, "sdmsdmsdmdm");
}

}  // namespace
}  // namespace paceline::rank
