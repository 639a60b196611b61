// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/step_reader.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/rank/outside_command.h"

namespace paceline::rank {
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

std::string status_of(const records::Configuration& c, const std::vector<std::string>& lines) {
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
    plain.take("{\"event\": \"step\", \"step_ns\": 1" + std::to_string(step) + "}", 0);
    if (step < 2) {
      indexed.take("{\"event\": \"step\", \"index\": " + std::to_string(step) + ", \"step_ns\": 7}",
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
  EXPECT_EQ(status_of(c, {R"({"event": "end", "loss": "three"})"}), "bad-output");
  EXPECT_EQ(status_of(c, {R"({"event": "step", "step_s": 1, "loss": NaN})"}), "not-finite");
  EXPECT_EQ(status_of(c, {R"({"event": "step", "step_s": 1, "loss": -Infinity})"}), "not-finite");
  EXPECT_EQ(status_of(c, {R"({"event": "step", "rank": 2, "step_s": 1})"}), "wrong-count");
  EXPECT_EQ(status_of(c, {R"({"event": "error", "status": "unsupported",)"
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
  const std::vector<std::string> bad(3, "step 1,23.5");
  EXPECT_EQ(status_of(c, bad), "bad-output");
  for (const char* const text : {"234.5", "1,234.5", "1,234,567", "12", ".5"}) {
    EXPECT_EQ(status_of(c, std::vector<std::string>(3, std::string("step ") + text)), "ok") << text;
  }
}

std::string failure_of(const records::Configuration& c, const std::string& line) {
  try {
    StepReader(c, 0).take(line, 0);
  } catch (const OutsideFailure& failure) {
    return failure.what();
  }
  return "";
}

TEST(StepReader, AMatchMustNotStopInsideANumber) {
  records::Configuration c = two_steps();
  c.step_regex = "tps: ([0-9.]+)";
  for (const char* const number : {"12,345", "12,34", "1.5e-3", "7e3"}) {
    const std::string said = failure_of(c, std::string("tps: ") + number + " x");
    EXPECT_NE(said.find(std::string("inside the number '") + number + "'"), std::string::npos)
        << said;
  }
  for (const char* const whole : {"12, 345", "12.", "12e", "12 345"}) {
    EXPECT_EQ(failure_of(c, std::string("tps: ") + whole), "") << whole;
  }
  c.step_regex = "([0-9]+) tokens";
  EXPECT_NE(failure_of(c, "1,234 tokens"), "");
  EXPECT_NE(failure_of(c, "0.25 tokens"), "");
  EXPECT_EQ(failure_of(c, "a,234 tokens"), "");
  c.step_regex = "^[0-9]+,([0-9.]+),";  // a column, as the expression says
  EXPECT_EQ(failure_of(c, "7,345,8"), "");
}

TEST(StepReader, NanIsAFailureOfTheLossAlone) {
  records::Configuration c = two_steps();
  c.step_regex = "v=([0-9.]+|nan)";
  EXPECT_EQ(failure_of(c, "v=1 | number of nan iterations: 0"), "");
  EXPECT_EQ(failure_of(c, "v=1 | grad norm: nan"), "");
  for (const char* const loss : {"lm loss: nan", "loss=-inf", "'loss': nan,", "train_loss nan"}) {
    EXPECT_NE(failure_of(c, std::string("v=1 ") + loss), "") << loss;
  }
  EXPECT_EQ(failure_of(c, "v=1 loss scale: 1.0 nan"), "");
  EXPECT_NE(failure_of(c, "v=nan"), "");
}

TEST(StepReader, AUnitMayTurnOverOnTheWay) {
  records::Configuration c = two_steps();
  c.step_regex = "([0-9.]+)it/s";
  c.step_unit = "steps/s";
  c.ranks = 1;
  StepReader reader(c, 0);
  for (const char* const line : {"2.5it/s", "1.25s/it", "2.00s/it", "3 s/it"}) {
    reader.take(line, 0);
  }
  EXPECT_EQ(reader.samples()[0].step_ns, (std::vector<std::int64_t>{1'250'000'000, 2'000'000'000}));
  EXPECT_TRUE(reader.remark_of_units()->seen.find("in 2 lines") != std::string::npos);
  c.step_regex = "([0-9.]+) s/step";
  c.step_unit = "";
  StepReader timed(c, 0);
  for (const char* const line : {"1.5 s/step", "2 s/step", "4.0 step/s"}) {
    timed.take(line, 0);
  }
  EXPECT_EQ(timed.samples()[0].step_ns, (std::vector<std::int64_t>{2'000'000'000, 250'000'000}));
  c.step_regex = "took ([0-9.]+)";
  EXPECT_FALSE(StepReader(c, 0).remark_of_units().has_value());
}

TEST(StepReader, ALogThatIsPrintedIsNotHeldAgainstTheClock) {
  records::Configuration c = two_steps();
  c.step_regex = "v=([0-9.]+)";
  for (const auto& [command, is_log] :
       std::to_array<std::pair<const char*, bool>>({{"cat train.log", true},
                                                    {" zcat a.gz b.gz", true},
                                                    {"gzip -dc a.gz", true},
                                                    {"cat hosts; python train.py", false},
                                                    {"cat a | python train.py", false},
                                                    {"python cat.py", false}})) {
    c.command = command;
    StepReader reader(c, 0);
    for (int i = 0; i < 3; ++i) {
      reader.take("v=127", 1000 + i);
    }
    if (is_log) {
      EXPECT_EQ(reader.remark_of_clock(0)->code, "times-of-a-log") << command;
    } else {
      EXPECT_THROW(reader.remark_of_clock(0), OutsideFailure) << command;
    }
  }
}

TEST(StepReader, TheReadersOfThePackageKnowTheirLines) {
  records::Configuration c = two_steps();
  c.warmup = 0;
  LiveReader live("megatron");
  StepReader reader(c, 0, &live);
  const auto line = [](int number, const char* more) {
    return fmt::format(
        " iteration {}/ 500 | elapsed time per iteration (ms): {} | global batch size: {} | number "
        "of nan iterations: 0 |",
        number, 100 + number, more);
  };
  reader.take("hello", 0);
  reader.take(line(1, "16"), 0);
  reader.take(line(2, "16"), 0);
  EXPECT_EQ(reader.samples()[0].step_ns, (std::vector<std::int64_t>{101'000'000, 102'000'000}));
  EXPECT_EQ(reader.adapter().at("reader"), "megatron");
  EXPECT_THROW(reader.take(line(3, "32"), 0), OutsideFailure) << "other samples";
  EXPECT_THROW(reader.take(line(9, "16"), 0), OutsideFailure) << "six steps";
}

TEST(StepReader, TheWindowIsNotShorterThanItsSteps) {
  const records::Configuration c = two_steps();
  const auto with_window = [&c](const std::string& window_ns) {
    std::vector<std::string> lines(3, R"({"event": "step", "step_ns": 1000000})");
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

TEST(StepReader, TheEndMaySayWhatCrossedAndStepsInTurn) {
  const records::Configuration c = two_steps();
  const auto end = [](const std::string& alone) {
    return R"({"event": "end", "wire": {"measured_bytes_per_step": 8,)"
           R"( "planned_bytes_per_step": null, "calls_per_step": 2,)"
           R"( "bytes_by_pattern": {"all-reduce": 8}}, "in_turn":)"
           R"( {"paired_step_ns": [5, 6], "pair_of_step": [0, 1],)"
           R"( "compute_only_step_ns": )" +
           alone + "}}";
  };
  StepReader reader(c, 0);
  for (int step = 0; step < 3; ++step) {
    reader.take(R"({"event": "step", "step_ns": 7})", 0);
  }
  reader.take(end("[3, 4]"), 0);
  EXPECT_EQ(reader.wire(), (records::WireBytes{.measured_per_step = 8,
                                               .planned_per_step = std::nullopt,
                                               .by_pattern = {{"all-reduce", 8}},
                                               .calls_per_step = 2}));
  const records::RankSamples samples = reader.samples()[0];
  EXPECT_EQ(samples.paired_step_ns, (std::vector<std::int64_t>{5, 6}));
  EXPECT_EQ(samples.compute_only_step_ns, (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(samples.pair_of_step, (std::vector<std::int64_t>{0, 1}));
  EXPECT_THROW(reader.take(end("[3]"), 0), OutsideFailure);
}

TEST(StepReader, UnitsOfARegularExpression) {
  records::Configuration c = two_steps();
  c.step_regex = "v=([-0-9.,e]+)";
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
  EXPECT_EQ(read("samples/s", "", "1,600"), 10'000'000);
  c.sequence_length = 100;
  EXPECT_EQ(read("tokens/s", "", "6400"), 250'000'000);
  EXPECT_EQ(read("tokens/s", "device", "3.2e3"), 250'000'000);
  c.tokens_per_sample = 50;
  EXPECT_EQ(read("tokens/s", "", "6400"), 125'000'000);
  c.tokens_per_sample = 0;
  c.ranks = 4;
  c.ranks_per_host = {2, 2};
  EXPECT_EQ(read("samples/s", "node", "64"), 250'000'000);
  EXPECT_EQ(status_of(c, {"v=1e400"}), "bad-output");
  EXPECT_EQ(status_of(c, {"v=1 loss=nan"}), "not-finite");
  EXPECT_EQ(status_of(c, {"v=1 for Fernando"}), "ok");
}

TEST(StepReader, AnotherCaseIsAContradiction) {
  records::Configuration c = two_steps();
  c.model = "lenet";
  const auto status = [&c](const std::string& keys) {
    const std::string event = R"({"event": "environment", )" + keys + "}";
    try {
      StepReader reader(c, 0);
      reader.take(event, 0);
    } catch (const OutsideFailure& failure) {
      return failure.status();
    }
    return std::string("ok");
  };
  EXPECT_EQ(status(R"("world": 2, "model": "lenet", "batch_size": 8)"), "ok");
  EXPECT_EQ(status(R"("steps": 2, "warmup": 1)"), "ok");
  EXPECT_EQ(status(R"("steps": 3)"), "ok") << "with those of the warm-up";
  EXPECT_EQ(status(R"("world": null, "model": null)"), "ok");
  EXPECT_EQ(status(R"("case": {"steps": 2, "batch_size": 8})"), "ok");
  EXPECT_EQ(status(R"("world": 1)"), kContradiction);
  EXPECT_EQ(status(R"("model": "resnet50")"), kContradiction);
  EXPECT_EQ(status(R"("batch_size": 16)"), kContradiction);
  EXPECT_EQ(status(R"("steps": 4)"), kContradiction);
  EXPECT_EQ(status(R"("case": {"steps": 3})"), kContradiction);
  EXPECT_EQ(status(R"("case": {"dtype": "bf16"})"), kContradiction);
  c.model = "command";
  EXPECT_EQ(status(R"("optimizer": "adamw")"), kContradiction);
  EXPECT_EQ(status(R"("accumulate": 2)"), kContradiction);
  c.unstated = {"dtype", "optimizer", "accumulate"};
  EXPECT_EQ(status(R"("model": "resnet50", "dtype": "bf16")"), "ok");
  EXPECT_EQ(status(R"("optimizer": "adamw", "accumulate": 2)"), "ok");
}

TEST(StepReader, LinesOfSeveralStepsAreCountedInSteps) {
  records::Configuration c = two_steps();
  c.step_regex = "took ([0-9]+)";
  c.step_unit = "us";
  c.steps_per_line = 5;
  c.warmup = 5;
  c.steps = 10;
  StepReader reader(c, 0);
  for (int line = 1; line <= 4; ++line) {
    reader.take("took " + std::to_string(line), line);
    EXPECT_EQ(reader.done(), 5 * line);
  }
  EXPECT_EQ(reader.samples()[0].step_ns, (std::vector<std::int64_t>{2000, 3000}));
  EXPECT_EQ(reader.samples()[0].window_ns, 5000);
  EXPECT_TRUE(reader.surplus()->seen.starts_with("5 steps came after the 10"));
  c.step_regex = "took";
  StepReader timed(c, 0);
  for (const std::int64_t now : {100, 150, 250}) {
    timed.take("took", now);
  }
  EXPECT_EQ(timed.samples()[0].step_ns, (std::vector<std::int64_t>{10, 20}));
}

TEST(StepReader, APrefixNamesTheRank) {
  records::Configuration c = two_steps();
  c.launcher = "command";
  c.step_regex = "^took ([0-9]+)";
  c.warmup = 0;
  c.steps = 1;
  StepReader reader(c, 0);
  reader.take("[default0]:took 1", 0);
  reader.take("[default1]:took 2", 0);
  const auto ranks = reader.samples();
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks[1].step_ns[0], 2'000'000'000);
  // A number and a colon may be the script's own.
  StepReader plain(c, 0);
  plain.take("7: took 1", 0);
  EXPECT_EQ(plain.samples().size(), 1U);
  c.step_regex = R"(\[default0\]:took ([0-9]+))";
  StepReader whole(c, 0);
  whole.take("[default0]:took 1", 0);
  EXPECT_EQ(whole.samples().size(), 1U);
  c.launcher = "ranks";  // which is known, whatever is started within it
  StepReader second(c, 1);
  second.take("[default0]:took 1", 0);
  EXPECT_EQ(second.samples()[0].rank, 1);
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
  EXPECT_EQ(filled_in("{ranks} {batch} {global_batch} {total} {port} ${ranks} {other} {", c, {}),
            "2 8 16 3 PORT ${ranks} {other} {");
  c.optimizer = "adamw";
  c.learning_rate = 0.1;
  c.channels_last = true;
  EXPECT_EQ(filled_in("{optimizer} {learning_rate} {channels_last} {python} {batch_size} "
                      "{accumulate} {image_size} {dtype}",
                      c, {}),
            "adamw 0.1 true python3 8 1 0 fp32");
  c.python = "/opt/python";
  EXPECT_EQ(filled_in("{python}", c, {}), "/opt/python");
}

TEST(OutsideCommand, IsNotToldWhatTheCaseDoesNotKnow) {
  records::Configuration c = two_steps();
  c.launcher = "ranks";
  const auto handed = [&c] {
    return nlohmann::json::parse(outside_command(c, {}).environment.at("PACELINE_CASE"));
  };
  EXPECT_EQ(handed().at("dtype"), "fp32");
  EXPECT_EQ(handed().at("batch_size"), 8);
  EXPECT_EQ(handed().at("channels_last"), false);
  c.unstated = {"dtype", "warmup_steps", "bucket_mib"};
  EXPECT_FALSE(handed().contains("dtype"));
  EXPECT_FALSE(handed().contains("warmup"));
  EXPECT_FALSE(handed().contains("bucket_mb"));
}

}  // namespace
}  // namespace paceline::rank
