// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/readers.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/records/json.h"
#include "records/rejection.h"
#include "records/sample_record.h"

namespace paceline::records {
namespace {

namespace fs = std::filesystem;

class AnyRecords : public ::testing::Test {
 protected:
  AnyRecords() : path_(fs::temp_directory_path() / "paceline-any-XXXXXX") {
    std::string name = path_;
    close(mkstemp(name.data()));
    path_ = name;
  }
  ~AnyRecords() override { fs::remove(path_); }

  const fs::path& with(const std::string& text) const {
    std::ofstream(path_, std::ios::binary) << text;
    return path_;
  }

 private:
  fs::path path_;
};

TEST_F(AnyRecords, BothKindsAreKnownByTheirContent) {
  const char* const table =
      "framework,model,batch_size_per_device,gpus,throughput_samples_per_s\n"
      "PaddlePaddle,resnet50,128,1,352.72\n"
      "PaddlePaddle,resnet50,128,8,2625.38\n";
  EXPECT_EQ(read_any({with(table)}).at(0).runs.size(), 2u);
  const std::string line = to_line(full_record());
  EXPECT_EQ(read_any({with(line + "\n" + line)}).at(0).runs.size(), 2u);
}

TEST_F(AnyRecords, EachOfSeveralFilesHasItsRecords) {
  const std::string head = "framework,batch_size_per_device,gpus,throughput_samples_per_s\n";
  const fs::path& table = with(head + "B,128,1,300\nB,128,2,600\n");
  const std::string other = table.string() + ".csv";
  std::ofstream(other, std::ios::binary) << head << "A,128,1,352.72\n";
  const std::string own = table.string() + ".jsonl";
  std::ofstream(own, std::ios::binary) << to_line(full_record()) << "\n";
  const auto files = read_any({table, own, other});
  ASSERT_EQ(files.size(), 3u);
  ASSERT_EQ(files[0].runs.size(), 2u);
  EXPECT_EQ(files[0].runs[1].configuration.framework, "B");
  ASSERT_EQ(files[1].runs.size(), 1u);
  EXPECT_EQ(files[1].runs[0], full_record());
  ASSERT_EQ(files[2].runs.size(), 1u);
  EXPECT_EQ(files[2].runs[0].configuration.framework, "A");
  with("nothing of interest\n");
  EXPECT_TRUE(rejection([&] {
                read_any({other, table});
              }).starts_with(table.string() + ":1: not JSON"));
  fs::remove(other);
  fs::remove(own);
}

TEST_F(AnyRecords, ATornLastLineIsSkippedWithAWarning) {
  const std::string line = to_line(full_record());
  const auto file = read_any({with(line + "\n" + line.substr(0, 50))}).at(0);
  EXPECT_EQ(file.runs.size(), 1u);
  EXPECT_EQ(file.notes.size(), 1u);
}

TEST_F(AnyRecords, StrangersAreRejectedWithTheirLine) {
  const fs::path& path = with(to_line(full_record()) + "\nhello\nx\n");
  try {
    read_any({path});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(path.string() + ":2: not JSON"))
        << error.what();
  }
  EXPECT_THROW(read_any({path.string() + ".none"}), UsageError);
}

constexpr const char* kSendrecv =
    "$ ./build/sendrecv_perf -g 1\n"
    "#  Rank  0 Group  0 Pid   5092 on  one device  0 [0x21] RTX 5090\n"
    "#  Rank  1 Group  0 Pid   5093 on  two device  0 [0x21] RTX 5090\n"
    "#  size   count   type  redop  root  time  algbw  busbw #wrong   time  "
    "algbw  busbw #wrong\n"
    "  65536   16384  float   none    -1  5.63  11.64  11.64      0   5.60  "
    "11.70  11.70      4\n";

TEST_F(AnyRecords, OperationsAreReadByThePackage) {
  const ForeignRecords found = read_foreign({with(kSendrecv)});
  ASSERT_EQ(found.operations.size(), 1u);
  const CommRecord& one = found.operations[0];
  EXPECT_EQ(one.operation, "message");
  EXPECT_EQ(one.ranks_per_host, (std::vector<int>{1, 1}));
  EXPECT_EQ(one.iteration_ns, std::vector<std::int64_t>{5630});
  EXPECT_EQ(one.warmup, std::nullopt);
  EXPECT_EQ(one.wrong_elements, 0);
  EXPECT_EQ(one.in_place, (InPlace{{5600}, 4}));
  EXPECT_TRUE(found.has_wrong_values());
  const Json written = to_json(one, {});
  EXPECT_TRUE(written.at("op").is_null());
  EXPECT_EQ(to_json(comm_record_from(written), {}), written);
  const fs::path& path = with(kSendrecv);
  EXPECT_EQ(read_any({path}).at(0).operations.size(), 1u);
}

TEST_F(AnyRecords, WhatIsInvalidIsToldWithItsLine) {
  std::string wrong = kSendrecv;
  wrong.replace(wrong.find("5.63"), 4, "6.53");
  const fs::path& path = with(wrong);
  EXPECT_TRUE(rejection([&] {
                read_foreign({path});
              }).starts_with(path.string() + ":5: 65536 bytes: size, time"));
  EXPECT_TRUE(read_foreign_if_known({with("nothing of interest\n")}).empty());
}

}  // namespace
}  // namespace paceline::records
