// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/records/importers.h"
#include "paceline/records/json.h"
#include "records/sample_record.h"

namespace paceline::records {
namespace {

// A report with `results` of one model.
std::string report(const std::string& results) {
  return "{\n"
         "  \"pytorch_version\": \"1.4.0\",\n"
         "  \"cuda_version\": \"10.0\",\n"
         "  \"distributed_backend\": \"nccl\",\n"
         "  \"bucket_size\": 25,\n"
         "  \"benchmark_results\": [\n"
         "    {\"model\": \"resnet50\", \"batch_size\": 32, \"result\": [\n" +
         results + "\n]}]}";
}

const char* const kTwoRows =
    R"({"ranks": [0], "measurements": [0.1, 0.2]},
{"ranks": [0, 1], "measurements": [0.3, 0.4, 0.5, 0.6]})";

std::string refusal_of(const std::string& text) {
  try {
    import_ddp(text, "r.json");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ImportDdp, ReadsEveryKey) {
  const auto records = import_ddp(report(kTwoRows), "r.json");
  ASSERT_EQ(records.size(), 2u);
  const RunRecord& plain = records[0];
  EXPECT_EQ(plain.source, Source::kImported);
  EXPECT_EQ(plain.environment.torch_version, "1.4.0");
  EXPECT_EQ(plain.environment.cuda_version, "10.0");
  EXPECT_EQ(plain.configuration.engine, "nccl");
  EXPECT_EQ(plain.configuration.bucket_mb, 25);
  EXPECT_EQ(plain.configuration.model, "resnet50");
  EXPECT_EQ(plain.configuration.batch_size, 32);
  EXPECT_EQ(plain.configuration.strategy, "none");
  EXPECT_EQ(plain.started_at, "");
  const RunRecord& two = records[1];
  EXPECT_EQ(two.configuration.strategy, "ddp");
  EXPECT_EQ(two.configuration.ranks, 2);
  EXPECT_EQ(two.configuration.steps, 2);
  ASSERT_EQ(two.ranks.size(), 2u);
  EXPECT_EQ(two.ranks[0].step_ns,
            (std::vector<std::int64_t>{300'000'000, 400'000'000}));
  EXPECT_EQ(two.ranks[1].step_ns,
            (std::vector<std::int64_t>{500'000'000, 600'000'000}));
  EXPECT_EQ(two.ranks[1].rank, 1);
}

TEST(ImportDdp, KeepsEveryKeyAboveTheResultsAsPythonPrintsIt) {
  const auto records = import_ddp(
      R"({"cuda_version": null, "note": "a b", "hosts": ["n1", "it's"],
      "bucket_size": 25.0, "eager": true, "clock": {"ghz": 1e-05, "n": 2},
      "benchmark_results": [{"model": "m", "batch_size": 2,
       "result": [{"ranks": [0], "measurements": [1]}]}]})",
      "r.json");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].adapter,
            (std::map<std::string, std::string>{
                {"cuda_version", "None"},
                {"note", "a b"},
                {"hosts", "['n1', \"it's\"]"},
                {"bucket_size", "25.0"},
                {"eager", "True"},
                {"clock", "{'ghz': 1e-05, 'n': 2}"}}));
}

TEST(ImportDdp, APlaceHeldForTheFirstResultIsNoRecord) {
  const auto records = import_ddp(report(R"({"ranks": [0], "measurements": []},
{"ranks": [0], "measurements": [0.1]}, {"ranks": [0], "measurements": [0.2]})"),
                                  "r.json");
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].configuration.strategy, "ddp");
  EXPECT_EQ(records[1].configuration.strategy, "ddp-2");
}

TEST(ImportDdp, KeysOfOlderVersionsMayBeAbsent) {
  const auto records = import_ddp(
      R"({"benchmark_results": [{"model": "m", "batch_size": 1, "result": []},
      {"model": "m", "batch_size": 2,
       "result": [{"ranks": [0], "measurements": [1]}]}]})",
      "r.json");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].configuration.bucket_mb, 0);
  EXPECT_EQ(records[0].environment.torch_version, "");
}

TEST(ImportDdp, EveryMistakeIsOneSentenceWithItsLine) {
  const auto with = [](const std::string& result) {
    return refusal_of(report(kTwoRows + std::string(",\n") + result));
  };
  const std::string at = "r.json:10: benchmark_results[0].result[2]";
  EXPECT_EQ(with(R"({"ranks": [0], "measurements": [0.1, "x"]})"),
            at + ".measurements[1]: expected a positive number of seconds, "
                 "found \"x\"");
  EXPECT_EQ(with(R"({"ranks": [0], "measurements": [-1]})"),
            at + ".measurements[0]: expected a positive number of seconds, "
                 "found -1");
  EXPECT_EQ(with("{\"ranks\": [0], \"measurements\": [1e300\n]}"),
            at + ".measurements[0]: expected a positive number of seconds, "
                 "found 1e+300");
  EXPECT_EQ(with(R"({"ranks": [0, 1], "measurements": [1, 2, 3]})"),
            at + ".measurements: expected equally many for each of 2 ranks, "
                 "found 3");
  EXPECT_EQ(with(R"({"ranks": [], "measurements": [1]})"),
            at + ".ranks: expected one or more ranks, each once, found an "
                 "array");
  EXPECT_EQ(with(R"({"ranks": [1, 1], "measurements": [1, 1]})"),
            at + ".ranks: expected one or more ranks, each once, found an "
                 "array");
  EXPECT_EQ(with(R"({"ranks": [-1], "measurements": [1]})"),
            at + ".ranks[0]: expected a rank, found -1");
  EXPECT_EQ(with(R"({"ranks": [0]})"), at + ": key 'measurements' is missing");
  EXPECT_EQ(with("7"), at + ": expected an object, found 7");
}

TEST(ImportDdp, MistakesAboveTheResultsAreNamedToo) {
  EXPECT_EQ(refusal_of(R"([1])"),
            "r.json:1: report: expected an object, found an array");
  EXPECT_EQ(refusal_of(R"({})"),
            "r.json:1: report: key 'benchmark_results' is missing");
  EXPECT_EQ(refusal_of("{\"benchmark_results\":\n3\n}"),
            "r.json:2: benchmark_results: expected an array, found 3");
  EXPECT_EQ(refusal_of("{\"pytorch_version\": 3,\n\"benchmark_results\": []}"),
            "r.json:1: pytorch_version: expected a text or null, found 3");
  EXPECT_EQ(
      refusal_of("{\"bucket_size\":\n\"big\",\"benchmark_results\": []}"),
      "r.json:2: bucket_size: expected a number of megabytes, found \"big\"");
  EXPECT_EQ(refusal_of("{\"benchmark_results\": [\n{\"model\": 1}]}"),
            "r.json:2: benchmark_results[0].model: expected a text, found 1");
  EXPECT_EQ(
      refusal_of("{\"benchmark_results\": [{\"model\": \"m\",\n"
                 "\"batch_size\": 0}]}"),
      "r.json:2: benchmark_results[0].batch_size: expected a positive integer, "
      "found 0");
}

TEST(ImportDdp, BrokenTextIsRefusedWithItsLine) {
  const std::string whole = report(kTwoRows);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const std::string sentence = refusal_of(whole.substr(0, n));
    EXPECT_TRUE(sentence.starts_with("r.json:")) << sentence;
    EXPECT_EQ(sentence.find('\n'), std::string::npos);
  }
  EXPECT_TRUE(refusal_of("{\n\"benchmark_results\": [NaN]}")
                  .starts_with("r.json:2: not JSON: "));
  EXPECT_TRUE(
      refusal_of("{\"benchmark_results\":" + std::string(100'000, '[') +
                 std::string(100'000, ']') + "}")
          .starts_with("r.json:1: benchmark_results[0]: expected an object"));
}

TEST(ImportDdp, DamagedReportsAreTakenOrRefused) {
  const std::string whole = report(kTwoRows);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char c : {'"', '{', ']', '9', '-', 'n', '\xff', '\0', '\n'}) {
      std::string text = whole;
      text[i] = c;
      const std::string sentence = refusal_of(text);
      EXPECT_TRUE(sentence == "accepted" || sentence.starts_with("r.json:"))
          << sentence;
    }
  }
}

}  // namespace
}  // namespace paceline::records
