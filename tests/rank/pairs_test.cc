// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/rank/window.h"
#include "paceline/records/samples.h"
#include "paceline/stats/interval.h"

namespace paceline::rank {
namespace {

// A machine on which each step takes 10 us longer than the one before it.
struct DriftingMachine {
  std::int64_t now_ns = 0;
  std::int64_t steps = 0;

  void run(std::int64_t extra_ns) { now_ns += 1'000'000 + 10'000 * steps++ + extra_ns; }
};

// Writes down what is asked of it: its name for a step, d for a drain, m for a mark, t where the
// marks are taken.
class Scribe final : public TimedJob {
 public:
  Scribe(char name, std::string& log, DriftingMachine& machine, std::int64_t extra_ns = 0)
      : name_(name), log_(log), machine_(machine), extra_ns_(extra_ns) {}

  StepTimes step() override {
    log_ += name_;
    machine_.run(extra_ns_);
    return {};
  }
  void drain() override { log_ += 'd'; }
  void mark() override {
    log_ += 'm';
    marks_.push_back(machine_.now_ns);
  }
  std::vector<std::int64_t> take_marks() override {
    log_ += 't';
    for (std::int64_t& mark : marks_) {
      mark -= machine_.now_ns;  // only differences count
    }
    return std::exchange(marks_, {});
  }

 private:
  char name_;
  std::string& log_;
  DriftingMachine& machine_;
  std::int64_t extra_ns_;
  std::vector<std::int64_t> marks_;
};

records::RankSamples samples_of(const PairOptions& options, std::string& log,
                                std::int64_t exposed_ns = 0) {
  DriftingMachine machine;
  Scribe with('w', log, machine, exposed_ns);
  Scribe without('o', log, machine);
  records::RankSamples samples;
  measure_pairs(with, &without, options, samples);
  return samples;
}

TEST(Pairs, AlternateFromDrainedQueuesWithStepsThatAreNotCounted) {
  std::string log;
  samples_of({.layout = {.pairs = 4, .block_steps = 1}, .barrier = [&] { log += '|'; }}, log);
  EXPECT_EQ(log,
            "od"          // touches the memory
            "|wwmwmdt"    // pair 0
            "oomomomdt"   // pairs 0 and 1
            "|wwmwmwmdt"  // pairs 1 and 2
            "oomomomdt"   // pairs 2 and 3
            "|wwmwmdt");  // pair 3
}

TEST(Pairs, ARankWithoutModelWorkServesTheStepsWithCommunication) {
  std::string log;
  DriftingMachine machine;
  Scribe serving('s', log, machine);
  records::RankSamples samples;
  measure_pairs(serving, nullptr,
                {.layout = {.pairs = 4, .block_steps = 1}, .barrier = [&] { log += '|'; }},
                samples);
  EXPECT_EQ(log, "|ssmsmdt|ssmsmsmdt|ssmsmdt");
  EXPECT_EQ(samples, records::RankSamples{});
}

TEST(Pairs, NumberTheStepsOfBothSides) {
  std::string log;
  const auto samples = samples_of({.layout = {.pairs = 2, .block_steps = 2}}, log);
  EXPECT_EQ(samples.pair_of_step, (std::vector<std::int64_t>{0, 0, 1, 1}));
  // One cold step and two that are not counted come first: the fourth step of the machine is the
  // first sample.  Two lie between the runs.
  EXPECT_EQ(samples.paired_step_ns,
            (std::vector<std::int64_t>{1'030'000, 1'040'000, 1'130'000, 1'140'000}));
  EXPECT_EQ(samples.compute_only_step_ns,
            (std::vector<std::int64_t>{1'070'000, 1'080'000, 1'090'000, 1'100'000}));
}

TEST(Pairs, SyncDrainsAfterEveryStep) {
  std::string log;
  samples_of({.layout = {.pairs = 2, .block_steps = 1}, .sync_each_step = true}, log);
  EXPECT_EQ(log, "odwdwdmwdmdtododmodmodmdtwdwdmwdmdt");
}

TEST(Pairs, TakeAboutAsLongAsTheWindow) {
  EXPECT_EQ(pair_layout(1), (PairLayout{.pairs = 2, .block_steps = 1}));
  EXPECT_EQ(pair_layout(8), (PairLayout{.pairs = 2, .block_steps = 1}));
  EXPECT_EQ(pair_layout(9), (PairLayout{.pairs = 4, .block_steps = 1}));
  EXPECT_EQ(pair_layout(20), (PairLayout{.pairs = 6, .block_steps = 1}));
  EXPECT_EQ(pair_layout(100), (PairLayout{.pairs = 10, .block_steps = 5}));
  EXPECT_EQ(pair_layout(1000), (PairLayout{.pairs = 84, .block_steps = 5}));
  for (const int steps : {1, 8, 9, 10, 20, 50, 100, 1000}) {
    const PairLayout layout = pair_layout(steps);
    std::string log;
    samples_of({.layout = layout}, log);
    EXPECT_EQ(std::ranges::count_if(log, [](char c) { return c == 'w' || c == 'o'; }),
              layout.total_steps())
        << steps;
    EXPECT_GE(layout.total_steps(), steps);
    EXPECT_LE(layout.total_steps(), steps + steps / 5 + 12) << steps;
  }
}

// The machine slows down by 1 % a step.  Where nothing is exposed the pairs say so, and two windows
// one after the other claim that a step without communication takes longer.
TEST(Pairs, DriftIsNoExposedCommunication) {
  constexpr int kSteps = 20;
  std::string log;
  for (const std::int64_t exposed_ns : {0, 250'000}) {
    records::RunRecord record;
    record.ranks.push_back(samples_of({.layout = pair_layout(kSteps)}, log, exposed_ns));
    const std::vector<std::vector<double>> runs{records::exposed_s_by_pair(record)};
    const auto exposed = stats::center_of_pairs(runs);
    const double truth = static_cast<double>(exposed_ns) * 1e-9;
    EXPECT_NEAR(exposed->value, truth, 1e-15);
    ASSERT_TRUE(exposed->interval);
    EXPECT_TRUE(exposed->interval->contains(truth));
  }

  DriftingMachine machine;
  Scribe with('w', log, machine);
  Scribe without('o', log, machine);
  records::RunRecord apart;
  apart.ranks.push_back(measure(with, {.warmup = 5, .steps = kSteps}));
  apart.ranks[0].compute_only_step_ns = measure(without, {.warmup = 2, .steps = kSteps}).step_ns;
  const std::vector<std::vector<double>> first{records::slowest_step_s(apart)};
  const std::vector<std::vector<double>> second{records::slowest_compute_only_step_s(apart)};
  const auto exposed = stats::paired_difference(first, second);
  EXPECT_LT(exposed->interval->high, 0);
}

}  // namespace
}  // namespace paceline::rank
