// SPDX-License-Identifier: Apache-2.0
// What every engine must do, on real processes:
//
//   engine_conformance_test launch ENGINE RANKS DEVICE
//
// starts the ranks, each of which runs all tests below, all in the same order; a test is
// collective.
#include "engines/engine_conformance.h"

#include <chrono>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/engines/failure.h"

namespace paceline::testing {
namespace {

using engines::Channel;
using plan::Reduce;

constexpr auto kTypes = {at::kFloat, at::kDouble, at::kInt, at::kLong, at::kBFloat16, at::kHalf};

at::TensorOptions of_type(at::ScalarType type) { return at::TensorOptions(type).device(device()); }

// Element i of rank r is i % 7 + r: every sum of four is exact in 8 bits.
at::Tensor values_of(int rank, std::int64_t n, at::ScalarType type) {
  return (at::arange(n, of_type(at::kLong)) % 7 + rank).to(type);
}

at::Tensor sum_of(int world, std::int64_t n, at::ScalarType type) {
  return ((at::arange(n, of_type(at::kLong)) % 7) * world + world * (world - 1) / 2).to(type);
}

TEST(Conformance, all_reduce_of_every_type_is_exact) {
  const auto channel = connect("all-reduce");
  for (const auto type : kTypes) {
    for (const std::int64_t n : {1, 1001, 300'000}) {
      const auto sum = values_of(channel->rank(), n, type);
      channel->all_reduce(sum, Reduce::kSum)->wait();
      EXPECT_TRUE(sum.equal(sum_of(channel->world(), n, type))) << type << ' ' << n;
      const auto largest = values_of(channel->rank(), n, type);
      channel->all_reduce(largest, Reduce::kMax)->wait();
      EXPECT_TRUE(largest.equal(values_of(channel->world() - 1, n, type))) << type << ' ' << n;
    }
  }
}

// Two large integers whose sum bf16 rounds: to even, as libtorch does.
TEST(Conformance, bf16_sums_round_to_nearest_even) {
  const auto channel = connect("rounding");
  for (const auto& [other, sum] : {std::pair{1, 256}, {3, 260}, {2, 258}}) {
    const auto values = at::full({5},
                                 channel->rank() == 0   ? 256
                                 : channel->rank() == 1 ? other
                                                        : 0,
                                 of_type(at::kBFloat16));
    channel->all_reduce(values, Reduce::kSum)->wait();
    EXPECT_TRUE(values.eq(sum).all().item<bool>()) << values << sum;
  }
}

TEST(Conformance, means_divide_the_sum_once) {
  const auto channel = connect("mean");
  const int world = channel->world();
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf}) {
    const auto mean = at::full({9}, world * channel->rank(), of_type(type));
    channel->all_reduce(mean, Reduce::kMean)->wait();
    EXPECT_TRUE(mean.eq(world * (world - 1) / 2).all().item<bool>()) << type;
    const auto shard = at::zeros({3}, of_type(type));
    channel
        ->reduce_scatter(at::full({3 * world}, world * channel->rank(), of_type(type)), shard,
                         Reduce::kMean)
        ->wait();
    EXPECT_TRUE(shard.eq(world * (world - 1) / 2).all().item<bool>()) << type;
  }
  EXPECT_THROW(channel->all_reduce(at::ones({5}, of_type(at::kLong)), Reduce::kMean), UsageError);
}

TEST(Conformance, reduce_scatter_and_all_gather_are_exact) {
  const auto channel = connect("shards");
  const std::int64_t n = 1013;
  const auto all = channel->world() * n;
  for (const auto type : kTypes) {
    const auto want = sum_of(channel->world(), all, type);
    const auto shard = at::zeros({n}, of_type(type));
    channel->reduce_scatter(values_of(channel->rank(), all, type), shard, Reduce::kSum)->wait();
    EXPECT_TRUE(shard.equal(want.narrow(0, n * channel->rank(), n))) << type;
    const auto whole = at::zeros({all}, of_type(type));
    channel->all_gather(shard, whole)->wait();
    EXPECT_TRUE(whole.equal(want)) << type;
  }
}

// A shard may lie in its place in the whole.
TEST(Conformance, shards_may_be_views_of_the_whole) {
  const auto channel = connect("views");
  const std::int64_t n = 1013;
  const auto whole = values_of(channel->rank(), channel->world() * n, at::kInt);
  const auto shard = whole.narrow(0, n * channel->rank(), n);
  channel->reduce_scatter(whole, shard, Reduce::kSum)->wait();
  channel->all_gather(shard, whole)->wait();
  EXPECT_TRUE(whole.equal(sum_of(channel->world(), channel->world() * n, at::kInt)));
}

TEST(Conformance, lists_are_gathered_in_rank_order) {
  const auto channel = connect("lists");
  std::vector<at::Tensor> inputs{values_of(channel->rank(), 12, at::kLong)};
  std::vector<std::vector<at::Tensor>> outputs(1);
  for (int rank = 0; rank < channel->world(); ++rank) {
    outputs[0].push_back(at::zeros({12}, of_type(at::kLong)));
  }
  channel->process_group()->allgather(outputs, inputs)->wait();
  for (int rank = 0; rank < channel->world(); ++rank) {
    EXPECT_TRUE(outputs[0][static_cast<std::size_t>(rank)].equal(values_of(rank, 12, at::kLong)));
  }
}

TEST(Conformance, broadcasts_come_from_their_root) {
  const auto channel = connect("broadcast");
  for (int root = 0; root < channel->world(); ++root) {
    for (const auto type : kTypes) {
      const auto values = values_of(channel->rank(), 1001, type);
      channel->broadcast(values, root)->wait();
      EXPECT_TRUE(values.equal(values_of(root, 1001, type))) << type << root;
    }
  }
}

TEST(Conformance, collectives_in_flight_together_do_not_mix) {
  const auto channel = connect("flight");
  std::vector<at::Tensor> tensors;
  std::vector<Channel::Work> works;
  for (int i = 0; i < 20; ++i) {
    tensors.push_back(values_of(channel->rank() + i, 10 + 997 * i, at::kInt));
    works.push_back(channel->all_reduce(tensors.back(), Reduce::kSum));
  }
  for (std::size_t i = 20; i-- > 0;) {
    works[i]->wait();
    const auto n = tensors[i].numel();
    EXPECT_TRUE(tensors[i].equal(sum_of(channel->world(), n, at::kInt) +
                                 channel->world() * static_cast<int>(i)));
  }
}

// Lengths by tag; sent in ascending order, awaited in descending order.
TEST(Conformance, messages_match_by_tag_out_of_order) {
  const auto channel = connect("messages");
  const int next = (channel->rank() + 1) % channel->world();
  const int previous = (channel->rank() + channel->world() - 1) % channel->world();
  const std::vector<int> tags{0, 1, 5, 1 << 19, (1 << 20) - 1};
  const auto length = [](std::size_t i) { return static_cast<std::int64_t>(i * i * 9973 + 1); };
  std::vector<Channel::Message> sends, receives;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const std::size_t j = tags.size() - 1 - i;
    sends.push_back(
        {values_of(channel->rank() + tags[i] % 11, length(i), at::kFloat), next, tags[i]});
    receives.push_back({at::zeros({length(j)}, of_type(at::kFloat)), previous, tags[j]});
  }
  for (const auto& work : channel->exchange(sends, receives)) {
    work->wait();
  }
  for (const Channel::Message& message : receives) {
    EXPECT_TRUE(message.values.equal(
        values_of(previous + message.tag % 11, message.values.numel(), at::kFloat)))
        << message.tag;
  }
}

// What is behind a message's end keeps its values.
TEST(Conformance, a_message_may_be_shorter_than_its_room) {
  const auto channel = connect("ragged");
  const int next = (channel->rank() + 1) % channel->world();
  const int previous = (channel->rank() + channel->world() - 1) % channel->world();
  constexpr std::int64_t kRoom = 40'000;
  const auto length = [](int rank) { return 10'000 * std::int64_t{rank} + 1; };
  const at::Tensor room = at::full({kRoom}, -1, of_type(at::kFloat));
  const at::Tensor sent = values_of(channel->rank(), length(channel->rank()), at::kFloat);
  for (const auto& work : channel->exchange({{sent, next, 4}}, {{room, previous, 4}})) {
    work->wait();
  }
  const std::int64_t got = length(previous);
  EXPECT_TRUE(room.narrow(0, 0, got).equal(values_of(previous, got, at::kFloat)));
  EXPECT_TRUE(room.narrow(0, got, kRoom - got).eq(-1).all().item<bool>());
}

// No rank leaves before the last has come: what rank 0 sets before it comes, all see.
TEST(Conformance, a_barrier_holds_all_ranks) {
  const auto channel = connect("barrier");
  const auto& store = context().world.store;
  for (int round = 0; round < 5; ++round) {
    const auto key = "round/" + std::to_string(round);
    if (channel->rank() == 0) {
      store->set(key, "came");
      store->get(key);  // the store has it: set() does not wait for that
    }
    channel->barrier()->wait();
    EXPECT_TRUE(store->get(key).has_value());
  }
}

// Even and odd ranks, in groups of their own.
TEST(Conformance, groups_translate_their_ranks) {
  const int rank = context().world.self.rank;
  const int world = context().world.self.world;
  const auto members = plan::Members::spaced(rank % 2, world / 2, 2);
  auto spec = spec_of(rank % 2 == 0 ? "even" : "odd");
  spec.members = members;
  spec.rank = rank / 2;
  spec.world = world / 2;
  const auto channel = engines::make_engine(engine())->connect(spec);
  const auto sum = at::full({3}, rank, of_type(at::kLong));
  channel->all_reduce(sum, Reduce::kSum)->wait();
  std::int64_t want = 0;
  for (const plan::Rank member : members) {
    want += member;
  }
  EXPECT_TRUE(sum.eq(want).all().item<bool>());
  const auto last = at::full({3}, rank, of_type(at::kLong));
  channel->broadcast(last, spec.world - 1)->wait();
  EXPECT_TRUE(last.eq(members.back()).all().item<bool>());
}

TEST(Conformance, futures_complete_without_a_wait) {
  const auto channel = connect("futures");
  const auto values = values_of(channel->rank(), 1001, at::kFloat);
  const auto future = channel->all_reduce(values, Reduce::kSum)->getFuture();
  future->wait();
  EXPECT_FALSE(future->hasError());
  EXPECT_TRUE(values.equal(sum_of(channel->world(), 1001, at::kFloat)));
}

// The last: an engine may be of no use afterwards.  Each rank is alone in the all-reduce of a
// channel of its own.
TEST(Deadline, ends_an_operation_that_no_peer_joins) {
  std::vector<std::unique_ptr<Channel>> channels;
  for (int rank = 0; rank < context().world.self.world; ++rank) {
    auto spec = spec_of("alone/" + std::to_string(rank));
    spec.operation_timeout = std::chrono::milliseconds(500);
    channels.push_back(engines::make_engine(engine())->connect(spec));
  }
  const auto& channel = channels[static_cast<std::size_t>(context().world.self.rank)];
  const auto work = channel->all_reduce(at::ones({100}, of_type(at::kFloat)), Reduce::kSum);
  try {
    work->wait();
    ADD_FAILURE() << "it ended without its peers";
  } catch (const std::exception& error) {
    EXPECT_EQ(engines::classify_failure(error.what()), engines::FailureKind::kTimeout)
        << error.what();
  }
}

}  // namespace
}  // namespace paceline::testing

int main(int argc, char** argv) { return paceline::testing::conformance_main(argc, argv); }
