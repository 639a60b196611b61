// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/step_reader.h"

#include <gtest/gtest.h>

#include "paceline/measure/outside_command.h"

namespace paceline::measure {
namespace {

records::Configuration two_steps() {
  records::Configuration c;
  c.command = "train";
  c.ranks = 2;
  c.batch_size = 8;
  c.warmup = 1;
  c.steps = 2;
  return c;
}

std::string status_of(const records::Configuration& c,
                      const std::vector<std::string>& lines) {
  StepReader reader(c, 0);
  try {
    for (const std::string& line : lines) {
      reader.take(line, 0);
    }
    reader.samples();
  } catch (const OutsideFailure& failure) {
    return failure.status();
  }
  return "ok";
}

TEST(StepReader, DropsTheWarmUpUnlessStepsHaveAnIndex) {
  const records::Configuration c = two_steps();
  StepReader plain(c, 0);
  StepReader indexed(c, 1);
  for (int step = 0; step < 3; ++step) {
    plain.take(
        "{\"event\": \"step\", \"step_ns\": 1" + std::to_string(step) + "}", 0);
    if (step < 2) {
      indexed.take("{\"event\": \"step\", \"index\": " + std::to_string(step) +
                       ", \"step_ns\": 7}",
                   0);
    }
  }
  EXPECT_EQ(plain.samples()[0].step_ns, (std::vector<std::int64_t>{11, 12}));
  EXPECT_EQ(indexed.samples()[0].rank, 1);
  EXPECT_EQ(indexed.samples()[0].step_ns, (std::vector<std::int64_t>{7, 7}));
  EXPECT_EQ(indexed.samples()[0].window_ns, 14);
}

TEST(StepReader, SeveralEventsMayStandInOneLine) {
  const records::Configuration c = two_steps();
  const std::string step = R"({"event": "step", "step_s": 1})";
  EXPECT_EQ(status_of(c, {step + step, "", step}), "ok");
}

TEST(StepReader, TellsWhatIsWrong) {
  const records::Configuration c = two_steps();
  const std::string step = R"({"event": "step", "step_s": 1})";
  EXPECT_EQ(status_of(c, {step, "hello", "{", step, step}), "ok");
  EXPECT_EQ(status_of(c, {"hello"}), "no-samples");
  EXPECT_EQ(status_of(c, {step, step}), "wrong-count");
  EXPECT_EQ(status_of(c, {R"({"event": "step", "step_s": 0})"}), "bad-output");
  EXPECT_EQ(status_of(c, {R"({"event": "step"})"}), "bad-output");
  EXPECT_EQ(status_of(c, {R"({"event": "step", "step_s")"}), "bad-output");
  EXPECT_EQ(status_of(c, {R"({"event": "end", "loss": "three"})"}),
            "bad-output");
  EXPECT_EQ(status_of(c, {R"({"event": "step", "step_s": 1, "loss": NaN})"}),
            "not-finite");
  EXPECT_EQ(
      status_of(c, {R"({"event": "step", "step_s": 1, "loss": -Infinity})"}),
      "not-finite");
  EXPECT_EQ(status_of(c, {R"({"event": "step", "rank": 2, "step_s": 1})"}),
            "wrong-count");
  EXPECT_EQ(status_of(c,
                      {R"({"event": "error", "status": "unsupported",)"
                       R"( "message": "no"})"}),
            "unsupported");
  records::Configuration three = c;
  three.ranks = 3;
  std::vector<std::string> lines;
  for (int i = 0; i < 3; ++i) {
    lines.push_back(R"({"event": "step", "rank": 0, "step_s": 1})");
    lines.push_back(R"({"event": "step", "rank": 2, "step_s": 1})");
  }
  EXPECT_EQ(status_of(three, lines), "wrong-count") << "a rank is missing";
}

// A number of which only the beginning is one would be another number.
TEST(StepReader, TheWholeMatchMustBeANumber) {
  records::Configuration c = two_steps();
  c.step_regex = "step ([0-9.,]+)";
  const std::vector<std::string> good(3, "step 234.5");
  const std::vector<std::string> bad(3, "step 1,234.5");
  EXPECT_EQ(status_of(c, good), "ok");
  EXPECT_EQ(status_of(c, bad), "bad-output");
}

TEST(StepReader, TheWindowIsNotShorterThanItsSteps) {
  const records::Configuration c = two_steps();
  const auto with_window = [&c](const std::string& window_ns) {
    std::vector<std::string> lines(3,
                                   R"({"event": "step", "step_ns": 1000000})");
    lines.push_back(R"({"event": "end", "window_ns": )" + window_ns + "}");
    return status_of(c, lines);
  };
  EXPECT_EQ(with_window("2100000"), "ok");
  EXPECT_EQ(with_window("1980000"), "ok");
  EXPECT_EQ(with_window("1979999"), "bad-output");
  EXPECT_EQ(with_window("1000"), "bad-output");
  EXPECT_EQ(with_window("0"), "bad-output");
  EXPECT_EQ(with_window("-5"), "bad-output");
}

TEST(StepReader, UnitsOfARegularExpression) {
  records::Configuration c = two_steps();
  c.step_regex = "v=([-0-9.e]+)";
  c.warmup = 0;
  c.steps = 1;
  const auto read = [&c](const char* unit, const char* scope, const char* v) {
    c.step_unit = unit;
    c.rate_scope = scope;
    StepReader reader(c, 0);
    reader.take(std::string("v=") + v, 0);
    return reader.samples()[0].step_ns[0];
  };
  EXPECT_EQ(read("", "", "0.25"), 250'000'000);
  EXPECT_EQ(read("ms", "", "0.25"), 250'000);
  EXPECT_EQ(read("us", "", "0.25"), 250);
  EXPECT_EQ(read("ns", "", "250"), 250);
  EXPECT_EQ(read("steps/s", "", "4"), 250'000'000);
  EXPECT_EQ(read("samples/s", "", "64"), 250'000'000);
  EXPECT_EQ(read("samples/s", "node", "64"), 250'000'000);
  EXPECT_EQ(read("samples/s", "device", "32"), 250'000'000);
  c.ranks = 4;
  c.ranks_per_host = {2, 2};
  EXPECT_EQ(read("samples/s", "node", "64"), 250'000'000);
  EXPECT_EQ(status_of(c, {"v=1e400"}), "bad-output");
  EXPECT_EQ(status_of(c, {"v=1 loss=nan"}), "not-finite");
  EXPECT_EQ(status_of(c, {"v=1 for Fernando"}), "ok");
}

TEST(StepReader, TimesOfLinesWhereThereIsNoGroup) {
  records::Configuration c = two_steps();
  c.step_regex = "done";
  StepReader warmed(c, 0);  // a line a step: one of the warm-up, two more
  for (const std::int64_t now : {1000, 1010, 1030}) {
    warmed.take("step done", now);
  }
  EXPECT_EQ(warmed.samples()[0].step_ns, (std::vector<std::int64_t>{10, 20}));
  c.warmup = 0;  // when the first step began is not known
  StepReader cold(c, 0);
  for (const std::int64_t now : {1000, 1010, 1030}) {
    cold.take("step done", now);
  }
  EXPECT_EQ(cold.samples()[0].step_ns, (std::vector<std::int64_t>{10, 20}));
}

TEST(OutsideCommand, FillsInWhatItKnows) {
  records::Configuration c = two_steps();
  EXPECT_EQ(filled_in("{ranks} {batch} {global_batch} {total} {port} ${ranks} "
                      "{other} {",
                      c,
                      {}),
            "2 8 16 3 PORT ${ranks} {other} {");
}

}  // namespace
}  // namespace paceline::measure
