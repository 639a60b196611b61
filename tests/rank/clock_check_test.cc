// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/clock_check.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/rank/step_reader.h"

namespace paceline::rank {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kBegan = 7'000 * kMs;
constexpr int kLines = 25;  // five of the warm-up

records::Configuration four_ranks(const std::string& unit = "", const std::string& scope = "") {
  records::Configuration c;
  c.command = "train";
  c.launcher = "command";
  c.ranks = 4;
  c.batch_size = 32;
  c.warmup = 5;
  c.steps = 20;
  if (!unit.empty()) {
    c.step_regex = "v=([0-9.e-]+)";
    c.step_unit = unit;
    c.rate_scope = scope;
  }
  return c;
}

using Arrival = std::function<std::int64_t(int line)>;

// A second after the start of the program, and then every 50 ms.
std::int64_t steadily(int line) { return kBegan + 1000 * kMs + (line + 1) * 50 * kMs; }

// What is said of a program that writes `line` again and again.
std::string said(const records::Configuration& c, const std::string& line,
                 const Arrival& arrival = steadily) {
  StepReader reader(c, 0);
  for (int i = 0; i < kLines; ++i) {
    reader.take(line, arrival(i));
  }
  try {
    const auto remark = reader.remark_of_clock(kBegan);
    return remark ? remark->code + ": " + remark->seen : "";
  } catch (const OutsideFailure& failure) {
    EXPECT_EQ(failure.status(), kContradiction);
    return failure.what();
  }
}

std::string json_step(double seconds) {
  return fmt::format(R"({{"event": "step", "step_s": {}}})", seconds);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ClockCheck, TimesThatFitSayNothing) {
  EXPECT_EQ(said(four_ranks(), json_step(0.05)), "");
  EXPECT_EQ(said(four_ranks(), json_step(0.047)), "");
  EXPECT_EQ(said(four_ranks("ms"), "v=50.0"), "");
  EXPECT_EQ(said(four_ranks("steps/s"), "v=20.0"), "");
  EXPECT_EQ(said(four_ranks("samples/s"), "v=2560"), "");
  EXPECT_EQ(said(four_ranks("samples/s", "device"), "v=640"), "");
}

TEST(ClockCheck, AWrongScopeIsAnErrorThatSaysTheRightOne) {
  EXPECT_EQ(said(four_ranks("samples/s"), "v=640"),
            "a step took 200 ms by its own words, but 50 ms by the clock (2560 examples/s by the "
            "clock, 640 by its words); the numbers would fit with --rate-scope device");
  EXPECT_EQ(said(four_ranks("samples/s", "device"), "v=2560"),
            "a step took 12.5 ms by its own words, but 50 ms by the clock (2560 examples/s by the "
            "clock, 1.024e+04 by its words); the numbers would fit with --rate-scope global");
}

TEST(ClockCheck, AWrongUnitIsAnErrorThatSaysTheRightOne) {
  EXPECT_TRUE(has(said(four_ranks("s"), "v=50.0"), "fit with --step-unit ms"));
  EXPECT_TRUE(has(said(four_ranks("us"), "v=50.0"), "fit with --step-unit ms"));
  EXPECT_TRUE(has(said(four_ranks("samples/s"), "v=20.0"), "with --step-unit steps/s"));
  EXPECT_TRUE(has(said(four_ranks(), json_step(50)), "fit as milliseconds"));
}

TEST(ClockCheck, ATimeMayBeARate) {
  EXPECT_TRUE(has(said(four_ranks("s"), "v=19.8"), "fit with --step-unit steps/s"));
  EXPECT_TRUE(
      has(said(four_ranks("ms"), "v=2560"), "fit with --step-unit samples/s --rate-scope global"));
  EXPECT_TRUE(has(said(four_ranks("steps/s"), "v=0.05"), "--step-unit s"));
  EXPECT_TRUE(has(said(four_ranks(), json_step(20)), "as steps per second"));
}

TEST(ClockCheck, AnEventSaysWhichUnitItHas) {
  const auto event = [](const char* number) {
    return fmt::format(R"({{"event": "step", "step_ns": {}}})", number);
  };
  EXPECT_TRUE(has(said(four_ranks(), event("50000")),
                  "fit as microseconds, and step_ns is in nanoseconds"));
  EXPECT_TRUE(has(said(four_ranks(), event("50")), "fit as milliseconds"));
  EXPECT_TRUE(
      has(said(four_ranks(), json_step(50)), "fit as milliseconds, and step_s is in seconds"));
  EXPECT_TRUE(has(said(four_ranks(), json_step(50000)), "fit as microseconds"));
}

TEST(ClockCheck, LinesOfAllRanksAreNotThoseOfOne) {
  const auto all_at_once = [](int line) { return steadily(line / 4) + line % 4; };
  const auto by_turns = [](int line) { return kBegan + 100 * kMs + (line + 1) * 50 * kMs / 4; };
  EXPECT_TRUE(
      has(said(four_ranks("ms"), "v=50.0", by_turns), "the lines of all 4 ranks would be so many"));
  EXPECT_EQ(said(four_ranks("ms"), "v=50.0", all_at_once), "");
}

// Loading data is no part of a step that a script times.
TEST(ClockCheck, WhatIsNotTimedIsARemark) {
  EXPECT_TRUE(
      said(four_ranks(), json_step(0.025))
          .starts_with(
              "times-leave-out: a step took 25 ms by its own words, but 50 ms by the clock"));
  EXPECT_TRUE(said(four_ranks("ms"), "v=35.0").starts_with("times-leave-out"));
  EXPECT_TRUE(has(said(four_ranks("ms"), "v=5.0"), "the group out"))
      << "a tenth is none of the loop";
}

TEST(ClockCheck, APauseBetweenStepsIsNone) {
  const auto paused = [](int line) { return steadily(line) + (line > 15 ? 5000 * kMs : 0); };
  EXPECT_EQ(said(four_ranks(), json_step(0.05), paused), "");
}

TEST(ClockCheck, LateLinesAreNoContradiction) {
  // All at the end, in blocks, and as a launcher that looks ten times a second.
  EXPECT_EQ(said(four_ranks(), json_step(0.05), [](int) { return steadily(kLines - 1); }), "");
  EXPECT_EQ(said(four_ranks(), json_step(0.05),
                 [](int line) { return steadily(line < 15 ? 14 : kLines - 1) + line; }),
            "");
  EXPECT_EQ(said(four_ranks(), json_step(0.05),
                 [](int line) { return (steadily(line) / (100 * kMs) + 1) * 100 * kMs; }),
            "");
  EXPECT_EQ(said(four_ranks(), json_step(0.13),
                 [](int line) {
                   const std::int64_t ended = kBegan + (line + 1) * 130 * kMs;
                   return (ended / (100 * kMs) + 1) * 100 * kMs;
                 }),
            "");
  // The last line of the warm-up was late.
  EXPECT_EQ(said(four_ranks(), json_step(0.05),
                 [](int line) { return steadily(line) + (line == 4 ? 49 * kMs : 0); }),
            "");
}

TEST(ClockCheck, StepsDoNotTakeLongerThanTheRun) {
  const auto at_end = [](int) { return steadily(kLines - 1); };
  EXPECT_EQ(said(four_ranks(), json_step(0.09), at_end), "")
      << "the start of the program is not known to be without steps";
  EXPECT_TRUE(
      said(four_ranks(), json_step(0.1), at_end)
          .starts_with(
              "its 25 steps took 2.5 s by its own words, but it ran for 2.25 s until then; "));
  EXPECT_TRUE(has(said(four_ranks("s"), "v=50", at_end), "--step-unit ms"));
}

// Half a unit of the last digit is not known: 0.1 may be 0.0501.
TEST(ClockCheck, RoundedNumbersAreARemark) {
  EXPECT_TRUE(said(four_ranks("s"), "v=0.1").starts_with("times-rounded"));
  EXPECT_TRUE(has(said(four_ranks("s"), "v=0.10"), "by the clock"));
  EXPECT_FALSE(said(four_ranks("s"), "v=0.10").starts_with("times-rounded"));
  EXPECT_EQ(half_unit_of("12.3"), 0.05);
  EXPECT_EQ(half_unit_of("7"), 0.5);
  EXPECT_EQ(half_unit_of("1.2e3"), 50);
  EXPECT_EQ(half_unit_of("1.2E-1"), 0.005);
}

TEST(ClockCheck, ALineMayStandForSeveralSteps) {
  records::Configuration c = four_ranks("ms");
  c.steps_per_line = 5;
  c.steps = 100;
  EXPECT_EQ(said(c, "v=10.0"), "");
  EXPECT_TRUE(has(said(c, "v=50.0"), "as that of all 5 steps of its line"));
}

// An adapter writes its steps after the window.
std::string of_adapter(double share, int alive_after) {
  const records::Configuration c = four_ranks();
  StepReader reader(c, 0);
  reader.take(R"({"event": "environment", "framework": "x"})", kBegan);
  std::int64_t now = kBegan + 500 * kMs;
  for (int step = 1; step <= c.warmup + c.steps; ++step) {
    now += 50 * kMs;
    if (step == alive_after) {
      reader.take(fmt::format(R"({{"event": "alive", "step": {}}})", step), now);
    }
  }
  for (int index = 0; index < c.steps; ++index) {
    reader.take(fmt::format(R"({{"event": "step", "index": {}, "step_ns": {}}})", index,
                            static_cast<std::int64_t>(share * 50 * kMs)),
                now);
  }
  try {
    reader.remark_of_clock(kBegan);
  } catch (const OutsideFailure& failure) {
    return failure.what();
  }
  return "";
}

TEST(ClockCheck, AnAdapterLeavesNothingOut) {
  EXPECT_EQ(of_adapter(1, 5), "");
  EXPECT_EQ(of_adapter(0.5, 5),
            "a step took 25 ms by its own words, but 50 ms by the clock (2560 examples/s by the "
            "clock, 5120 by its words); the steps of an adapter leave nothing of the loop out: "
            "each ends where the next one begins (docs/adapters.md)");
  EXPECT_TRUE(has(of_adapter(0.5, 10), "by the clock"));
  EXPECT_TRUE(has(of_adapter(2, 5), "by the clock"));
  EXPECT_EQ(of_adapter(0.5, 1), "") << "steps of the warm-up may be long";
}

}  // namespace
}  // namespace paceline::rank
