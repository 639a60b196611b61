// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/comm_table.h"

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/report/formats.h"

namespace paceline::report {
namespace {

std::string render_output(std::string_view format, std::span<const records::CommRecord> records) {
  return render_output(format, comm_output(records, {}));
}

records::CommRecord sample() {
  records::CommRecord r;
  r.operation = "all-reduce";
  r.bytes = 4'000'000;
  r.ranks = 4;
  r.ranks_per_host = {2, 2};
  r.engine = "gloo";
  r.device = "cpu";
  r.dtype = "fp32";
  r.iteration_ns = {1'000'000, 2'000'000, 3'000'000};
  r.wire_bytes = 6'000'000;
  r.line_bytes_per_s = 6e9;
  return r;
}

TEST(CommRecord, BandwidthsAreThoseOfNcclTests) {
  const records::CommRecord r = sample();
  EXPECT_DOUBLE_EQ(r.median_ns(), 2e6);
  EXPECT_DOUBLE_EQ(r.algorithm_bandwidth(), 2e9);
  EXPECT_DOUBLE_EQ(r.bus_bandwidth(), 3e9);  // 2 (4 - 1) / 4
  EXPECT_DOUBLE_EQ(r.wire_bandwidth(), 3e9);
  EXPECT_DOUBLE_EQ(r.line_rate_fraction().value(), 0.5);
  EXPECT_DOUBLE_EQ(records::bus_factor("reduce-scatter", 4), 0.75);
  EXPECT_DOUBLE_EQ(records::bus_factor("all-gather", 4), 0.75);
  EXPECT_DOUBLE_EQ(records::bus_factor("broadcast", 4), 1);
  EXPECT_DOUBLE_EQ(records::bus_factor("message", 4), 1);
}

TEST(CommRecord, WhatIsNotKnownIsNull) {
  records::CommRecord r = sample();
  r.line_bytes_per_s = 0;
  const auto json = records::to_json(r, {});
  EXPECT_TRUE(json.at("bytes_per_s").at("line").is_null());
  EXPECT_TRUE(json.at("bytes_per_s").at("wire_share_of_line").is_null());
  EXPECT_TRUE(json.at("link").is_null());
  EXPECT_TRUE(json.at("link_slack_ns").is_null());
  EXPECT_EQ(json.at("valid"), true);
  r.valid.reset();
  const auto unknown = records::to_json(r, {});
  EXPECT_TRUE(unknown.at("valid").is_null());
  EXPECT_FALSE(records::comm_record_from(unknown).valid.has_value());
  EXPECT_TRUE(render_output("csv", {{r}}).ends_with(",0,,,,\n"));
  EXPECT_EQ(json.at("iteration_ns").size(), 3U);
  EXPECT_EQ(json.at("duration_ns").at("p50"), 2e6);
}

TEST(CommRecord, OfAnEarlierVersionLacksSomeKeys) {
  const nlohmann::json whole = records::to_json(sample(), {});
  nlohmann::json json = whole;
  for (const char* key :
       {"op", "root", "place", "clock", "mean_of", "formula", "in_place", "environment"}) {
    EXPECT_EQ(json.erase(key), 1U) << key;
  }
  EXPECT_EQ(nlohmann::json(records::to_json(records::comm_record_from(json), {})), whole);
}

TEST(CommRecord, WithAKeyOrAValueOfAnotherKindIsRejected) {
  nlohmann::json json = records::to_json(sample(), {});
  json["colour"] = "red";
  EXPECT_THROW(records::comm_record_from(json), UsageError);
  json.erase("colour");
  json["bytes"] = -1;
  EXPECT_THROW(records::comm_record_from(json), UsageError);
}

TEST(CommTable, SaysThatAnotherProgramsTimeIsAMean) {
  records::CommRecord r = sample();
  r.iteration_ns = {2'000'000};
  r.mean_of = 20;
  r.formula = "mean";
  const std::string text = render_output("table", {{r}});
  EXPECT_NE(text.find("the program's mean of 20 iterations"), std::string::npos);
  EXPECT_EQ(text.find("slowest rank"), std::string::npos);
  EXPECT_EQ(text.find("median"), std::string::npos);
}

TEST(CommTable, SaysWhatAnotherProgramsTimesAre) {
  records::CommRecord r = sample();
  r.formula = "durations on rank 1; bandwidth: size / median";
  const std::string text = render_output("table", {{r}});
  EXPECT_NE(text.find("3 values: durations on rank 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("wire: what a ring sends of a rank"), std::string::npos);
}

TEST(CommTable, TellsReductionsTypesAndRanksApart) {
  std::vector<records::CommRecord> records(4, sample());
  records[1].op = "sum";
  records[2].op = "sum";
  records[2].dtype = "half";
  records[3].ranks_per_host = {4};
  const std::string text = render_output("table", records);
  for (const char* title : {"all-reduce, 4 ranks (2+2), gloo on cpu, fp32",
                            "all-reduce of a sum, 4 ranks (2+2), gloo on cpu, fp32",
                            "all-reduce of a sum, 4 ranks (2+2), gloo on cpu, half",
                            "all-reduce, 4 ranks (4), gloo on cpu, fp32"}) {
    EXPECT_NE(text.find(title), std::string::npos) << text;
  }
}

TEST(CommTable, TheCpusTimeIsNoBandwidth) {
  records::CommRecord r = sample();
  r.iteration_ns = {3'100};
  r.formula = "mean";
  r.clock = "cpu";
  const std::string text = render_output("table", {{r}});
  EXPECT_NE(text.find(", CPU time\n"), std::string::npos) << text;
  EXPECT_NE(text.find("of the CPU alone"), std::string::npos) << text;
  EXPECT_EQ(text.find("alg:"), std::string::npos) << text;
  const auto rates = records::to_json(r, {}).at("bytes_per_s");
  EXPECT_TRUE(rates.at("bus").is_null());
  EXPECT_TRUE(rates.at("algorithm").is_null());
}

TEST(CommTable, ShowsARowPerSizeAndWhatIsWrongWithIt) {
  records::CommRecord wrong = sample();
  wrong.bytes = 8 << 20;
  wrong.wrong_elements = 3;
  const std::vector<records::CommRecord> records{sample(), wrong};
  const std::string text = render_output("table", records);
  EXPECT_NE(text.find("all-reduce, 4 ranks (2+2), gloo on cpu, fp32"), std::string::npos);
  EXPECT_NE(text.find("4000000 B  1200    2000"), std::string::npos) << text;
  EXPECT_NE(text.find("\n    8 MiB"), std::string::npos);
  EXPECT_NE(text.find("     50.0\n"), std::string::npos);
  EXPECT_NE(text.find("3 WRONG ELEMENTS"), std::string::npos);
}

TEST(CommTable, MarkdownHasTheRowsAndNotes) {
  const std::string text = render_output("markdown", {{sample()}});
  EXPECT_NE(text.find("### all-reduce, 4 ranks (2+2), gloo on cpu, fp32\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\n| 4000000 B | 1200 | 2000 |"), std::string::npos) << text;
  EXPECT_NE(text.find("\n- **bandwidth**: alg: "), std::string::npos) << text;
}

TEST(CommTable, CsvAndJsonHoldEveryRecord) {
  const std::vector<records::CommRecord> records{sample(), sample()};
  const std::string csv = render_output("csv", records);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 3);
  EXPECT_NE(csv.find("all-reduce,4000000,4,gloo,cpu,fp32,,3,1000.000,"), std::string::npos);
  const auto json = nlohmann::json::parse(render_output("json", records));
  EXPECT_EQ(json.size(), 2U);
  EXPECT_THROW(render_output("tables", records), UsageError);
}

}  // namespace
}  // namespace paceline::report
