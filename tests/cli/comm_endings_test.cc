// SPDX-License-Identifier: Apache-2.0
// `paceline comm` on a terminal: what it shows meanwhile, and what is left
// where it does not come to its end.
#include <csignal>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "cli/terminal.h"

namespace paceline {
namespace {

// The first size takes a moment, the second one for ever.
class CommEndings : public Program {
 protected:
  std::string line(const std::string& flags = "") const {
    return "env -C '" + folder_.string() + "' '" + PACELINE_PROGRAM +
           "' comm --ranks 2 --only all-reduce --min 64B --max 64MB --factor 1000000 --iterations "
           "400 --records r.jsonl " +
           flags;
  }

  void expect_the_first_row(const std::string& shown) const {
    std::ifstream file(folder_ / "r.jsonl");
    std::vector<nlohmann::json> rows;
    for (std::string text; std::getline(file, text);) {
      rows.push_back(nlohmann::json::parse(text));
    }
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].at("bytes"), 64);
    EXPECT_EQ(rows[0].at("iteration_ns").size(), 400U);
    EXPECT_EQ(rows[0].at("wrong_elements"), 0);
    EXPECT_GT(rows[0].at("bytes_per_s").at("line"), 0);
    EXPECT_FALSE(rows[0].at("environment").at("hosts").empty());
    EXPECT_NE(shown.find("all-reduce, 2 ranks (2), gloo on cpu, fp32"), std::string::npos) << shown;
    EXPECT_NE(shown.find("1 of 2 rows measured, recorded in r.jsonl"), std::string::npos) << shown;
  }

  static constexpr const char* kSecond =
      "[2/2] all-reduce of 64000000 B (2 ranks): iteration 3 of 403";
  static constexpr char kControlC = '\x03';
};

TEST_F(CommEndings, AStopKeepsWhatIsMeasured) {
  OnTerminal comm(line());
  ASSERT_TRUE(comm.see(kSecond)) << comm.shown();
  comm.type(kControlC);
  EXPECT_EQ(comm.end(), 130) << comm.shown();
  EXPECT_NE(comm.shown().find("paceline: SIGINT ended the run: 1 of 2 rows"), std::string::npos)
      << comm.shown();
  expect_the_first_row(comm.shown());
}

TEST_F(CommEndings, ALostRankKeepsWhatIsMeasured) {
  for (const auto& [rank, variable] : {std::pair{1, "RANK=1"}, {0, "RANK=0"}}) {
    SCOPED_TRACE(rank);
    fs::remove(folder_ / "r.jsonl");
    OnTerminal comm(line());
    ASSERT_TRUE(comm.see(kSecond)) << comm.shown();
    const pid_t victim = comm.child_with(variable);
    ASSERT_GT(victim, 0);
    kill(victim, SIGKILL);
    EXPECT_EQ(comm.end(), 3) << comm.shown();
    EXPECT_NE(comm.shown().find("rank " + std::to_string(rank) + " on host "), std::string::npos);
    EXPECT_NE(comm.shown().find("was killed by signal 9"), std::string::npos) << comm.shown();
    EXPECT_NE(comm.shown().find("at all-reduce of 64000000 B (row 2 of 2)"), std::string::npos)
        << comm.shown();
    expect_the_first_row(comm.shown());
  }
}

// A rank that stands still is lost after --timeout.
TEST_F(CommEndings, ADeadlineKeepsWhatIsMeasured) {
  OnTerminal comm(line("--timeout 10"));
  ASSERT_TRUE(comm.see(kSecond)) << comm.shown();
  const pid_t victim = comm.child_with("RANK=1");
  ASSERT_GT(victim, 0);
  kill(victim, SIGSTOP);
  EXPECT_EQ(comm.end(), 3) << comm.shown();
  EXPECT_NE(comm.shown().find("stopped answering"), std::string::npos) << comm.shown();
  expect_the_first_row(comm.shown());
}

// Fits of a part would pass for those of the whole.
TEST_F(CommEndings, AStopWritesNoFits) {
  OnTerminal comm(line("--fit fitted.toml"));
  ASSERT_TRUE(comm.see(kSecond)) << comm.shown();
  comm.type(kControlC);
  EXPECT_EQ(comm.end(), 130) << comm.shown();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "fitted.toml"));
}

}  // namespace
}  // namespace paceline
