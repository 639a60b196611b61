// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <string>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "engines/run_ranks.h"
#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/engines/engine.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::engines {
namespace {

using plan::Reduce;
using testing::run_ranks;

// Thread-safe: EXPECT_* is, with pthreads.
class Worlds : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, Worlds, ::testing::Values(1, 2, 3, 4, 7));

// Element i of rank r is r * n + i: every sum below is an exact integer.
at::Tensor strided_integers(int rank, std::int64_t n, at::ScalarType dtype) {
  return (at::arange(n, at::kLong) + rank * n).to(dtype);
}

at::Tensor sum_over_ranks(int world, std::int64_t n) {
  return at::arange(n, at::kLong) * world + n * world * (world - 1) / 2;
}

TEST_P(Worlds, all_reduce_sums_integers_exactly) {
  const int world = GetParam();
  run_ranks(world, [&](Channel& channel) {
    EXPECT_EQ(channel.world(), world);
    for (const auto dtype : {at::kFloat, at::kDouble, at::kLong}) {
      const auto values = strided_integers(channel.rank(), 1001, dtype);
      channel.all_reduce(values, Reduce::kSum)->wait();
      EXPECT_TRUE(values.to(at::kLong).equal(sum_over_ranks(world, 1001))) << dtype;
    }
    // bf16 has 8 bits: 11 elements of 7 ranks stay below 256 in every sum.
    const auto small = at::full({11}, channel.rank() + 1, at::kBFloat16);
    channel.all_reduce(small, Reduce::kSum)->wait();
    EXPECT_TRUE(small.eq(world * (world + 1) / 2).all().item<bool>());
  });
}

// How many threads of this process have the policy SCHED_BATCH, by name.
std::map<std::string, int> batch_threads() {
  std::map<std::string, int> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    if (sched_getscheduler(std::stoi(entry.path().filename())) != SCHED_BATCH) {
      continue;
    }
    std::string name;
    std::getline(std::ifstream(entry.path() / "comm"), name);
    ++threads[name];
  }
  return threads;
}

// Connects two ranks, and counts while both are there.
std::map<std::string, int> batch_threads_of(std::int64_t largest_operation) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  const auto connect = [&](int rank) {
    return make_engine("gloo")->connect({.name = "policies",
                                         .store = store,
                                         .rank = rank,
                                         .world = 2,
                                         .interface = "lo",
                                         .largest_operation = largest_operation});
  };
  auto other = std::async(std::launch::async, connect, 0);
  const auto channel = connect(1);
  const auto peer = other.get();
  return batch_threads();
}

TEST(Threads, of_events_do_not_take_the_core_from_those_that_send) {
  const auto threads = batch_threads_of(4'200'000);
  // The name that Gloo gives the thread; c10d 2.11 leaves it that of its creator.
  ASSERT_EQ(threads.size(), 1U);
  EXPECT_EQ(threads.begin()->second, 2);
  EXPECT_NE(threads.begin()->first, "pt_gloo_runloop");
}

TEST(Threads, of_events_do_where_operations_are_large) {
  EXPECT_TRUE(batch_threads_of(9'400'000).empty());
}

TEST(Transfers, are_kept_from_the_call_to_the_completion_where_asked) {
  run_ranks(2, [](Channel& channel) {
    const auto values = at::ones({1000}, at::kFloat);
    channel.all_reduce(values, Reduce::kSum)->wait();
    EXPECT_TRUE(channel.take_transfers().empty());
    channel.record_transfers();
    const std::int64_t before_ns = steady_ns();
    channel.all_reduce(values, Reduce::kSum)->wait();
    std::vector<CollectiveSpan> transfers;
    while (transfers.empty()) {  // wait() may return before the callbacks
      transfers = channel.take_transfers();
    }
    ASSERT_EQ(transfers.size(), 1U);
    EXPECT_EQ(transfers[0].pattern, plan::Pattern::kAllReduce);
    EXPECT_EQ(transfers[0].payload_bytes, 4000);
    EXPECT_GE(transfers[0].start_ns, before_ns);
    EXPECT_GT(transfers[0].end_ns, transfers[0].start_ns);
    EXPECT_LE(transfers[0].end_ns, steady_ns());
  });
}

TEST_P(Worlds, all_reduce_takes_maximum_and_mean) {
  const int world = GetParam();
  run_ranks(world, [&](Channel& channel) {
    const auto largest = at::full({5}, channel.rank() * 3.0, at::kFloat);
    channel.all_reduce(largest, Reduce::kMax)->wait();
    EXPECT_TRUE(largest.eq((world - 1) * 3.0).all().item<bool>());
    // The sum is a multiple of the world, so the one division is exact.
    const auto mean = at::full({5}, static_cast<double>(world * channel.rank()), at::kFloat);
    channel.all_reduce(mean, Reduce::kMean)->wait();
    EXPECT_TRUE(mean.eq(world * (world - 1) / 2).all().item<bool>());
    EXPECT_THROW(channel.all_reduce(at::ones({5}, at::kLong), Reduce::kMean), UsageError);
  });
}

TEST_P(Worlds, reduce_scatter_and_all_gather_are_the_halves_of_all_reduce) {
  const int world = GetParam();
  run_ranks(world, [&](Channel& channel) {
    for (const auto dtype : {at::kFloat, at::kDouble, at::kLong}) {
      const std::int64_t n = 13 * world;
      const auto values = strided_integers(channel.rank(), n, dtype);
      const auto own = at::zeros({13}, dtype);
      channel.reduce_scatter(values, own, Reduce::kSum)->wait();
      const auto want = sum_over_ranks(world, n);
      EXPECT_TRUE(own.to(at::kLong).equal(want.narrow(0, 13 * channel.rank(), 13)));
      const auto all = at::zeros({n}, dtype);
      channel.all_gather(own, all)->wait();
      EXPECT_TRUE(all.to(at::kLong).equal(want));
    }
    // Neither mean nor maximum may silently become a sum.
    const auto values = at::full({2 * world}, 1.0 * world * channel.rank(), at::kFloat);
    const auto own = at::zeros({2});
    channel.reduce_scatter(values, own, Reduce::kMean)->wait();
    EXPECT_TRUE(own.eq(world * (world - 1) / 2).all().item<bool>());
    channel.reduce_scatter(values, own, Reduce::kMax)->wait();
    EXPECT_TRUE(own.eq(world * (world - 1)).all().item<bool>());
  });
}

TEST_P(Worlds, broadcast_comes_from_its_root) {
  const int world = GetParam();
  run_ranks(world, [&](Channel& channel) {
    for (int root = 0; root < world; ++root) {
      const auto values = at::full({9}, channel.rank() + 1, at::kLong);
      channel.broadcast(values, root)->wait();
      EXPECT_TRUE(values.eq(root + 1).all().item<bool>());
    }
  });
}

TEST_P(Worlds, ledger_equals_the_closed_forms) {
  const int world = GetParam();
  run_ranks(world, [&](Channel& channel) {
    const std::int64_t n = 8 * world;
    const auto values = at::ones({n});
    const auto own = at::ones({8});
    channel.all_reduce(values, Reduce::kSum)->wait();
    channel.reduce_scatter(values, own, Reduce::kSum)->wait();
    channel.all_gather(own, values)->wait();
    channel.broadcast(values, 0)->wait();
    channel.barrier()->wait();
    const auto bytes = channel.ledger().bytes;
    const std::int64_t payload = 4 * n;
    EXPECT_EQ(bytes.at("all-reduce"), 2 * (world - 1) * payload / world);
    EXPECT_EQ(bytes.at("all-reduce"), plan::wire_bytes(plan::Pattern::kAllReduce, payload, world));
    EXPECT_EQ(bytes.at("reduce-scatter"), (world - 1) * payload / world);
    EXPECT_EQ(bytes.at("all-gather"), (world - 1) * payload / world);
    EXPECT_EQ(bytes.at("broadcast"), world > 1 ? payload : 0);
    EXPECT_EQ(channel.ledger().total_calls(), 4);
  });
}

TEST(GlooEngine, process_group_reaches_the_same_ledger) {
  run_ranks(2, [](Channel& channel) {
    std::vector<at::Tensor> tensors{at::ones({10})};
    channel.process_group()->allreduce(tensors)->wait();
    EXPECT_TRUE(tensors[0].eq(2).all().item<bool>());
    EXPECT_EQ(channel.ledger().bytes.at("all-reduce"), 40);
  });
}

TEST(GlooEngine, strided_tensors_are_rejected_with_their_shape) {
  run_ranks(2, [](Channel& channel) {
    const auto column = at::ones({64, 2}).select(1, 0);
    try {
      channel.all_reduce(column, Reduce::kSum);
      ADD_FAILURE() << "not rejected";
    } catch (const WorldError& error) {
      EXPECT_NE(std::string(error.what()).find("[64]"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("[2]"), std::string::npos);
    }
    // The same through PyTorch's own interface.
    std::vector<at::Tensor> tensors{column};
    EXPECT_ANY_THROW(channel.process_group()->allreduce(tensors));
  });
}

TEST(GlooEngine, shards_that_do_not_fit_are_rejected) {
  run_ranks(2, [](Channel& channel) {
    EXPECT_THROW(channel.all_gather(at::ones({3}), at::ones({7})), WorldError);
    EXPECT_THROW(channel.reduce_scatter(at::ones({7}), at::ones({3}), Reduce::kSum), WorldError);
  });
}

TEST(Engines, unknown_names_list_the_known_ones) {
  try {
    make_engine("glooo");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("gloo, nccl"), std::string::npos);
  }
}

TEST(RunRanks, first_error_carries_its_rank) {
  try {
    run_ranks(1, [](Channel&) { throw std::runtime_error("broken"); });
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "rank 0: broken");
  }
}

}  // namespace
}  // namespace paceline::engines
