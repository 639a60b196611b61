// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/refusal.h"

#include <gtest/gtest.h>

#include "launch/memory_store.h"
#include "paceline/base/error.h"

namespace paceline::rank {
namespace {

using testing::MemoryStore;

constexpr auto kNothing = [] {};

TEST(Refusal, OfOneRankIsThatOfAllThatWaitForIt) {
  const auto store = std::make_shared<MemoryStore>();
  Refusal server(store, true), worker(store, true);
  const auto refuse = [] { throw UsageError("9000 messages a step"); };
  EXPECT_EQ(server.of("case/0/refused", refuse), "9000 messages a step");
  const auto wait = [&] { worker.throw_if_refused(); };
  EXPECT_EQ(worker.of("case/0/refused", wait), "9000 messages a step");
  EXPECT_EQ(worker.of("case/1/refused", wait), std::nullopt);
}

TEST(Refusal, IsTheFirstOneWhereRanksRefuseForReasonsOfTheirOwn) {
  const auto store = std::make_shared<MemoryStore>();
  Refusal one(store, true), two(store, true);
  EXPECT_EQ(one.of("refused", [] { throw UsageError("first"); }), "first");
  EXPECT_EQ(two.of("refused", [] { throw UsageError("second"); }), "first");
}

TEST(Refusal, ExplainsWhatFailsWithoutTheRankThatRefuses) {
  const auto store = std::make_shared<MemoryStore>();
  Refusal one(store, true);
  const auto fail = [] { throw PeerTimeout("no answer"); };
  EXPECT_THROW(one.of("refused", fail), PeerTimeout);
  store->set("refused", "why");
  EXPECT_EQ(one.of("refused", fail), "why");
}

TEST(Refusal, IsNoneOnceTheCaseIsAccepted) {
  const auto store = std::make_shared<MemoryStore>();
  Refusal one(store, true);
  const auto fail = [&] {
    one.accept();
    throw UsageError("a class beyond the last");
  };
  EXPECT_THROW(one.of("refused", fail), UsageError);
  EXPECT_FALSE(store->get("refused"));
}

TEST(Refusal, EndsTheJobWhereNoOtherCaseGoesOn) {
  const auto store = std::make_shared<MemoryStore>();
  Refusal one(store, false);
  EXPECT_THROW(one.of("refused", [] { throw UsageError("why"); }), UsageError);
  EXPECT_FALSE(store->get("refused"));
}

TEST(Refusal, HoldsForItsCaseAlone) {
  const auto store = std::make_shared<MemoryStore>();
  Refusal one(store, true);
  store->set("refused", "why");
  EXPECT_NO_THROW(one.throw_if_refused());
  EXPECT_EQ(one.of("refused", kNothing), std::nullopt);
  EXPECT_NO_THROW(one.throw_if_refused());
}

}  // namespace
}  // namespace paceline::rank
