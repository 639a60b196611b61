// SPDX-License-Identifier: Apache-2.0
#include "paceline/bench/bulletin.h"

#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"

namespace paceline::bench {
namespace {

using std::chrono::milliseconds;

class MapBoard final : public launch::Board {
 public:
  void post(const std::string& key, const std::string& text) override {
    const std::lock_guard lock(mutex_);
    texts_[key] = text;
  }
  std::string post_first(const std::string& key,
                         const std::string& text) override {
    const std::lock_guard lock(mutex_);
    return texts_.emplace(key, text).first->second;
  }
  std::optional<std::string> read(const std::string& key) override {
    const std::lock_guard lock(mutex_);
    const auto found = texts_.find(key);
    return found == texts_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> texts_;
};

comm::World world_of(int rank, std::shared_ptr<launch::Board> board) {
  comm::World world;
  world.place.rank = rank;
  world.board = std::move(board);
  return world;
}

TEST(Bulletin, ReadsWhatAnotherRankPostsUnderTheSamePrefix) {
  const auto board = std::make_shared<MapBoard>();
  Bulletin writer(world_of(0, board), "case/1/", {});
  Bulletin reader(world_of(1, board), "case/1/", {});
  writer.post("done", "");
  EXPECT_EQ(reader.read("done", milliseconds(0)), "");
  EXPECT_FALSE(board->read("done"));
  EXPECT_EQ(board->read("case/1/done"), "");
}

TEST(Bulletin, NobodyPassesTheLineBeforeTheLastHasCome) {
  constexpr int kRanks = 4;
  const auto board = std::make_shared<MapBoard>();
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
  Bulletin bulletin(world_of(0, std::make_shared<MapBoard>()), "x/", {});
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
  Bulletin bulletin(world_of(0, std::make_shared<MapBoard>()),
                    "x/",
                    [&](const std::string& waiting_for) {
                      told = waiting_for;
                      throw UsageError("stop");
                    });
  EXPECT_THROW(bulletin.read("verdict", milliseconds(0)), UsageError);
  EXPECT_EQ(told, "the other ranks");
}

}  // namespace
}  // namespace paceline::bench
