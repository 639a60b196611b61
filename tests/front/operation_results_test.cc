// SPDX-License-Identifier: Apache-2.0
#include "paceline/front/operation_results.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "launch/memory_store.h"
#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/rank/case_record.h"
#include "paceline/records/json.h"
#include "paceline/records/readers.h"

namespace paceline::front {
namespace {

records::CommRecord row(std::int64_t bytes) {
  return {.started_at = "2026-01-31T17:45:00Z",
          .operation = "all-reduce",
          .bytes = bytes,
          .ranks = 4,
          .ranks_per_host = {2, 2},
          .op = "sum",
          .root = {},
          .engine = "gloo",
          .device = "cpu",
          .dtype = "bf16",
          .interface = "lo",
          .link = "1Gbit,50us",
          .warmup = 3,
          .iteration_ns = {1000, 3000, 2000},
          .wire_bytes = 3 * bytes / 2,
          .wrong_elements = 0,
          .link_slack_ns = -7,
          .valid = false,
          .warnings = {}};
}

void hand_over(launch::KeyValueStore& store, std::size_t index, const records::CommRecord& record) {
  rank::post_finished_record(store, 0, index, records::to_line(records::to_json(record, {})));
}

/// The front of a job whose records go to a file of its own.
class OperationFront : public ::testing::Test {
 protected:
  OperationFront() {
    job_.settings.records = path_;
    job_.operations.emplace().operations = {"all-reduce"};
    job_.operations->sizes = {64, 1 << 30};
    job_.operations->ranks = 4;
  }
  ~OperationFront() override { std::filesystem::remove(path_); }

  const std::string path_ = std::filesystem::path(::testing::TempDir()) /
                            ("paceline-operations-" + std::to_string(getpid()) + ".jsonl");
  cases::JobSpec job_;
  paceline::testing::MemoryStore store_;
};

TEST_F(OperationFront, WritesAtOnceWhatRank0HandedOver) {
  OperationResults results(job_);
  results.begin(store_, 0);
  hand_over(store_, 0, row(64));
  results.take(store_);
  EXPECT_TRUE(results.has_samples());
  std::string text = records::to_line(records::to_json(row(64), {})) + "\n";
  EXPECT_EQ(read_text(path_), text);
  hand_over(store_, 1, row(1 << 30));
  results.take(store_);
  results.show("");
  EXPECT_EQ(results.status(), 0);
  text += records::to_line(records::to_json(row(1 << 30), {})) + "\n";
  EXPECT_EQ(read_text(path_), text);
}

TEST_F(OperationFront, WrongValuesHaveAStatus) {
  records::CommRecord wrong = row(64);
  wrong.wrong_elements = 5;
  hand_over(store_, 0, wrong);
  OperationResults results(job_);
  results.take(store_);
  EXPECT_EQ(results.status(), 3);
}

TEST_F(OperationFront, RecordsOfRunsAreNotMixedWithThoseOfOperations) {
  const std::string runs = records::to_line(records::RunRecord()) + "\n";
  write_atomically(path_, runs);
  EXPECT_THROW(OperationResults{job_}, UsageError);
  EXPECT_EQ(read_text(path_), runs);
}

TEST_F(OperationFront, AStoreWithoutAnyLeavesNoFile) {
  {
    OperationResults results(job_);
    results.take(store_);
    EXPECT_FALSE(results.has_samples());
    results.show("ended: ");
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace paceline::front
