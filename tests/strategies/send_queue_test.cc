// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/send_queue.h"

#include <gtest/gtest.h>

namespace paceline::strategies {
namespace {

using Sequence = std::vector<std::size_t>;

Picoseconds per_byte(std::int64_t bytes) { return 10 * bytes; }

TEST(SendQueue, SendsReadyPiecesByPriorityThenByNumber) {
  const std::vector<QueuedPiece> pieces{{0, 2, 1}, {0, 1, 1}, {0, 1, 1}, {0, 0, 1}};
  EXPECT_EQ(starting_order(pieces, 1, per_byte), (Sequence{3, 1, 2, 0}));
}

TEST(SendQueue, ALateUrgentPieceOvertakesWhatWaits) {
  // One piece a 10 ps on the wire; the urgent one is ready at 15.
  const std::vector<QueuedPiece> pieces{{0, 5, 1}, {0, 5, 1}, {0, 5, 1}, {15, 0, 1}};
  EXPECT_EQ(starting_order(pieces, 1, per_byte), (Sequence{0, 1, 3, 2}));
}

TEST(SendQueue, CreditStartsPiecesBeforeTheWireIsFree) {
  const std::vector<QueuedPiece> pieces{{0, 5, 1}, {0, 5, 1}, {0, 5, 1}, {15, 0, 1}};
  EXPECT_EQ(starting_order(pieces, 2, per_byte), (Sequence{0, 1, 2, 3}))
      << "two under way at once: at 10 the third starts";
  EXPECT_EQ(starting_order(pieces, 100, per_byte), (Sequence{0, 1, 2, 3}));
}

TEST(SendQueue, TheLastPieceMayExceedTheCredit) {
  const std::vector<QueuedPiece> pieces{{0, 1, 50}, {0, 2, 50}, {1, 0, 1}};
  EXPECT_EQ(starting_order(pieces, 51, per_byte), (Sequence{0, 1, 2}));
  EXPECT_EQ(starting_order(pieces, 50, per_byte), (Sequence{0, 2, 1}));
}

TEST(SendQueue, WaitsForGradientsThatAreNotReady) {
  const std::vector<QueuedPiece> pieces{{100, 0, 1}, {500, 1, 1}, {0, 2, 1}};
  EXPECT_EQ(starting_order(pieces, 1, per_byte), (Sequence{2, 0, 1}));
  EXPECT_EQ(starting_order({}, 1, per_byte), Sequence{});
}

TEST(SendQueue, KeepsToAnOrderThatItIsGiven) {
  const std::vector<QueuedPiece> pieces{{0, 0, 3}, {50, 0, 1}, {0, 0, 2}};
  // The second is waited for, whatever stands behind it.
  EXPECT_EQ(ends_in_order(pieces, {0, 1, 2}, 1, per_byte), (std::vector<Picoseconds>{30, 60, 80}));
  EXPECT_EQ(ends_in_order(pieces, {2, 0, 1}, 1, per_byte), (std::vector<Picoseconds>{50, 60, 20}));
}

/// A start-up of 8, then a byte a picosecond.
TransferTime two_at_once() {
  return {[](std::int64_t bytes) { return 8 + bytes; }, [](std::int64_t) { return Picoseconds{8}; },
          2};
}

TEST(SendQueue, SharesTheWireWhereTheEngineDoes) {
  const std::vector<QueuedPiece> pieces{{0, 0, 4}, {0, 0, 4}, {13, 0, 4}};
  // Two start up together and flow at half the rate.
  EXPECT_EQ(ends_in_order(pieces, {0, 1, 2}, 100, two_at_once()),
            (std::vector<Picoseconds>{16, 16, 28}));
  EXPECT_EQ(ends_in_order(pieces, {0, 1, 2}, 1, two_at_once()),
            (std::vector<Picoseconds>{12, 24, 36}));
  // A credit of 9 lets the first two start, which are under way when the urgent last one comes at
  // 13; one of 13 lets the third start as well.
  const std::vector<QueuedPiece> late{{0, 5, 8}, {0, 5, 4}, {0, 6, 4}, {13, 0, 4}};
  EXPECT_EQ(starting_order(late, 9, two_at_once()), (Sequence{0, 1, 3, 2}));
  EXPECT_EQ(starting_order(late, 13, two_at_once()), (Sequence{0, 1, 2, 3}));
}

}  // namespace
}  // namespace paceline::strategies
