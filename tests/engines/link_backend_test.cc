// SPDX-License-Identifier: Apache-2.0
// The emulated link around an engine that takes no time at all.
#include "paceline/engines/link_backend.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "paceline/base/clock.h"
#include "paceline/engines/backend_channel.h"

namespace paceline::engines {
namespace {

/// Done before it is asked.
class InstantWork final : public c10d::Work {
 public:
  bool wait(std::chrono::milliseconds /*timeout*/) override { return true; }
};

/// Four ranks of which three are imagined: every operation ends at once.
class InstantBackend final : public c10d::Backend {
 public:
  InstantBackend() : c10d::Backend(0, 4) {}
  const std::string getBackendName() const override { return "instant"; }
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& /*tensors*/,
                                           const c10d::AllreduceOptions& /*options*/) override {
    return c10::make_intrusive<InstantWork>();
  }
  c10::intrusive_ptr<c10d::Work> _allgather_base(
      at::Tensor& /*output*/, at::Tensor& /*input*/,
      const c10d::AllgatherOptions& /*options*/) override {
    return c10::make_intrusive<InstantWork>();
  }
};

struct LinkedChannel {
  std::atomic<std::int64_t> now{0};
  std::shared_ptr<Link> link = std::make_shared<Link>(
      LinkSpec{.bytes_per_s = 1e9, .latency_ns = 10}, [this] { return now.load(); });
  std::unique_ptr<Channel> channel = make_backend_channel(
      c10::make_intrusive<InstantBackend>(), {.name = "linked",
                                              .store = c10::make_intrusive<c10d::HashStore>(),
                                              .rank = 0,
                                              .world = 4,
                                              .interface = "",
                                              .link = link});

  /// What the link has delivered at `time`, once the waiters have told it of
  /// `operations`.
  std::vector<LinkedOperation> at(std::int64_t time, std::size_t operations) {
    now = time;
    std::vector<LinkedOperation> all;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (all.size() < operations && std::chrono::steady_clock::now() < deadline) {
      link->poll();
      for (LinkedOperation& one : link->take_operations()) {
        all.push_back(std::move(one));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return all;
  }
};

TEST(LinkBackend, AnAllReduceTakesItsWireBytesAndRingLatencies) {
  LinkedChannel l;
  const at::Tensor values = at::zeros({1000});  // 4000 B, 6000 on the wire
  const auto work = l.channel->all_reduce(values, plan::Reduce::kSum);
  l.now = 6059;
  l.link->poll();
  EXPECT_FALSE(work->isCompleted());
  const auto ended = l.at(6060, 1);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].modelled_ns, 6060);
  EXPECT_EQ(ended[0].name, (LinkedOperationKey{.channel = "linked", .index = 0, .members = 4}));
  EXPECT_TRUE(work->isCompleted());
  EXPECT_TRUE(work->getFuture()->completed());
  EXPECT_EQ(l.channel->ledger().total_bytes(), 6000);
}

TEST(LinkBackend, TwoOperationsShareTheLink) {
  LinkedChannel l;
  const at::Tensor a = at::zeros({1000}), b = at::zeros({1000});
  const auto first = l.channel->all_reduce(a, plan::Reduce::kSum);
  const auto second = l.channel->all_reduce(b, plan::Reduce::kSum);
  const auto ended = l.at(12'060, 2);
  ASSERT_EQ(ended.size(), 2U);
  EXPECT_EQ(ended[0].modelled_ns, 12'060);
  EXPECT_EQ(ended[1].modelled_ns, 12'060);
  EXPECT_EQ(ended[1].name.index, 1);
  EXPECT_TRUE(first->isCompleted() && second->isCompleted());
}

TEST(LinkBackend, BehindItValuesAreTheEnginesAndTimeIsTheLinks) {
  auto store = c10::make_intrusive<c10d::HashStore>();
  std::vector<std::thread> ranks;
  std::vector<double> seconds(2), values(2);
  for (int rank = 0; rank < 2; ++rank) {
    ranks.emplace_back([&, rank] {
      const auto link =
          std::make_shared<Link>(LinkSpec{.bytes_per_s = 1e6, .latency_ns = 1'000'000});
      const auto channel = make_engine("gloo")->connect({.name = "slow",
                                                         .store = store,
                                                         .rank = rank,
                                                         .world = 2,
                                                         .interface = "lo",
                                                         .link = link});
      const at::Tensor tensor = at::full({12'500}, rank + 1.0);
      const auto began = std::chrono::steady_clock::now();
      channel->all_reduce(tensor, plan::Reduce::kSum)->wait();
      const std::size_t r = static_cast<std::size_t>(rank);
      seconds[r] = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      values[r] = tensor[777].item<double>();
      channel->barrier()->wait();
    });
  }
  for (auto& rank : ranks) {
    rank.join();
  }
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(values[r], 3);
    EXPECT_GE(seconds[r], 0.052);  // 50 kB at 1 MB/s and two latencies
  }
}

/// Rank 0's operations of `count` all-reduces over Gloo behind such a link, all in flight together,
/// and how long they took.
std::pair<std::vector<LinkedOperation>, std::int64_t> all_reduces(const LinkSpec& spec, int world,
                                                                  int count,
                                                                  std::int64_t elements) {
  auto store = c10::make_intrusive<c10d::HashStore>();
  std::vector<std::thread> ranks;
  std::pair<std::vector<LinkedOperation>, std::int64_t> result;
  for (int rank = 0; rank < world; ++rank) {
    ranks.emplace_back([&, rank] {
      const auto link = std::make_shared<Link>(spec);
      const auto channel = make_engine("gloo")->connect({.name = "many",
                                                         .store = store,
                                                         .rank = rank,
                                                         .world = world,
                                                         .interface = "lo",
                                                         .link = link});
      const std::int64_t began = steady_ns();
      std::vector<at::Tensor> tensors;
      std::vector<Channel::Work> works;
      for (int i = 0; i < count; ++i) {
        tensors.push_back(at::full({elements}, rank + 1.0));
        works.push_back(channel->all_reduce(tensors.back(), plan::Reduce::kSum));
      }
      for (const auto& work : works) {
        work->wait();
      }
      if (rank == 0) {
        result = {link->take_operations(), steady_ns() - began};
      }
      for (const at::Tensor& tensor : tensors) {
        EXPECT_EQ(tensor[0].item<double>(), world * (world + 1) / 2);
      }
      channel->barrier()->wait();
    });
  }
  for (auto& rank : ranks) {
    rank.join();
  }
  return result;
}

TEST(LinkBackend, OperationsOfThreeRanksShareEachRanksLink) {
  constexpr int kWorld = 3, kCount = 4;
  constexpr std::int64_t kElements = 3'000;
  const LinkSpec spec{.bytes_per_s = 4e6, .latency_ns = 1'000'000};
  const auto [operations, took_ns] = all_reduces(spec, kWorld, kCount, kElements);
  // 16 kB on the wire each: 4 ms alone, 16 ms for all, and 4 latencies.
  EXPECT_GE(took_ns, 16'000'000 + 4'000'000);
  ASSERT_EQ(operations.size(), static_cast<std::size_t>(kCount));
  std::int64_t last = 0;
  for (const LinkedOperation& one : operations) {
    EXPECT_GE(one.modelled_ns - one.issued_ns, 4'000'000 + 4'000'000);
    last = std::max(last, one.modelled_ns);
  }
  EXPECT_GE(last - operations[0].issued_ns, 16'000'000 + 4'000'000);
}

/// The operations of each of three ranks, of which the first sends the others
/// `elements` each in one exchange behind such a link.
std::vector<std::vector<LinkedOperation>> messages_of_one(const LinkSpec& spec,
                                                          std::int64_t elements) {
  auto store = c10::make_intrusive<c10d::HashStore>();
  std::vector<std::vector<LinkedOperation>> all(3);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    ranks.emplace_back([&, rank] {
      const auto link = std::make_shared<Link>(spec);
      const auto channel = make_engine("gloo")->connect({.name = "star",
                                                         .store = store,
                                                         .rank = rank,
                                                         .world = 3,
                                                         .interface = "lo",
                                                         .link = link});
      const at::Tensor values = at::full({elements}, rank + 1.0);
      const auto works = rank == 0 ? channel->exchange({{values, 1, 5}, {values, 2, 5}}, {})
                                   : channel->exchange({}, {{values, 0, 5}});
      for (const auto& work : works) {
        work->wait();
      }
      EXPECT_EQ(values[elements - 1].item<double>(), 1);
      EXPECT_EQ(channel->ledger().total_bytes(), rank == 0 ? 2 * 4 * elements : 0)
          << "without stamps";
      channel->barrier()->wait();
      all[static_cast<std::size_t>(rank)] = link->take_operations();
    });
  }
  for (auto& rank : ranks) {
    rank.join();
  }
  return all;
}

// 12 kB each at 4 MB/s: 3 ms alone, 6 ms where they share the sender's link, which the first one
// has to itself until the second one begins.
TEST(LinkBackend, AReceiverSeesThatItsSendersLinkIsShared) {
  constexpr std::int64_t kShared = 6'000'000 + 1'000'000;
  const auto operations = messages_of_one({.bytes_per_s = 4e6, .latency_ns = 1'000'000}, 3'000);
  ASSERT_EQ(operations[0].size(), 2U);
  const std::int64_t first_ns = operations[0][0].issued_ns;
  const std::int64_t alone_ns = operations[0][1].issued_ns - first_ns;
  for (const std::size_t rank : {1, 2}) {
    ASSERT_EQ(operations[rank].size(), 1U);
    const LinkedOperation& received = operations[rank][0];
    const LinkedOperation& sent = operations[0][rank - 1];
    EXPECT_EQ(received.name, sent.name);
    EXPECT_GE(sent.modelled_ns, first_ns + kShared - alone_ns);
    EXPECT_GE(received.modelled_ns, sent.modelled_ns);
  }
}

TEST(LinkBackend, NoEngineKeepsUpWithALinkThatTakesNoTime) {
  const auto [operations, took_ns] =
      all_reduces({.bytes_per_s = 1.25e13, .latency_ns = 0}, 2, 1, 1'000'000);
  ASSERT_EQ(operations.size(), 1U);
  EXPECT_LT(operations[0].slack_ns(), 0);
}

}  // namespace
}  // namespace paceline::engines
