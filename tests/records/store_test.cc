// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/store.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/records/comm_record.h"
#include "paceline/records/json.h"
#include "records/sample_record.h"

namespace paceline::records {
namespace {

class Store : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void put(const std::string& text) { std::ofstream(path_) << text; }
  std::string text() const {
    std::ostringstream out;
    out << std::ifstream(path_).rdbuf();
    return out.str();
  }
  std::string rejection() const {
    try {
      read_records(path_);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("paceline-store-" + std::to_string(getpid()));
  std::string path_ = folder_ / "records.jsonl";
};

TEST_F(Store, AWriterKeepsOtherWritersAway) {
  {
    const RecordWriter writer(path_);
    EXPECT_THROW(RecordWriter{path_}, UsageError);
  }
  EXPECT_NO_THROW(RecordWriter{path_});
}

TEST_F(Store, AppendsWhatItReads) {
  {
    RecordWriter writer(path_);
    writer.append(full_record());
  }
  {
    RecordWriter writer(path_);
    writer.append(failed_record());
  }
  const RecordFile file = read_records(path_);
  ASSERT_EQ(file.records.size(), 2u);
  EXPECT_EQ(file.records[0], full_record());
  EXPECT_EQ(file.records[1], failed_record());
  EXPECT_TRUE(file.warnings.empty());
}

std::string operation_line() {
  CommRecord row;
  row.operation = "all-reduce";
  row.iteration_ns = {1};
  return to_line(to_json(row, {}));
}

TEST_F(Store, OperationsAreAppendedAsRunsAre) {
  const std::string line = operation_line();
  put(line + "\n" + line.substr(0, 40));
  RecordWriter(path_, RecordKind::kOperations).append_line(line);
  EXPECT_EQ(text(), line + "\n" + line + "\n");
  put(line);
  RecordWriter(path_, RecordKind::kOperations).append_line(line);
  EXPECT_EQ(text(), line + "\n" + line + "\n");
}

TEST_F(Store, RunsAndOperationsAreNotInOneFile) {
  const std::string run = to_line(full_record()), operation = operation_line();
  for (const char* end : {"\n", ""}) {  // the last line is whole without its line break, too
    put(run + end);
    EXPECT_THROW(RecordWriter(path_, RecordKind::kOperations), UsageError);
    EXPECT_EQ(text(), run + end);
    put(operation + end);
    EXPECT_THROW(RecordWriter(path_, RecordKind::kRuns), UsageError);
    EXPECT_EQ(text(), operation + end);
    EXPECT_NO_THROW(RecordWriter(path_, std::nullopt));
  }
}

TEST_F(Store, RecordIsInTheFileWhenAppendReturns) {
  RecordWriter writer(path_);
  writer.append(full_record());
  EXPECT_EQ(text(), to_line(full_record()) + "\n");
}

TEST_F(Store, EveryCutOfTheLastLineIsSkippedAndThenCutOff) {
  const std::string whole = to_line(full_record()) + "\n";
  const std::string last = to_line(failed_record());
  for (std::size_t cut = 1; cut < last.size(); cut += 7) {
    put(whole + last.substr(0, cut));
    EXPECT_NE(rejection(), "accepted") << cut;
    const RecordFile file = read_records(path_, BrokenTail::kSkip);
    EXPECT_EQ(file.records.size(), 1u) << cut;
    ASSERT_EQ(file.warnings.size(), 1u) << cut;
    EXPECT_TRUE(file.warnings[0].starts_with(path_ + ":2: not JSON")) << file.warnings[0];
    RecordWriter(path_).append(failed_record());
    EXPECT_EQ(text(), whole + last + "\n") << cut;
  }
}

TEST_F(Store, WholeLastLineThatIsNoRecordIsRejected) {
  for (const char* last : {"{\"version\": 99}", "[1, 2]", "{\"error\": 3}", "notes"}) {
    put(to_line(full_record()) + "\n" + last);
    EXPECT_THROW(read_records(path_, BrokenTail::kSkip), UsageError) << last;
  }
}

TEST_F(Store, WholeLastLineWithoutLineBreakIsKept) {
  put(to_line(full_record()));
  EXPECT_EQ(read_records(path_).records.size(), 1u);
  RecordWriter(path_).append(failed_record());
  EXPECT_EQ(read_records(path_).records.size(), 2u);
}

TEST_F(Store, BrokenLineInTheMiddleIsAnErrorWithItsNumber) {
  const std::string line = to_line(full_record());
  put(line + "\n\n" + line.substr(0, 50) + "\n" + line + "\n");
  EXPECT_TRUE(rejection().starts_with(path_ + ":3: not JSON: ")) << rejection();
  EXPECT_THROW(read_records(path_, BrokenTail::kSkip), UsageError);
}

TEST_F(Store, ForeignFileIsNotAppendedTo) {
  for (const char* text : {"name = \"a cluster\"\n", "a,b\n1,2\n\n", "{}\n"}) {
    put(text);
    EXPECT_THROW(RecordWriter{path_}, UsageError) << text;
    EXPECT_EQ(this->text(), text);
  }
}

TEST_F(Store, ForeignFileIsNotCut) {
  put("notes\nof somebody");
  EXPECT_THROW(RecordWriter writer(path_), UsageError);
  EXPECT_EQ(text(), "notes\nof somebody");
}

TEST_F(Store, SecondWriterOfTheSameFileIsRejected) {
  const RecordWriter first(path_);
  EXPECT_THROW(RecordWriter second(path_), UsageError);
}

TEST_F(Store, UnwritablePathIsAUsageError) {
  try {
    RecordWriter writer(folder_ / "missing" / "records.jsonl");
    FAIL() << "opened";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()), "--records " +
                                             (folder_ / "missing" / "records.jsonl").string() +
                                             ": cannot be written: No such file or directory");
  }
  EXPECT_THROW(RecordWriter writer(folder_.string()), UsageError);
}

TEST_F(Store, MissingFileAndFolderAreUsageErrors) {
  EXPECT_EQ(rejection(), path_ + ": cannot be read");
  EXPECT_THROW(read_records(folder_.string()), UsageError);
}

TEST_F(Store, CompletedHoldsCasesWithoutErrorsAndReasonsOfThoseThatCannotRun) {
  RunRecord failed = full_record();
  failed.run = 3;
  failed.error = "rank 0: killed";
  RunRecord absent = full_record();
  absent.run = 4;
  absent.error = "jax is not installed here";
  absent.status = "not-installed";
  const auto done = completed_runs(std::vector{full_record(), failed, absent});
  EXPECT_EQ(done.size(), 2u);
  EXPECT_TRUE(done.contains({absent.configuration.key() + *absent.error, 4}));
  EXPECT_TRUE(done.contains({full_record().configuration.key(), 2}));
}

}  // namespace
}  // namespace paceline::records
