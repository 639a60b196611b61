// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/file.h"

#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "paceline/base/error.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "paceline.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(FileTest, WritingAtomicallyReplacesAndLeavesNothingBehind) {
  const auto path = folder_ / "table.json";
  write_atomically(path, "a long first text");
  write_atomically(path, "short");
  EXPECT_EQ(read_text(path), "short");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(FileTest, WritingAtomicallyFollowsALink) {
  fs::create_symlink("target", folder_ / "link");
  write_atomically(folder_ / "target", "old");
  write_atomically(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_text(folder_ / "target"), "new");
}

TEST_F(FileTest, WritingToADeviceWorks) { EXPECT_NO_THROW(write_atomically("/dev/null", "text")); }

TEST_F(FileTest, AFullDeviceIsAnError) {
  EXPECT_THROW(write_atomically("/dev/full", "text"), WorldError);
}

TEST_F(FileTest, CheckingCreatesNothing) {
  check_writable("--records", folder_ / "new.jsonl");
  check_writable("--records", "/dev/null");
  EXPECT_EQ(entries(), 0U);
}

TEST_F(FileTest, CheckingNamesTheOptionAndTheReason) {
  const auto words = [](const fs::path& path) -> std::string {
    try {
      check_writable("--json", path);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(words(folder_ / "no" / "x.json"), "--json " + (folder_ / "no" / "x.json").string() +
                                                  ": there is no folder " +
                                                  (folder_ / "no").string());
  EXPECT_EQ(words(folder_), "--json " + folder_.string() + ": is a folder; a file name is needed");
  EXPECT_EQ(words(""), "--json : a file name is needed");
  // Root may write to this folder, and yet it takes no file.
  EXPECT_EQ(
      words("/proc/x.json"),
      "--json /proc/x.json: no file can be made in the folder /proc: No such file or directory");
  std::ofstream(folder_ / "file") << "x";
  EXPECT_EQ(words(folder_ / "file" / "x"), "--json " + (folder_ / "file" / "x").string() + ": " +
                                               (folder_ / "file").string() + " is no folder");
}

TEST_F(FileTest, ReadingNamesThePathAndTheReason) {
  try {
    read_text(folder_ / "missing");
    FAIL() << "nothing thrown";
  } catch (const UsageError& error) {
    EXPECT_EQ(error.what(),
              "cannot read " + (folder_ / "missing").string() + ": No such file or directory");
  }
  EXPECT_EQ(read_text_if_readable(folder_ / "missing"), std::nullopt);
  EXPECT_EQ(read_text_if_readable(folder_), std::nullopt);
}

TEST(SplitLines, CountsALastLineWithoutNewline) {
  EXPECT_EQ(split_lines(""), Lines{});
  EXPECT_EQ(split_lines("a"), Lines{"a"});
  EXPECT_EQ(split_lines("a\n\nb\n"), (Lines{"a", "", "b"}));
}

}  // namespace
}  // namespace paceline
