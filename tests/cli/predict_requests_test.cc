// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "paceline/records/json.h"
#include "paceline/records/store.h"

namespace paceline {
namespace {

using nlohmann::json;

const std::string kClusters = PACELINE_SOURCE_DIR "/clusters/";

class PredictRequests : public Program {
 protected:
  /// The lines of standard output for a file of these requests.
  std::vector<json> answers(const std::vector<json>& requests, int exit_code) {
    std::string text;
    for (const json& request : requests) {
      text += request.dump() + "\n";
    }
    return answers(text, exit_code);
  }

  std::vector<json> answers(const std::string& text, int exit_code) {
    write("requests.jsonl", text);
    const Outcome outcome = run("predict --requests requests.jsonl");
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.out << outcome.err;
    std::vector<json> lines;
    std::istringstream out(outcome.out);
    for (std::string line; std::getline(out, line);) {
      lines.push_back(json::parse(line));
    }
    return lines;
  }
};

json without_time(json record) {
  record.erase("started_at");
  return record;
}

json job(const std::string& strategy, int ranks, const std::string& cluster) {
  return {{"id", strategy},
          {"network", "resnet50"},
          {"cluster", kClusters + cluster},
          {"strategy", strategy},
          {"ranks", ranks}};
}

// Each key is one that the command line takes, so no key can mean another thing.  The jobs share
// networks, worlds and strategies.
TEST_F(PredictRequests, GiveTheRecordsOfTheSameCommandLines) {
  const std::string cluster = "8x4-2080ti-10gbe.toml";
  std::vector<json> requests{job("wfbp", 8, cluster), job("mg-wfbp", 16, cluster),
                             job("wfbp", 8, "8x4-2080ti-100gbib.toml"),
                             job("mg-wfbp", 16, "8x4-2080ti-100gbib.toml")};
  requests[2]["batch_size"] = 16;
  requests[2]["device_rate"] = 250.5;
  requests.push_back(job("fusion", 8, cluster));
  requests.back().update({{"bucket_mb", 4},
                          {"steps", 5},
                          {"noise", 0.05},
                          {"seed", 7},
                          {"hosts", "a:4,b:4"},
                          {"optimizer", "adamw"},
                          {"engine_costs", PACELINE_SOURCE_DIR "/data/engine_costs.toml"},
                          {"engine", "gloo"}});
  requests.push_back(requests[0]);
  const std::vector<json> lines = answers(requests, 0);
  ASSERT_EQ(lines.size(), requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    std::string words = "predict --records one.jsonl";
    for (const auto& [key, value] : requests[i].items()) {
      std::string flag = key;
      std::ranges::replace(flag, '_', '-');
      words += key == "id"
                   ? ""
                   : " --" + flag + " '" +
                         (value.is_string() ? value.get<std::string>() : value.dump()) + "'";
    }
    ASSERT_EQ(run(words).exit_code, 0) << words;
    const auto records = records::read_records(folder_ / "one.jsonl").records;
    EXPECT_EQ(without_time(lines[i]), without_time(json::parse(records::to_line(records.back()))))
        << words;
  }
}

TEST_F(PredictRequests, GoOnBehindALineThatIsRejected) {
  json unknown = job("bsp", 4, "8x4-2080ti-10gbe.toml");
  unknown["batch-size"] = 4;
  json two = job("bsp", 4, "8x4-2080ti-10gbe.toml");
  two["ranks"] = {4, 8};
  json strange = job("bsp", 4, "8x4-2080ti-10gbe.toml");
  strange["batch_size"] = true;
  json words = job("bsp", 4, "8x4-2080ti-10gbe.toml");
  words["batch_size"] = "many";
  const std::vector<json> lines =
      answers(unknown.dump() + "\n{\"id\": 1,\n[]\n" + two.dump() + "\n\n" + strange.dump() + "\n" +
                  words.dump() + "\n" + job("bsp", 99, "8x4-2080ti-10gbe.toml").dump() + "\n" +
                  job("bsp", 4, "8x4-2080ti-10gbe.toml").dump() + "\n",
              2);
  ASSERT_EQ(lines.size(), 8u);
  const std::vector<std::pair<json, std::string>> rejections{
      {"bsp", "unknown key 'batch-size'; did you mean 'batch_size'? Known: "},
      {nullptr, "not JSON: "},
      {nullptr, "a request must be a JSON object"},
      {"bsp", "a line of --requests is of one prediction; 2 were asked for"},
      {"bsp", "batch_size: true must be a string, a number or a list of these"},
      {"bsp", "--batch-size: many: must be a whole number"},
      {"bsp", "a world of 99 ranks does not fit on cluster"}};
  for (std::size_t i = 0; i < rejections.size(); ++i) {
    EXPECT_EQ(lines[i].size(), 2u);
    EXPECT_EQ(lines[i].at("id"), rejections[i].first);
    EXPECT_TRUE(lines[i].at("error").get<std::string>().starts_with(rejections[i].second))
        << lines[i];
  }
  EXPECT_EQ(lines[7].at("configuration").at("ranks"), 4);
}

TEST_F(PredictRequests, TakeRecordsInPlaceOfANetwork) {
  for (const char* world : {"1 --strategy none", "2 --strategy bsp"}) {
    EXPECT_EQ(run("predict resnet50 " + kCluster + " --records predicted.jsonl --ranks " + world)
                  .exit_code,
              0);
  }
  auto known = records::read_records(folder_ / "predicted.jsonl").records;
  for (std::size_t i = 0; i < known.size(); ++i) {  // as if measured
    known[i].source = records::Source::kMeasured;
    records::RecordWriter(folder_ / (i == 0 ? "one.jsonl" : "two.jsonl")).append(known[i]);
  }
  const json request{{"measured", {"one.jsonl", "two.jsonl"}}, {"ranks", 8}};
  const std::vector<json> lines = answers(std::vector{request}, 0);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(run("predict --measured one.jsonl --measured two.jsonl --ranks 8 --records r.jsonl")
                .exit_code,
            0);
  const auto records = records::read_records(folder_ / "r.jsonl").records;
  EXPECT_EQ(without_time(lines[0]), without_time(json::parse(records::to_line(records[0]))));
}

// Some published cells of reference/ as studies/published_tables asks for them, and what was
// predicted when the study was last run.
TEST_F(PredictRequests, PredictPublishedCellsAsTheStudyDid) {
  const std::string folder = PACELINE_SOURCE_DIR "/tests/cli/published_cells/";
  std::ifstream file(folder + "requests.jsonl");
  std::vector<json> requests;
  std::vector<std::string> expected;
  for (std::string line; std::getline(file, line);) {
    const json cell = json::parse(line);
    json request = cell.at("request");
    request["cluster"] = kClusters + request.at("cluster").get<std::string>();
    if (request.contains("measured")) {
      request["measured"] = folder + request.at("measured").get<std::string>();
    }
    requests.push_back(request);
    expected.push_back(cell.at("samples_per_s"));
  }
  ASSERT_GE(requests.size(), 20u);
  const std::vector<json> lines = answers(requests, 0);
  ASSERT_EQ(lines.size(), requests.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const records::RunRecord it = records::from_json(lines[i]);
    std::int64_t window_ns = 0;
    for (const records::RankSamples& rank : it.ranks) {
      window_ns = std::max(window_ns, rank.window_ns);
    }
    const double samples = static_cast<double>(it.predicted->training_ranks) *
                           it.configuration.batch_size * it.configuration.steps;
    EXPECT_EQ(fmt::format("{:.6g}", samples / (static_cast<double>(window_ns) * 1e-9)), expected[i])
        << requests[i].at("id");
  }
}

TEST_F(PredictRequests, ComeFromStandardInput) {
  const json request = job("bsp", 4, "8x4-2080ti-10gbe.toml");
  write("requests.jsonl", request.dump());
  const Outcome outcome = run("predict --requests - <requests.jsonl");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out).at("configuration").at("ranks"), 4);
}

TEST_F(PredictRequests, RejectFlagsBesideThem) {
  expect_rejected("predict --requests r.jsonl --ranks 8", "paceline: --ranks excludes --requests");
  expect_rejected("predict --requests nowhere.jsonl",
                  "paceline: --requests nowhere.jsonl: cannot be read");
}

}  // namespace
}  // namespace paceline
