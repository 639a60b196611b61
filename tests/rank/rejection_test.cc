// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/rejection.h"

#include <gtest/gtest.h>

#include "launch/memory_store.h"
#include "paceline/base/error.h"

namespace paceline::rank {
namespace {

using testing::MemoryStore;

constexpr auto kNothing = [] {};

TEST(Rejection, OfOneRankIsThatOfAllThatWaitForIt) {
  const auto store = std::make_shared<MemoryStore>();
  Rejection server(store, true), worker(store, true);
  const auto reject = [] { throw UsageError("9000 messages a step"); };
  EXPECT_EQ(server.of("case/0/rejected", reject), "9000 messages a step");
  const auto wait = [&] { worker.throw_if_rejected(); };
  EXPECT_EQ(worker.of("case/0/rejected", wait), "9000 messages a step");
  EXPECT_EQ(worker.of("case/1/rejected", wait), std::nullopt);
}

TEST(Rejection, IsTheFirstOneWhereRanksRejectForReasonsOfTheirOwn) {
  const auto store = std::make_shared<MemoryStore>();
  Rejection one(store, true), two(store, true);
  EXPECT_EQ(one.of("rejected", [] { throw UsageError("first"); }), "first");
  EXPECT_EQ(two.of("rejected", [] { throw UsageError("second"); }), "first");
}

TEST(Rejection, ExplainsWhatFailsWithoutTheRankThatRejects) {
  const auto store = std::make_shared<MemoryStore>();
  Rejection one(store, true);
  const auto fail = [] { throw PeerTimeout("no answer"); };
  EXPECT_THROW(one.of("rejected", fail), PeerTimeout);
  store->set("rejected", "why");
  EXPECT_EQ(one.of("rejected", fail), "why");
}

TEST(Rejection, IsNoneOnceTheCaseIsAccepted) {
  const auto store = std::make_shared<MemoryStore>();
  Rejection one(store, true);
  const auto fail = [&] {
    one.accept();
    throw UsageError("a class beyond the last");
  };
  EXPECT_THROW(one.of("rejected", fail), UsageError);
  EXPECT_FALSE(store->get("rejected"));
}

TEST(Rejection, EndsTheJobWhereNoOtherCaseGoesOn) {
  const auto store = std::make_shared<MemoryStore>();
  Rejection one(store, false);
  EXPECT_THROW(one.of("rejected", [] { throw UsageError("why"); }), UsageError);
  EXPECT_FALSE(store->get("rejected"));
}

TEST(Rejection, HoldsForItsCaseAlone) {
  const auto store = std::make_shared<MemoryStore>();
  Rejection one(store, true);
  store->set("rejected", "why");
  EXPECT_NO_THROW(one.throw_if_rejected());
  EXPECT_EQ(one.of("rejected", kNothing), std::nullopt);
  EXPECT_NO_THROW(one.throw_if_rejected());
}

}  // namespace
}  // namespace paceline::rank
