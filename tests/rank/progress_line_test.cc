// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/progress_line.h"

#include <string>

#include <gtest/gtest.h>

#include "paceline/base/clock.h"

namespace paceline::rank {
namespace {

using namespace std::chrono_literals;

class ProgressOn : public ::testing::Test {
 protected:
  ~ProgressOn() override { std::fclose(file_); }

  /// What the file has once it is as long as `wanted`, which it must become.
  std::string text(std::size_t wanted) {
    std::string read;
    while (read.size() < wanted) {
      std::this_thread::sleep_for(1ms);
      read.resize(wanted + 100);
      read.resize(static_cast<std::size_t>(pread(fileno(file_), read.data(), read.size(), 0)));
    }
    return read;
  }

  std::FILE* file_ = std::tmpfile();
};

TEST_F(ProgressOn, AFileIsALineForWhatIsNew) {
  ProgressLine line(Progress::kLines, 1ms, file_);
  line.show("one");
  EXPECT_EQ(text(4), "one\n");
  line.show("one");
  line.show("two");
  EXPECT_EQ(text(8), "one\ntwo\n");
  line.clear();
}

// The first text comes when a line may be printed, not an interval later.
TEST_F(ProgressOn, AFileIsALineAsSoonAsOneMayBePrinted) {
  ProgressLine line(Progress::kLines, 4s, file_);
  std::this_thread::sleep_for(4200ms);
  const Stopwatch watch;
  line.show("one");
  EXPECT_EQ(text(4), "one\n");
  EXPECT_LT(watch.elapsed(), 2s);
}

TEST_F(ProgressOn, ATerminalIsOneLineThatIsErased) {
  {
    ProgressLine line(Progress::kLine, 1ms, file_);
    line.show("one");
    EXPECT_EQ(text(7), "\rone\033[K");
  }
  EXPECT_EQ(text(11), "\rone\033[K\r\033[K");
}

TEST_F(ProgressOn, OtherRanksIsNothing) {
  {
    ProgressLine line(Progress::kNothing, 1ms, file_);
    line.show("one");
  }
  EXPECT_EQ(text(0), "");
  EXPECT_EQ(progress_mode_of(false, true), Progress::kNothing);
}

}  // namespace
}  // namespace paceline::rank
