// SPDX-License-Identifier: Apache-2.0
// An emulated link on a clock that only the test moves.
#include "paceline/engines/link.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace paceline::engines {
namespace {

constexpr LinkSpec kLink{.bytes_per_s = 1e9, .latency_ns = 50};  // 1 byte a ns

using Deliveries = std::vector<std::pair<std::int64_t, std::int64_t>>;

Deliveries all(VirtualLink& model, std::int64_t until) {
  Deliveries result;
  for (const auto& one : model.advance(until)) {
    result.emplace_back(one.transfer, one.at_ns);
  }
  return result;
}

TEST(VirtualLink, OneTransferTakesBytesOverRateAndItsLatencies) {
  VirtualLink model(kLink);
  model.start(1000, 400, 2);
  EXPECT_EQ(model.next_delivery(), 1100);  // when its first byte leaves
  EXPECT_EQ(all(model, 1499), Deliveries{});
  EXPECT_EQ(model.next_delivery(), 1500);
  EXPECT_EQ(all(model, 1500), (Deliveries{{0, 1500}}));
  EXPECT_FALSE(model.next_delivery().has_value());
}

TEST(VirtualLink, TransfersInFlightShareTheRate) {
  VirtualLink model({.bytes_per_s = 1e9, .latency_ns = 0});
  model.start(0, 300, 0);
  model.start(100, 100, 0);
  // Alone until 100, then half each: the second one ends after 200 more, the first one has 100
  // bytes left and the link to itself.
  EXPECT_EQ(all(model, 1000), (Deliveries{{1, 300}, {0, 400}}));
}

TEST(VirtualLink, SharingNeitherLosesNorGainsBandwidth) {
  VirtualLink model({.bytes_per_s = 1e9, .latency_ns = 0});
  for (int i = 0; i < 10; ++i) {
    model.start(0, 100, 0);
  }
  const auto delivered = all(model, 5000);
  ASSERT_EQ(delivered.size(), 10U);
  EXPECT_EQ(delivered.back().second, 1000);
}

TEST(VirtualLink, NothingToSendTakesTheLatencyAlone) {
  VirtualLink model(kLink);
  model.start(10, 0, 1);
  EXPECT_EQ(all(model, 100), (Deliveries{{0, 60}}));
}

TEST(VirtualLink, ALaneCarriesSoManyAndTheNextWhenOneIsDelivered) {
  VirtualLink model(kLink);
  const auto lane = model.add_lane(2);
  for (int i = 0; i < 3; ++i) {
    model.start(0, 100, 1, lane);
  }
  // Two share until 200 and arrive at 250; the third has the link then.
  EXPECT_EQ(all(model, 399), (Deliveries{{0, 250}, {1, 250}}));
  EXPECT_EQ(model.next_delivery(), 400);
  EXPECT_EQ(all(model, 400), (Deliveries{{2, 400}}));
}

TEST(VirtualLink, LanesShareTheRate) {
  VirtualLink model({.bytes_per_s = 1e9, .latency_ns = 0});
  const auto one = model.add_lane(1), other = model.add_lane(1);
  model.start(0, 100, 0, one);
  model.start(0, 100, 0, one);
  model.start(0, 300, 0, other);
  // The first two in turn beside the third: 200, 400, then 100 alone.
  EXPECT_EQ(all(model, 1000), (Deliveries{{0, 200}, {1, 400}, {2, 500}}));
}

TEST(VirtualLink, WhatIsKnownLateIsTheSame) {
  VirtualLink in_order(kLink), late(kLink);
  const auto lane = in_order.add_lane(1);
  late.add_lane(1);
  in_order.start(0, 100, 1, lane);
  in_order.start(10, 200, 1);
  in_order.start(20, 100, 1, lane);
  all(late, 40);
  late.start(20, 100, 1, lane);
  all(late, 60);
  late.start(10, 200, 1);
  late.start(0, 100, 1, lane);
  const Deliveries expected = all(in_order, 1000);
  Deliveries found = all(late, 1000);
  for (auto& [transfer, at] : found) {
    transfer = 2 - transfer;  // they were told in reverse order
  }
  EXPECT_EQ(expected.size(), 3U);
  EXPECT_EQ(found, expected);
}

TEST(VirtualLink, SeenLateItIsTheSame) {
  VirtualLink seen(kLink), unseen(kLink);
  Deliveries step_by_step;
  for (VirtualLink* model : {&seen, &unseen}) {
    const auto lane = model->add_lane(1);
    for (int i = 0; i < 5; ++i) {
      model->start(0, 100 + i, i, lane);
    }
  }
  for (std::int64_t now = 0; now <= 2000; ++now) {
    for (const auto& one : all(seen, now)) {
      EXPECT_EQ(one.second, now);
      step_by_step.push_back(one);
    }
  }
  EXPECT_EQ(step_by_step.size(), 5U);
  EXPECT_EQ(all(unseen, 2000), step_by_step);
}

/// A link, its clock, and what has been called.
struct FakeLink {
  std::int64_t now = 0;
  std::vector<std::string> events;
  Link link{kLink, [this] { return now; }};

  Link::Ticket start(const std::string& name, std::int64_t bytes) {
    return link.start(
        bytes, 1,
        [this, name](const std::exception_ptr& error) {
          events.push_back(name + (error ? " failed" : ""));
        },
        LinkedOperationKey{.channel = name});
  }
  /// A message that began at `began_ns`, as the link is told now.
  Link::Ticket receive(const std::string& name, std::int64_t bytes, std::int64_t began_ns,
                       VirtualLink::Lane lane = VirtualLink::kUnlimitedLane) {
    return link.receive(
        {.name = {.channel = name}, .bytes = bytes, .began_ns = began_ns, .lane = lane},
        [this, name](const std::exception_ptr& /*error*/) { events.push_back(name); });
  }
  std::vector<std::int64_t> take_slack() {
    std::vector<std::int64_t> slack;
    for (const LinkedOperation& one : link.take_operations()) {
      slack.push_back(one.slack_ns());
    }
    return slack;
  }
  void at(std::int64_t time) {
    now = time;
    link.poll();
  }
};

TEST(Link, AnInstantEngineIsHeldUntilTheLinkDelivers) {
  FakeLink f;
  f.link.engine_done(f.start("a", 100), nullptr);
  f.at(149);
  EXPECT_TRUE(f.events.empty());
  f.at(150);
  EXPECT_EQ(f.events, std::vector<std::string>{"a"});
  const auto operations = f.link.take_operations();
  ASSERT_EQ(operations.size(), 1U);
  EXPECT_EQ(operations[0].name.channel, "a");
  EXPECT_EQ(operations[0].issued_ns, 0);
  EXPECT_EQ(operations[0].modelled_ns, 150);
  EXPECT_EQ(operations[0].engine_ns, 0);
  EXPECT_TRUE(f.take_slack().empty());
}

TEST(Link, ASlowEngineEndsWhenItEndsAndItsSlackIsNegative) {
  FakeLink f;
  const auto ticket = f.start("a", 100);
  f.at(400);
  EXPECT_TRUE(f.events.empty());
  f.link.engine_done(ticket, nullptr);
  f.at(400);
  EXPECT_EQ(f.events, std::vector<std::string>{"a"});
  EXPECT_EQ(f.take_slack(), std::vector<std::int64_t>{-250});
}

TEST(Link, OperationsInFlightDelayEachOther) {
  FakeLink f;
  f.link.engine_done(f.start("a", 100), nullptr);
  f.link.engine_done(f.start("b", 100), nullptr);
  f.at(249);
  EXPECT_TRUE(f.events.empty());
  f.at(250);
  EXPECT_EQ(f.events, (std::vector<std::string>{"a", "b"}));
}

TEST(Link, AnEngineThatFailsIsToldAtOnce) {
  FakeLink f;
  f.link.engine_done(f.start("a", 100),
                     std::make_exception_ptr(std::runtime_error("connection lost")));
  EXPECT_EQ(f.events, std::vector<std::string>{"a failed"});
  f.at(1000);
  EXPECT_EQ(f.events.size(), 1U);
  EXPECT_TRUE(f.take_slack().empty());
}

TEST(Link, WhatArrivesDoesNotShareWithWhatLeaves) {
  FakeLink f;
  f.link.engine_done(f.start("out", 100), nullptr);
  f.link.engine_done(f.receive("in", 100, /*began_ns=*/0), nullptr);
  f.at(150);
  EXPECT_EQ(f.events.size(), 2U);
  EXPECT_EQ(f.take_slack().size(), 2U);
}

// The link brings it in 150, whatever the engine takes of that.
TEST(Link, TheEnginesTimeForAMessageIsWithinTheLinks) {
  FakeLink f;
  f.at(100);
  const auto ticket = f.receive("in", 100, /*began_ns=*/100);
  f.at(240);
  f.link.engine_done(ticket, nullptr);
  f.at(249);
  EXPECT_TRUE(f.events.empty());
  f.at(250);
  EXPECT_EQ(f.events, std::vector<std::string>{"in"});
  EXPECT_EQ(f.take_slack(), std::vector<std::int64_t>{10});
}

TEST(Link, AMessageThatTheEngineBringsLateHasNegativeSlack) {
  FakeLink f;
  const auto ticket = f.receive("in", 100, /*began_ns=*/0);
  f.at(400);
  EXPECT_TRUE(f.events.empty());
  f.link.engine_done(ticket, nullptr);
  f.at(410);
  EXPECT_EQ(f.events, std::vector<std::string>{"in"});
  const auto operations = f.link.take_operations();
  ASSERT_EQ(operations.size(), 1U);
  EXPECT_EQ(operations[0].slack_ns(), -250);
}

// The link is told of both when it would have begun to deliver the first.
TEST(Link, MessagesKnownLateEndAsIfTheyHadBeenKnown) {
  FakeLink f;
  f.at(70);
  f.link.engine_done(f.receive("b", 100, /*began_ns=*/20), nullptr);
  f.link.engine_done(f.receive("a", 100, /*began_ns=*/0), nullptr);
  // a alone from 50 to 70, then both share: a has 80 left, b 100.
  f.at(229);
  EXPECT_TRUE(f.events.empty());
  f.at(230);
  EXPECT_EQ(f.events, std::vector<std::string>{"a"});
  f.at(249);
  EXPECT_EQ(f.events.size(), 1U);
  f.at(250);
  EXPECT_EQ(f.events, (std::vector<std::string>{"a", "b"}));
}

TEST(Link, AMessageKnownWhenItShouldHaveEndedEndsAtOnce) {
  FakeLink f;
  f.at(400);
  f.link.engine_done(f.receive("in", 100, /*began_ns=*/0), nullptr);
  f.at(400);
  const auto operations = f.link.take_operations();
  ASSERT_EQ(operations.size(), 1U);
  EXPECT_EQ(operations[0].modelled_ns, 150);
  EXPECT_EQ(operations[0].slack_ns(), -250);
}

TEST(Link, AMessageEndsWhenItsSendersLinkHasEndedIt) {
  FakeLink f;
  f.link.engine_done(
      f.link.receive({.name = {.channel = "in"}, .bytes = 100, .sender_end_ns = 250},
                     [&](const std::exception_ptr& /*error*/) { f.events.emplace_back("in"); }),
      nullptr);
  f.at(249);
  EXPECT_TRUE(f.events.empty());
  f.at(250);
  EXPECT_EQ(f.events, std::vector<std::string>{"in"});
  EXPECT_EQ(f.take_slack(), std::vector<std::int64_t>{250});
}

TEST(Link, SaysWhenWhatIsInFlightWillBeDelivered) {
  FakeLink f;
  const auto first = f.start("a", 100), second = f.start("b", 100);
  EXPECT_EQ(f.link.delivery_times_of({first, second}), (std::vector<std::int64_t>{250, 250}));
  f.at(100);
  const auto third = f.start("c", 300);
  EXPECT_EQ(f.link.delivery_times_of({third}), std::vector<std::int64_t>{550});
  f.at(300);
  EXPECT_EQ(f.link.delivery_times_of({first, third}), (std::vector<std::int64_t>{0, 550}));
}

TEST(Link, MessagesOfALaneFollowEachOther) {
  FakeLink f;
  const auto lane = f.link.add_lane(1, Link::Direction::kIn);
  f.link.engine_done(f.receive("a", 100, 0, lane), nullptr);
  f.link.engine_done(f.receive("b", 100, 0, lane), nullptr);
  f.at(150);
  EXPECT_EQ(f.events, std::vector<std::string>{"a"});
  f.at(299);
  EXPECT_EQ(f.events.size(), 1U);
  f.at(300);
  EXPECT_EQ(f.events, (std::vector<std::string>{"a", "b"}));
}

TEST(Link, TheRealClockHoldsAsLong) {
  Link link({.bytes_per_s = 1e9, .latency_ns = 20'000'000});
  std::mutex mutex;
  std::condition_variable wake;
  bool done = false;
  const auto began = std::chrono::steady_clock::now();
  link.engine_done(link.start(10'000'000, 1,
                              [&](const std::exception_ptr&) {
                                const std::lock_guard lock(mutex);
                                done = true;
                                wake.notify_all();
                              }),
                   nullptr);
  std::unique_lock lock(mutex);
  ASSERT_TRUE(wake.wait_for(lock, std::chrono::seconds(20), [&] { return done; }));
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(30));
}

}  // namespace
}  // namespace paceline::engines
