// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/process.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include "paceline/base/clock.h"
#include "paceline/base/file.h"

namespace paceline {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Whether the process of a /proc/<id>/stat file runs; a zombie does not.
bool is_alive(const std::string& stat_file) {
  const auto stat = read_text_if_readable(stat_file);
  return stat && stat->find(") Z ") == std::string::npos;
}

TEST(RunCommand, CollectsStdoutAndTheExitCode) {
  const auto result = run_command({"sh", "-c", "echo out; echo err >&2; exit 3"}, seconds(60));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->output, "out\n");
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_FALSE(result->succeeded());
  EXPECT_FALSE(result->timed_out);
}

TEST(RunCommand, PassesArgumentsWithoutAShell) {
  const auto result = run_command({"printf", "%s", "a $HOME *"}, seconds(60));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->output, "a $HOME *");
  EXPECT_TRUE(result->succeeded());
}

TEST(RunCommand, ReadsMoreThanAPipeHolds) {
  const auto result = run_command({"head", "-c", "1000000", "/dev/zero"}, seconds(60));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->output.size(), 1'000'000U);
}

TEST(RunCommand, IsNothingWhereThereIsNoSuchProgram) {
  EXPECT_EQ(run_command({"paceline-no-such-program"}, seconds(60)), std::nullopt);
}

TEST(EnvironmentWith, ReplacesAndAdds) {
  ::setenv("PACELINE_TEST_KEPT", "a=b", 1);
  ::setenv("PACELINE_TEST_OLD", "old", 1);
  const auto environment =
      environment_with({{"PACELINE_TEST_OLD", "new"}, {"PACELINE_TEST_ADDED", ""}});
  const auto count = [&](const std::string& entry) {
    return std::ranges::count(environment, entry);
  };
  EXPECT_EQ(count("PACELINE_TEST_KEPT=a=b"), 1);
  EXPECT_EQ(count("PACELINE_TEST_OLD=new"), 1);
  EXPECT_EQ(count("PACELINE_TEST_OLD=old"), 0);
  EXPECT_EQ(count("PACELINE_TEST_ADDED="), 1);
}

TEST(ExecPointers, EndWithANull) {
  const std::vector<std::string> texts{"a", "bc"};
  const auto pointers = exec_pointers(texts);
  ASSERT_EQ(pointers.size(), 3U);
  EXPECT_STREQ(pointers[1], "bc");
  EXPECT_EQ(pointers[2], nullptr);
}

TEST(RunCommand, AtTheDeadlineNothingOfTheCommandIsLeft) {
  const auto result = run_command({"sh", "-c", "sleep 600 & echo $!; wait"}, milliseconds(300));
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->exit_code, std::nullopt);
  // The kill has been sent; it arrives when the kernel next looks.
  const std::string grandchild =
      "/proc/" + result->output.substr(0, result->output.find('\n')) + "/stat";
  const Stopwatch waited;
  while (is_alive(grandchild) && waited.elapsed() < seconds(60)) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(is_alive(grandchild));
}

TEST(RunCommand, ACommandThatClosedItsOutputIsStillEnded) {
  const auto result = run_command({"sh", "-c", "exec >&-; exec sleep 600"}, milliseconds(300));
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(result->timed_out);
}

TEST(RunCommand, ASignalIsNoExitCode) {
  const auto result = run_command({"sh", "-c", "kill -9 $$"}, seconds(60));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->exit_code, std::nullopt);
  EXPECT_FALSE(result->timed_out);
}

#ifdef __GLIBC__
// As of glibc: the allocator has the block from no mapping of its own, and has as much to give away
// when the block is freed.
TEST(KeepFreedMemory, LeavesLargeBlocksInTheProcess) {
  constexpr std::size_t kBytes = std::size_t{100} << 20;
  keep_freed_memory();
  const std::size_t mapped = mallinfo2().hblkhd;
  auto block = std::make_unique<std::vector<char>>(kBytes, 1);
  EXPECT_EQ(mallinfo2().hblkhd, mapped);
  const std::size_t kept = mallinfo2().fordblks;
  block.reset();
  EXPECT_GE(mallinfo2().fordblks, kept + kBytes);
}

TEST(KeepFreedMemory, AsksForHugePagesUnlessTheEnvironmentDoes) {
  const char* const kName = "THP_MEM_ALLOC_ENABLE";
  unsetenv(kName);
  keep_freed_memory();
  EXPECT_STREQ(std::getenv(kName), "1");
  setenv(kName, "0", 1);
  keep_freed_memory();
  EXPECT_STREQ(std::getenv(kName), "0");
}
#endif

TEST(PeakMemory, GrowsByAtLeastWhatIsTouched) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const auto before = peak_memory_bytes();
  ASSERT_TRUE(before.has_value());
  EXPECT_GT(*before, 0);
  std::vector<char> held(kBytes, 1);
  const auto after = peak_memory_bytes();
  ASSERT_TRUE(after.has_value());
  EXPECT_GE(*after, static_cast<std::int64_t>(kBytes));
  EXPECT_EQ(held.back(), 1);
}

// Blocks so small that the allocator keeps them, and one above that it must.
TEST(PeakMemory, BeginsAnewWithoutWhatIsFreed) {
  constexpr std::size_t kBlocks = 100'000, kBytes = 1'000;
  std::vector<std::unique_ptr<std::vector<char>>> blocks;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    blocks.push_back(std::make_unique<std::vector<char>>(kBytes, 1));
  }
  const auto last = std::move(blocks.back());
  const auto full = peak_memory_bytes();
  blocks.clear();
  if (!reset_peak_memory()) {
    GTEST_SKIP() << "the kernel does not reset the peak";
  }
  const auto anew = peak_memory_bytes();
  ASSERT_TRUE(full && anew);
  EXPECT_GE(*full - *anew, static_cast<std::int64_t>(kBlocks * kBytes / 2));
  EXPECT_EQ(last->back(), 1);
}

}  // namespace
}  // namespace paceline
