// SPDX-License-Identifier: Apache-2.0
// What only the MPI engine has, in the ranks of engine_conformance_test.
#include "paceline/engines/mpi/mpi_backend.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <numeric>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "engines/engine_conformance.h"
#include "paceline/engines/backend_channel.h"

namespace paceline::testing {
namespace {

using plan::Reduce;

c10::intrusive_ptr<engines::mpi::MpiBackend> backend_of(const engines::ChannelSpec& spec,
                                                        std::int64_t count) {
  auto& process = engines::mpi::Process::start(spec.timeout, spec.idle);
  std::vector<int> members(static_cast<std::size_t>(spec.world));
  std::iota(members.begin(), members.end(), 0);
  return c10::make_intrusive<engines::mpi::MpiBackend>(
      process, process.connect(members, spec.name, spec.timeout, spec.idle), spec.rank, spec.world,
      engines::mpi::MpiBackend::Limits{.timeout = spec.operation_timeout, .count = count});
}

class MpiBackend : public ::testing::Test {
 protected:
  void SetUp() override {
    if (engine() != "mpi") {
      GTEST_SKIP() << "of engine mpi alone";
    }
  }
};

TEST_F(MpiBackend, operations_longer_than_a_call_are_split) {
  // As if seven elements were 2^31.
  const engines::ChannelSpec spec = spec_of("split");
  const auto channel = engines::make_backend_channel(backend_of(spec, 7), spec);
  const int rank = channel->rank();
  const int world = channel->world();
  const auto numbers = at::arange(20 * world, at::kLong);
  const auto sum = numbers * world + world * (world - 1) / 2;
  const auto whole = numbers + rank;
  channel->all_reduce(whole, Reduce::kSum)->wait();
  EXPECT_TRUE(whole.equal(sum));
  const auto shard = at::zeros({20}, at::kLong);
  channel->reduce_scatter(numbers + rank, shard, Reduce::kSum)->wait();
  EXPECT_TRUE(shard.equal(sum.narrow(0, 20 * rank, 20)));
  const auto gathered = at::zeros({20 * world}, at::kLong);
  channel->all_gather(shard, gathered)->wait();
  EXPECT_TRUE(gathered.equal(sum));
  const auto root = numbers + rank;
  channel->broadcast(root, world - 1)->wait();
  EXPECT_TRUE(root.equal(numbers + world - 1));
  const auto got = at::zeros({20}, at::kLong);
  for (const auto& work :
       channel->exchange({{at::full({20}, rank, at::kLong), (rank + 1) % world, 3}},
                         {{got, (rank + world - 1) % world, 3}})) {
    work->wait();
  }
  EXPECT_TRUE(got.eq((rank + world - 1) % world).all().item<bool>());
}

TEST_F(MpiBackend, an_aborted_operation_fails_at_once) {
  const auto backend = backend_of(spec_of("aborted"), 1000);
  std::vector<at::Tensor> never{at::zeros({1})};
  const auto work = backend->recv(never, backend->getRank(), 9);
  EXPECT_FALSE(work->isCompleted());
  backend->abort();
  EXPECT_ANY_THROW(work->wait());
  EXPECT_TRUE(work->getFuture()->hasError());
  EXPECT_ANY_THROW(backend->recv(never, backend->getRank(), 9));
}

// As where another thread aborts between the start of the requests and `add`.
TEST_F(MpiBackend, an_operation_added_after_an_abort_fails_at_once) {
  engines::mpi::Progress progress;
  const std::atomic<bool> failed = true;
  std::exception_ptr error;
  progress.add({.requests = {},
                .what = "receive",
                .limit = std::chrono::seconds(60),
                .failed = &failed,
                .done = [&](const std::exception_ptr& why) { error = why; }});
  EXPECT_TRUE(error != nullptr);
}

TEST_F(MpiBackend, nothing_begins_once_it_was_aborted) {
  const auto backend = backend_of(spec_of("idle"), 1000);
  backend->abort();
  EXPECT_ANY_THROW(backend->barrier(c10d::BarrierOptions{}));
}

TEST_F(MpiBackend, nothing_begins_after_a_call_that_mpi_rejects) {
  const auto backend = backend_of(spec_of("rejected"), 1000);
  std::vector<at::Tensor> never{at::zeros({1})};
  const auto begun = backend->recv(never, backend->getRank(), 9);
  EXPECT_ANY_THROW(backend->send(never, backend->getSize(), 9));
  EXPECT_TRUE(begun->getFuture()->hasError());
  EXPECT_ANY_THROW(backend->barrier(c10d::BarrierOptions{}));
}

}  // namespace
}  // namespace paceline::testing
