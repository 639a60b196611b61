// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/report/case_logs.h"
#include "paceline/report/formats.h"
#include "records/foreign_file.h"

namespace paceline::report {
namespace {

namespace fs = std::filesystem;

std::string render_ddl(std::span<const records::RunRecord> records) {
  return find_format("ddl").render(records);
}

/// A folder of --logs.
class LogFolder {
 public:
  LogFolder() : path_(fs::path(testing::TempDir()) / fmt::format("ddl-{}", ::getpid())) {
    fs::remove_all(path_);
  }
  LogFolder(const LogFolder&) = delete;
  LogFolder& operator=(const LogFolder&) = delete;
  ~LogFolder() { fs::remove_all(path_); }

  const fs::path& path() const { return path_; }

  void write(std::span<const records::RunRecord> records,
             const std::string& file = "s.jsonl") const {
    check_log_folder(path_, file);
    write_case_logs(path_, {"a survey", file}, records);
  }

  /// The text of each log by its name.
  std::map<std::string, std::string> logs() const {
    std::map<std::string, std::string> logs;
    for (const auto& entry : fs::directory_iterator(path_)) {
      logs[entry.path().filename()] = read_text(entry.path());
    }
    return logs;
  }

 private:
  fs::path path_;
};

std::map<std::string, std::string> logs_of(std::span<const records::RunRecord> records) {
  const LogFolder folder;
  folder.write(records);
  return folder.logs();
}

/// The text of the only log.
std::string log_of(std::span<const records::RunRecord> records) {
  const auto logs = logs_of(records);
  EXPECT_EQ(logs.size(), 1U);
  return logs.begin()->second;
}

records::RunRecord of_steps(const std::string& model, const std::vector<std::int64_t>& step_ns) {
  records::RunRecord record;
  record.configuration.model = model;
  record.configuration.batch_size = 8;
  record.configuration.ranks = 2;
  record.configuration.strategy = "wfbp+all-reduce";
  for (int rank = 0; rank < 2; ++rank) {
    records::RankSamples samples;
    samples.rank = rank;
    samples.step_ns = step_ns;
    record.ranks.push_back(std::move(samples));
  }
  return record;
}

TEST(Ddl, PrintsTheLinesOfHorovodsSyntheticBenchmark) {
  const std::vector<records::RunRecord> records{of_steps("resnet50", {100'000'000, 200'000'000})};
  EXPECT_EQ(render_ddl(records),
            "# wfbp+all-reduce on 2 ranks\n"
            "Model: resnet50\nBatch size: 8\nNumber of CPUs: 2\n"
            "Running warmup...\nRunning benchmark...\n"
            "Iter #0: 80.0 img/sec per CPU\nIter #1: 40.0 img/sec per CPU\n"
            "Img/sec per CPU: 60.0 +-39.2\n"
            "Total img/sec on 2 CPU(s): 120.0 +-78.4\n");
}

TEST(Ddl, CountsSentencesOfNetworksThatReadText) {
  std::vector<records::RunRecord> records{
      of_steps("bert-base", std::vector<std::int64_t>(20, 500'000'000))};
  records.front().configuration.sequence_length = 64;
  const std::string text = render_ddl(records);
  EXPECT_TRUE(
      text.starts_with("# wfbp+all-reduce on 2 ranks\n"
                       "Running warmup...\nBERT Large Pretraining, Sentence len: 64\n"
                       "Running benchmark...\nIter #0: 16.0 sentences/sec per GPU\n"))
      << text;
  EXPECT_TRUE(
      text.ends_with("Iter #9: 16.0 sentences/sec per GPU\n"
                     "Sen/sec per GPU: 16.0 +-0.0\n"
                     "Total sen/sec on 2 GPU(s): 32.0 +-0.0\n"))
      << text;
}

TEST(Ddl, ServersAndFailedCasesAddNoRate) {
  std::vector<records::RunRecord> records(2, of_steps("resnet50", {100'000'000}));
  records[0].ranks[1].step_ns.clear();
  records[1].ranks.clear();
  records[1].error = "rank 1 died";
  const std::string text = render_ddl(records);
  EXPECT_NE(text.find("Total img/sec on 1 CPU(s): 80.0 +-0.0\n"), std::string::npos);
  EXPECT_TRUE(text.ends_with("# wfbp+all-reduce on 2 ranks failed: rank 1 died\n"));
}

// 80, 82 and 84 a rank: mean 164, standard error 4 / sqrt(3), t = 4.303.
TEST(Ddl, TriesHaveAMeanWithItsInterval) {
  std::vector<records::RunRecord> records;
  for (const double rate : {80, 82, 84}) {
    records.push_back(of_steps("resnet50", {std::llround(8e9 / rate)}));
    records.back().run = static_cast<int>(records.size()) - 1;
  }
  const std::string text = log_of(records);
  EXPECT_TRUE(
      text.ends_with("\n# wfbp+all-reduce on 2 ranks, mean of 3 tries: 164.0 img/sec, "
                     "95 % interval 154.1 to 173.9\n"))
      << text << "the original's parser takes a line with Total for a try";
  EXPECT_EQ(log_of(std::span(records).first(1)).find("tries"), std::string::npos);
  records[1].error = "rank 1 died";
  EXPECT_NE(log_of(records).find("mean of 2 tries: 164.0"), std::string::npos);
}

TEST(Ddl, WhatIsPrintedCanBeImported) {
  const std::vector<records::RunRecord> records{of_steps("resnet50", {100'000'000, 200'000'000})};
  const auto again = records::read_as("ours.log", render_ddl(records));
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].ranks[1].step_ns, records[0].ranks[1].step_ns);
}

TEST(Ddl, ALogOfBertCanBeImported) {
  std::vector<records::RunRecord> records{of_steps("bert-base", {100'000'000, 200'000'000})};
  cases::Case& c = records.front().configuration;
  c.link = "10Gbit,50us";
  c.sequence_length = 128;
  const auto again = records::read_as("ours.log", log_of(records));
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].configuration.model, "bert-base");
  EXPECT_EQ(again[0].configuration.strategy, "wfbp+all-reduce");
  EXPECT_EQ(again[0].configuration.batch_size, 8);
  EXPECT_EQ(again[0].configuration.sequence_length, 128);
  EXPECT_EQ(again[0].configuration.link, "10Gbit,50us");
  EXPECT_EQ(again[0].ranks[1].step_ns, records[0].ranks[1].step_ns);
}

TEST(Ddl, ALogOfServersIsReadAsTheSameCase) {
  std::vector<records::RunRecord> records{of_steps("resnet50", {100'000'000, 200'000'000})};
  cases::Case& c = records.front().configuration;
  c.strategy = "bsp+ps:placement=apart,servers=2";
  c.ranks = 4;
  c.steps = 2;
  for (int server = 2; server < 4; ++server) {
    records.front().ranks.emplace_back().rank = server;
  }
  const auto [name, log] = *logs_of(records).begin();
  EXPECT_NE(log.find("Number of CPUs: 2\n"), std::string::npos) << log;
  const auto again = records::read_as(name, log);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].configuration.key(), c.key());
  ASSERT_EQ(again[0].ranks.size(), 4U);
  EXPECT_EQ(again[0].ranks[1].step_ns, records[0].ranks[1].step_ns);
  EXPECT_TRUE(again[0].ranks[2].step_ns.empty());
  EXPECT_TRUE(again[0].ranks[3].step_ns.empty());
}

TEST(Ddl, EveryCaseHasALogOfItsOwn) {
  std::vector<records::RunRecord> records(4, of_steps("resnet50", {1}));
  records[1].configuration.learning_rate = 0.5;
  records[2].configuration.learning_rate = 0.25;
  records[3].run = 1;
  const auto logs = logs_of(records);
  const std::string stem =
      "rdma-none-method-wfbp-dnn-resnet50-bs-8-nworker-2-compressor-none-thres-0";
  ASSERT_EQ(logs.size(), 3U);
  EXPECT_NE(logs.at(stem + ".log").find("mean of 2 tries"), std::string::npos);
  EXPECT_NE(logs.at(stem + "-2.log").find("--learning-rate 0.5"), std::string::npos);
  EXPECT_NE(logs.at(stem + "-3.log").find("--learning-rate 0.25"), std::string::npos);
}

TEST(Ddl, ALogKeepsItsNameWhenCasesFollow) {
  std::vector<records::RunRecord> records(3, of_steps("resnet50", {1}));
  records[1].configuration.learning_rate = 0.5;
  records[2].configuration.learning_rate = 0.25;
  const LogFolder folder;
  folder.write(std::span(records).first(2));
  const auto before = folder.logs();
  ASSERT_EQ(before.size(), 2U);
  folder.write(records);
  const auto after = folder.logs();
  ASSERT_EQ(after.size(), 3U);
  for (const auto& [name, text] : before) {
    EXPECT_EQ(after.at(name), text);
  }
  EXPECT_TRUE(std::ranges::any_of(
      after, [](const auto& log) { return log.first.ends_with("-thres-0-3.log"); }));
}

// A case that is run and left out of what is printed has a log that says so.
TEST(Ddl, ADiscardedCaseHasTheHeadOfALog) {
  records::RunRecord record = of_steps("resnet50", {1});
  record.started_at = "2024-05-06T07:08:09Z";
  record.configuration.discard = true;
  const std::string text = log_of({&record, 1});
  EXPECT_TRUE(
      text.starts_with("# a survey, 2024-05-06T07:08:09Z\n# records: s.jsonl\n# paceline run "))
      << text;
  EXPECT_EQ(text.find("Total"), std::string::npos);
}

// What gen_cmd in HKBU-HPML/ddl-benchmarks, benchmarks.py, names its logs, and plots.py looks for.
TEST(Ddl, LogsHaveTheNamesOfTheOriginal) {
  std::vector<records::RunRecord> records;
  const auto add = [&records](const std::string& strategy, const std::string& link,
                              const std::string& model) {
    cases::Case& c = records.emplace_back().configuration;
    c.strategy = strategy;
    c.link = link;
    c.model = model;
    c.batch_size = 64;
    c.ranks = 4;
  };
  const std::string rest = "-dnn-resnet50-bs-64-nworker-4-compressor-";
  const std::vector<std::pair<std::string, std::string>> methods{
      {"bsp", "bspa2a" + rest + "none-thres-536870912"},
      {"wfbp", "wfbp" + rest + "none-thres-0"},
      {"mg-wfbp:small-elements=8192", "mgwfbp" + rest + "none-thres-0"},
      {"bytescheduler:partition-mb=8,credit-mb=16", "bytescheduler" + rest + "none-thres-0"},
      {"bsp+ps", "bspps" + rest + "none-thres-536870912"},
      {"wfbp+ps:servers=2", "wfbpps" + rest + "none-thres-0"},
      {"bsp+ps:placement=apart,servers=2",
       "bspps-dnn-resnet50-bs-64-nworker-2-compressor-none-"
       "thres-536870912"},
      {"bsp+ps:placement=apart,servers=9", "bspps" + rest + "none-thres-536870912-2"},
      {"bytescheduler+ps", "byteschedulerps" + rest + "none-thres-0"},
      {"bsp+sign", "signum" + rest + "signum-thres-536870912"},
      {"bsp+topk:density=0.001", "eftopk" + rest + "eftopk-thres-536870912"},
      {"wfbp+rs-ag", "wfbp+rs_ag" + rest + "none-thres-0"},
      {"wfbp+sign", "wfbp+sign" + rest + "sign-thres-0"},
      {"bsp+topk:density=0.01",
       "bsp+topk_density=0.01" + rest + "topk_density=0.01-thres-536870912"},
      {"no strategy", "no_strategy" + rest + "none-thres-0"}};
  std::set<std::string> expected;
  for (const auto& [ours, theirs] : methods) {
    add(ours, "10Gbit,50us", "resnet50");
    expected.insert("rdma-0-method-" + theirs + ".log");
  }
  add("wfbp", "100Gbit,2us", "bert-base");
  expected.insert("rdma-1-method-wfbp-dnn-bert_base-bs-64-nworker-4-compressor-none-thres-0.log");
  add("wfbp", "1Gbit,50us", "bert-large");
  expected.insert(
      "rdma-1Gbit_50us-method-wfbp-dnn-bert-bs-64-nworker-4-compressor-none-thres-0.log");
  std::set<std::string> names;
  for (const auto& [name, text] : logs_of(records)) {
    names.insert(name);
  }
  EXPECT_EQ(names, expected);
}

TEST(Ddl, ALogNamesTheRecordFileThatItIsWrittenFrom) {
  const std::vector<records::RunRecord> records(1, of_steps("resnet50", {1}));
  const LogFolder folder;
  folder.write(records, "my/s.jsonl");
  EXPECT_NO_THROW(check_log_folder(folder.path(), "./my/s.jsonl"));
  EXPECT_THROW(check_log_folder(folder.path(), "s.jsonl"), UsageError);
  for (const char* text : {"", "# a survey", "# a survey\n# paceline run\n"}) {
    write_atomically(folder.path() / "rdma-of-others.log", text);
    EXPECT_THROW(check_log_folder(folder.path(), "my/s.jsonl"), UsageError) << text;
  }
}

TEST(Ddl, AFileIsNoFolderForLogs) {
  const LogFolder folder;
  write_atomically(folder.path(), "text");
  try {
    check_log_folder(folder.path(), "s.jsonl");
    ADD_FAILURE() << "not rejected";
  } catch (const UsageError& error) {
    EXPECT_EQ(error.what(), "--logs " + folder.path().string() +
                                ": is no folder and cannot be made one: Not a directory");
  }
}

}  // namespace
}  // namespace paceline::report
