// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/bulletin.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "launch/memory_board.h"
#include "paceline/base/error.h"

namespace paceline::measure {
namespace {

using std::chrono::milliseconds;

engines::World world_of(int rank, std::shared_ptr<launch::Board> board) {
  engines::World world;
  world.place.rank = rank;
  world.board = std::move(board);
  return world;
}

TEST(Bulletin, ReadsWhatAnotherRankPostsUnderTheSamePrefix) {
  const auto board = std::make_shared<testing::MemoryBoard>();
  Bulletin writer(world_of(0, board), "case/1/", {});
  Bulletin reader(world_of(1, board), "case/1/", {});
  writer.post("done", "");
  EXPECT_EQ(reader.read("done", milliseconds(0)), "");
  EXPECT_FALSE(board->read("done"));
  EXPECT_EQ(board->read("case/1/done"), "");
}

TEST(Bulletin, NobodyPassesTheLineBeforeTheLastHasCome) {
  constexpr int kRanks = 4;
  const auto board = std::make_shared<testing::MemoryBoard>();
  std::atomic<int> came = 0;
  std::atomic<int> early = 0;
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    ranks.emplace_back([&, rank] {
      Bulletin bulletin(world_of(rank, board), "", {});
      for (int round = 1; round <= 20; ++round) {
        ++came;
        bulletin.line_up(std::to_string(round), kRanks, milliseconds(0));
        early += came < round * kRanks ? 1 : 0;
      }
    });
  }
  for (std::thread& rank : ranks) {
    rank.join();
  }
  EXPECT_EQ(early, 0);
}

TEST(Bulletin, PatienceEndsWithTheKeyOfWhoIsMissing) {
  Bulletin bulletin(
      world_of(0, std::make_shared<testing::MemoryBoard>()), "x/", {});
  try {
    bulletin.line_up("start", 2, milliseconds(20));
    FAIL();
  } catch (const WorldError& error) {
    EXPECT_NE(std::string(error.what()).find("'start/arrived/1'"),
              std::string::npos)
        << error.what();
  }
}

TEST(Bulletin, AWaitSaysForWhomAndEndsWhereIdleThrows) {
  std::string told;
  Bulletin bulletin(world_of(0, std::make_shared<testing::MemoryBoard>()),
                    "x/",
                    [&](const std::string& waiting_for) {
                      told = waiting_for;
                      throw UsageError("stop");
                    });
  EXPECT_THROW(bulletin.read("verdict", milliseconds(0)), UsageError);
  EXPECT_EQ(told, "the other ranks");
}

}  // namespace
}  // namespace paceline::measure
