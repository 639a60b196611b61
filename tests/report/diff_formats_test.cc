// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/diff_formats.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/report/diff.h"
#include "paceline/report/layouts.h"
#include "records/foreign_file.h"
#include "report/fixed_diff.h"

namespace paceline::report {
namespace {

using records::RunRecord;

// The sentences of PyTorch's diff.py for two reports, character by character.
TEST(DiffFormats, DdpIsTheOriginalsToTheCharacter) {
  const auto report = [](const std::string& bucket, const std::string& times) {
    return records::read_as("report.json",
                            R"({"pytorch_version": "1.4.0", "cuda_version": null,)"
                            R"("distributed_backend": "nccl", "bucket_size": )" +
                                bucket +
                                R"(, "benchmark_results": [{"model": "resnet50", "batch_size": 32,)"
                                R"("result": [{"ranks": [0], "measurements": [0.1]},)"
                                R"({"ranks": [0, 1], "measurements": )" +
                                times + "}]}]}");
  };
  const auto base = report("25", "[0.1, 0.2, 0.3, 0.4]");
  const auto test = report("1", "[0.1, 0.1, 0.2, 0.2]");
  EXPECT_EQ(render_diff_ddp(diff_records(base, test)),
            "                                 baseline                      test\n"
            "                     --------------------      "
            "--------------------\n"
            "bucket_size:                           25  vs                  "
            "   1\n"
            "cuda_version:                        None  vs                  "
            "None\n"
            "distributed_backend:                 nccl  vs                  "
            "nccl\n"
            "pytorch_version:                    1.4.0  vs                 "
            "1.4.0\n"
            "\n"
            "Benchmark: resnet50 with batch size 32\n"
            "\n"
            "                  sec/iter    ex/sec      diff        sec/iter  "
            "  ex/sec      diff\n"
            "   2 GPUs:  p75:    0.200s     160/s    +38.5%  p95:    0.200s   "
            "  160/s    +48.1%\n"
            "\n");
}

// What the original prints of a report, character by character.
std::vector<RunRecord> report_of(const std::string& facts, const std::string& models) {
  return records::read_as("r.json", "{" + facts + R"("benchmark_results": [)" + models + "]}");
}

std::string model_of(const std::string& name, const std::string& results) {
  return R"({"model": ")" + name + R"(", "batch_size": 32, "result": [)" +
         R"({"ranks": [0], "measurements": [0.1]})" + results + "]}";
}

TEST(DiffFormats, DdpKeepsForeignKeysAndPrintsWhatIsMissing) {
  const std::string one = model_of("m", R"(, {"ranks": [0], "measurements": [0.1]})");
  const auto base = report_of(R"("cuda_version": null, "node": "a", )", one);
  const auto test = report_of(R"("tags": ["x"], "bucket_size": 1, )", one);
  const std::string text = render_diff_ddp(diff_records(base, test));
  const auto line = [](const char* key, const char* before, const char* after) {
    return fmt::format("{:20} {:>20}  vs  {:>20}\n", std::string(key) + ":", before, after);
  };
  const std::string all = line("bucket_size", "-", "1") + line("cuda_version", "None", "-") +
                          line("node", "a", "-") + line("tags", "-", "['x']") + "\nBenchmark: m";
  EXPECT_NE(text.find(all), std::string::npos) << text;
}

TEST(DiffFormats, DdpPairsByPositionAsTheOriginal) {
  const std::string one = R"(, {"ranks": [0], "measurements": [0.1]})";
  const std::string two = R"(, {"ranks": [0, 1], "measurements": [0.2, 0.2]})";
  const auto base = report_of(
      "", model_of("a", one + two) + "," + model_of("b", one) + "," + model_of("c", one + two));
  const auto test = report_of("", model_of("a", two + two) + "," + model_of("c", one));
  const std::string text = render_diff_ddp(diff_records(base, test));
  EXPECT_EQ(text.substr(text.find("Benchmark")),
            "Benchmark: a with batch size 32\n\n"
            "                  sec/iter    ex/sec      diff        sec/iter  "
            "  ex/sec      diff\n"
            "   2 GPUs:  p75:    0.200s     160/s     -0.0%  p95:    0.200s   "
            "  160/s     -0.0%\n\n")
      << "the first rows have other ranks, the second models differ";
}

TEST(DiffFormats, AReportOfOursIsComparedWithItsRecords) {
  const std::vector<RunRecord> records = fixed_records();
  const auto imported = records::read_as("report.json", ddp_reports(records)[0]["report"].dump());
  const Diff diff = diff_records(imported, records);
  EXPECT_EQ(diff.rows.size(), 6u);
  for (const DiffRow& row : diff.rows) {
    EXPECT_NEAR(row.change->value, 0, 1e-9) << row.label;
    ASSERT_EQ(row.cases.differences.size(), 1u);
    EXPECT_EQ(row.cases.differences[0].name, "source");
  }
  ASSERT_EQ(diff.only_test.size(), 1u);
  EXPECT_EQ(diff.only_test[0].configuration().label, "1M/8G");
}

TEST(DiffFormats, IntervalsSayWhatTheySpeakOf) {
  const auto table = [](const Sides& sides) {
    return render_diff("table", diff_records(sides.base, sides.test));
  };
  const auto has = [](const std::string& text, const char* words) {
    return text.find(words) != std::string::npos;
  };
  Sides sides = repeated(4, 1.05);
  EXPECT_FALSE(has(table(sides), "*"));
  sides.base.resize(1);
  const std::string mixed = table(sides);
  EXPECT_TRUE(has(mixed, "over runs; where a * follows, of fewer than 3 runs")) << mixed;
  EXPECT_FALSE(has(mixed, "over pairs")) << mixed;
  EXPECT_TRUE(has(mixed, "]*"));
  sides.test.resize(1);
  const std::string one_run = table(sides);
  EXPECT_TRUE(has(one_run, "interval from the steps inside the runs"));
  EXPECT_FALSE(has(one_run, "interval over runs")) << one_run;
  EXPECT_FALSE(has(one_run, "*"));
}

TEST(DiffFormats, UnknownNameListsTheKnown) {
  try {
    render_diff("tabel", diff_records({}, {}));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              "--format: unknown format 'tabel'; did you mean 'table'? Known: table, json, csv, "
              "markdown");
  }
}

TEST(DiffFormats, ControlCharactersDoNotReachTheTerminal) {
  Sides sides = repeated(2, 1);
  for (auto* side : {&sides.base, &sides.test}) {
    for (RunRecord& r : *side) {
      r.configuration.label = "\x1b[2Jgone";
    }
  }
  sides.test[0].environment.torch_git = "\x1b]0;x\x07";
  const Diff diff = diff_records(sides.base, sides.test);
  for (const char* name : {"table", "markdown"}) {
    EXPECT_EQ(render_diff(name, diff).find('\x1b'), std::string::npos);
  }
}

TEST(DiffFormats, MissingIsNullNeverZero) {
  Sides sides = repeated(2, 1);
  sides.test[0].ranks.clear();
  sides.test[1].ranks.clear();
  const auto diff =
      nlohmann::json::parse(render_diff("json", diff_records(sides.base, sides.test)));
  const auto& row = diff["cases"][0];
  for (const char* key : {"test_step_median_s", "change", "change_low", "p", "corrected_p"}) {
    EXPECT_TRUE(row[key].is_null()) << key;
  }
  EXPECT_TRUE(diff["runs_for_power"].is_null());
}

}  // namespace
}  // namespace paceline::report
