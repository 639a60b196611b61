// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/external.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "rank/command_case.h"

namespace paceline::rank {
namespace {

TEST(AllRanks, StepsAreOfOneRankOrOfAll) {
  cases::Case c = command_of_two_ranks();
  c.ranks = 3;
  const auto outcome = [&c](std::size_t ranks) {
    records::RunRecord whole;
    whole.configuration = c;
    whole.ranks.resize(ranks);
    check_external_record(whole);
    return whole.status + ": " + whole.error.value_or("none");
  };
  EXPECT_EQ(outcome(1), ": none");
  EXPECT_EQ(outcome(2), "wrong-count: steps came of 2 of 3 ranks");
  EXPECT_EQ(outcome(3), ": none");
  EXPECT_EQ(outcome(0), "no-samples: it wrote no step (docs/adapters.md)");
  c.step_regex = "took";
  EXPECT_EQ(outcome(0), "no-samples: no line matches --step-regex 'took'");
}

TEST(LogPath, IsOneThatNoFileHas) {
  std::string name = std::filesystem::temp_directory_path() / "paceline-logs-XXXXXX";
  const std::filesystem::path folder = mkdtemp(name.data());
  cases::Case c;
  c.label = "a b";
  const auto path = [&] { return log_path(folder / "x.jsonl", 0, 3, c, 1); };
  const std::string stem = folder / "x.logs" / "run0-case3-a-b-rank1";
  std::filesystem::create_directory(folder / "x.logs");
  for (const char* const end : {".log", "-2.log", "-3.log"}) {
    EXPECT_EQ(path(), stem + end);
    std::ofstream(path()) << "kept";
  }
  EXPECT_EQ(log_path("", 0, 3, c, 1), "");
  EXPECT_EQ(log_path("/dev/null", 0, 3, c, 1), "");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace paceline::rank
