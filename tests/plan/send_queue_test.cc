// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/send_queue.h"

#include <gtest/gtest.h>

namespace paceline::plan {
namespace {

using Order = std::vector<std::size_t>;

Picoseconds per_byte(std::int64_t bytes) {
  return 10 * bytes;
}

TEST(SendQueue, SendsReadyPiecesByPriorityThenByNumber) {
  const std::vector<Piece> pieces{{0, 2, 1}, {0, 1, 1}, {0, 1, 1}, {0, 0, 1}};
  EXPECT_EQ(starting_order(pieces, 1, per_byte), (Order{3, 1, 2, 0}));
}

TEST(SendQueue, ALateUrgentPieceOvertakesWhatWaits) {
  // One piece a 10 ps on the wire; the urgent one is ready at 15.
  const std::vector<Piece> pieces{{0, 5, 1}, {0, 5, 1}, {0, 5, 1}, {15, 0, 1}};
  EXPECT_EQ(starting_order(pieces, 1, per_byte), (Order{0, 1, 3, 2}));
}

TEST(SendQueue, CreditStartsPiecesBeforeTheWireIsFree) {
  const std::vector<Piece> pieces{{0, 5, 1}, {0, 5, 1}, {0, 5, 1}, {15, 0, 1}};
  EXPECT_EQ(starting_order(pieces, 2, per_byte), (Order{0, 1, 2, 3}))
      << "two under way at once: at 10 the third starts";
  EXPECT_EQ(starting_order(pieces, 100, per_byte), (Order{0, 1, 2, 3}));
}

TEST(SendQueue, TheLastPieceMayExceedTheCredit) {
  const std::vector<Piece> pieces{{0, 1, 50}, {0, 2, 50}, {1, 0, 1}};
  EXPECT_EQ(starting_order(pieces, 51, per_byte), (Order{0, 1, 2}));
  EXPECT_EQ(starting_order(pieces, 50, per_byte), (Order{0, 2, 1}));
}

TEST(SendQueue, WaitsForGradientsThatAreNotReady) {
  const std::vector<Piece> pieces{{100, 0, 1}, {500, 1, 1}, {0, 2, 1}};
  EXPECT_EQ(starting_order(pieces, 1, per_byte), (Order{2, 0, 1}));
  EXPECT_EQ(starting_order({}, 1, per_byte), Order{});
}

}  // namespace
}  // namespace paceline::plan
