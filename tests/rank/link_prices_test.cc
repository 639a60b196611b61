// SPDX-License-Identifier: Apache-2.0
// The emulated link and the simulator give a message the same time.  What the simulator starts at
// some time is given to channels behind links then, over an engine that takes no time.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "engines/controlled_work.h"
#include "paceline/engines/backend_channel.h"
#include "paceline/engines/link.h"
#include "simulator/message_plans.h"
#include "simulator/toy.h"

namespace paceline {
namespace {

using engines::Channel;
using engines::Link;

constexpr std::int64_t kBytesPerS = 10'000'000;  // 100 us for a toy's tensor
constexpr std::int64_t kLatencyNs = 3'000;

/// Its messages have arrived when they are sent.
class InstantBackend final : public c10d::Backend {
 public:
  using c10d::Backend::Backend;
  const std::string getBackendName() const override { return "instant"; }
  c10::intrusive_ptr<c10d::Work> send(std::vector<at::Tensor>& /*tensors*/, int /*to*/,
                                      int /*tag*/) override {
    return done();
  }
  c10::intrusive_ptr<c10d::Work> recv(std::vector<at::Tensor>& /*tensors*/, int /*from*/,
                                      int /*tag*/) override {
    return done();
  }

 private:
  static c10::intrusive_ptr<c10d::Work> done() {
    auto work = c10::make_intrusive<testing::ControlledWork>(/*has_future=*/true);
    work->end();
    return work;
  }
};

struct PricedMessage {
  int from = 0, to = 0;
  std::int64_t bytes = 0, start_ns = 0, end_ns = 0;
};

/// Nanoseconds, rounded up.
std::int64_t ns(plan::Picoseconds time) {
  return (time + plan::kPicosecondsPerNanosecond - 1) / plan::kPicosecondsPerNanosecond;
}

/// The messages of two simulated steps, in the order of their starts.
std::vector<PricedMessage> simulated(const plan::Planner& planner, const plan::PlanInput& input) {
  auto costs = simulator::toy_costs(input);
  costs.machine.device =
      costs.machine.network = {.bytes_per_s = kBytesPerS,
                               .latency = kLatencyNs * plan::kPicosecondsPerNanosecond,
                               .sharing = cluster::LinkSharing::kDevice};
  costs.machine.servers_have_links = true;
  const auto job = simulator::compile(planner, input, {.steps = 2, .fold = false});
  simulator::Simulator simulation(job);
  simulation.run(costs);
  std::vector<PricedMessage> all;
  for (std::size_t t = 0; t < job.transfers.size(); ++t) {
    const simulator::Transfer& transfer = job.transfers[t];
    const auto shape = static_cast<std::size_t>(transfer.shape);
    PricedMessage one{.bytes = job.message_shapes[shape].bytes};
    for (std::uint32_t e = 0; e < transfer.device_ends; ++e) {
      const auto& end = job.device_ends[transfer.first_device_end + e];
      (end.out ? one.from : one.to) = static_cast<int>(job.actors[end.actor].rank);
    }
    for (std::uint32_t i = 0; i < transfer.items; ++i) {
      const auto item = job.participants[transfer.first_item + i];
      one.start_ns = std::max(one.start_ns, ns(simulation.items()[item].begin));
    }
    one.end_ns = ns(simulation.transfers()[t].end);
    all.push_back(one);
  }
  std::ranges::stable_sort(all, {}, &PricedMessage::start_ns);
  return all;
}

/// Ranks behind links on one clock.
class Emulated {
 public:
  explicit Emulated(int world) {
    for (int rank = 0; rank < world; ++rank) {
      links_.push_back(std::make_shared<Link>(
          engines::LinkSpec{.bytes_per_s = kBytesPerS, .latency_ns = kLatencyNs},
          [this] { return now_; }));
      channels_.push_back(
          engines::make_backend_channel(c10::make_intrusive<InstantBackend>(rank, world),
                                        {.name = "emulated",
                                         .store = c10::make_intrusive<c10d::HashStore>(),
                                         .rank = rank,
                                         .world = world,
                                         .interface = "",
                                         .link = links_.back()}));
    }
  }

  void at(std::int64_t time) {
    now_ = time;
    for (const auto& link : links_) {
      link->poll();
    }
  }

  std::vector<Channel::Work> start(const PricedMessage& message) {
    const at::Tensor values = at::zeros({message.bytes / 4});
    const int tag = tags_[{message.from, message.to}]++;
    auto works = channel(message.from).exchange({{values, message.to, tag}}, {});
    const auto received = channel(message.to).exchange({}, {{values, message.from, tag}});
    works.insert(works.end(), received.begin(), received.end());
    return works;
  }

 private:
  Channel& channel(int rank) { return *channels_[static_cast<std::size_t>(rank)]; }

  std::int64_t now_ = 0;
  std::vector<std::shared_ptr<Link>> links_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::map<std::pair<int, int>, int> tags_;
};

bool ended(const std::vector<Channel::Work>& works) {
  return std::ranges::all_of(works, [](const Channel::Work& work) { return work->isCompleted(); });
}

void expect_equal_times(const plan::Planner& planner, const plan::PlanInput& input,
                        std::size_t messages) {
  const std::vector<PricedMessage> all = simulated(planner, input);
  ASSERT_EQ(all.size(), messages);
  Emulated emulated(static_cast<int>(input.world));
  std::set<std::int64_t> times;
  for (const PricedMessage& one : all) {
    times.insert({one.start_ns, one.end_ns - 1, one.end_ns});
  }
  std::vector<std::vector<Channel::Work>> works;
  for (const std::int64_t time : times) {
    emulated.at(time);
    while (works.size() < all.size() && all[works.size()].start_ns == time) {
      works.push_back(emulated.start(all[works.size()]));
    }
    for (std::size_t i = 0; i < works.size(); ++i) {
      EXPECT_EQ(ended(works[i]), time >= all[i].end_ns)
          << "message " << i << " from rank " << all[i].from << " to " << all[i].to << " at "
          << time << " ns, ends at " << all[i].end_ns;
    }
  }
}

TEST(LinkPrices, AQueueOfMessagesToOneServer) {
  expect_equal_times(simulator::Servers(1), simulator::toy_input(3, 2), 2 * 6);
}

TEST(LinkPrices, TwoWorkersPushToTwoServersAndPull) {
  expect_equal_times(simulator::Servers(2), simulator::toy_input(3, 4), 2 * 12);
}

TEST(LinkPrices, OneWorkersLinkIsSharedByItsServers) {
  expect_equal_times(simulator::Servers(2), simulator::toy_input(4, 3), 2 * 8);
}

TEST(LinkPrices, NeighborsShareEachRanksLink) {
  expect_equal_times(simulator::Neighbors({1, 2}), simulator::toy_input(2, 5), 2 * 10);
}

}  // namespace
}  // namespace paceline
