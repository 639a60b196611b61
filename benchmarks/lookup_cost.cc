// SPDX-License-Identifier: Apache-2.0
// lookup_cost [ROWS] [IDS] [ROUNDS]: a server's lookup of embedding rows.
//
// The kernel `lookup` of the runtime and a plain gather in memory, PyTorch's
// index_select into a buffer that is there, take turns on one thread over the
// same random ids of one table.  Both move each row once out and once in.  No
// engine takes part.
//
// Then another thread asks the server for these rows over Gloo on the loopback,
// in turns with messages of the same lengths to which nobody looks anything up:
// the engine's ping-pong, which no lookup can exceed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <vector>

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/torch.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/engines/engine.h"
#include "paceline/plan/ragged.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/table.h"
#include "paceline/runtime/ragged.h"
#include "paceline/stats/quantile.h"
#include "paceline/strategies/embedding_job.h"

namespace {

using namespace paceline;  // NOLINT: a program of one file

template <class Work>
double seconds_of(const Work& work) {
  const std::int64_t began = steady_ns();
  work();
  return static_cast<double>(steady_ns() - began) * 1e-9;
}

at::Tensor ragged(std::int64_t elements, at::ScalarType type) {
  const auto size = static_cast<std::int64_t>(c10::elementSize(type));
  return at::zeros({plan::kLengthBytes / size + elements}, type);
}

/// A table, ids of it, and the call of the kernel that looks them up.
struct Lookup {
  at::Tensor table, wanted, names, found;
  std::vector<double> numbers;
  runtime::Call call;

  Lookup(std::int64_t rows, std::int64_t ids, int dim)
      : table(at::rand({rows, dim})),
        wanted(at::randint(rows, {ids}, at::kLong)),
        names(ragged(ids, at::kLong)),
        found(ragged(ids * dim, at::kFloat)),
        numbers(strategies::numbers_of({.rows = rows, .dim = dim}, 0)) {
    runtime::set_length(names, ids);
    std::copy_n(wanted.const_data_ptr<std::int64_t>(),
                ids,
                runtime::elements_of<std::int64_t>(names));
    call.reads = {{table.view({-1})}, {names}};
    call.writes = {{found}};
    call.numbers = numbers;
  }
  Lookup(const Lookup&) = delete;  // the call refers to the numbers
  Lookup& operator=(const Lookup&) = delete;

  void run() const { runtime::find_kernel("lookup").run({}, call); }
};

/// Million rows a second: the kernel, and a gather.
struct InMemory {
  double lookup = 0, gather = 0;
};

double million_rows(std::int64_t ids, const std::vector<double>& seconds) {
  return static_cast<double>(ids) / stats::median(seconds) * 1e-6;
}

InMemory in_memory(const Lookup& lookup, int rounds) {
  const auto ids = lookup.wanted.numel();
  at::Tensor gathered = at::empty({ids, lookup.table.size(1)});
  std::vector<double> kernel, gather;
  for (int round = 0; round <= rounds; ++round) {
    const double kernel_s = seconds_of([&] { lookup.run(); });
    const double gather_s = seconds_of([&] {
      at::index_select_out(gathered, lookup.table, 0, lookup.wanted);
    });
    if (round > 0) {  // the first touches the memory
      kernel.push_back(kernel_s);
      gather.push_back(gather_s);
    }
  }
  PACELINE_CHECK(
      lookup.found
          .narrow(0, lookup.found.numel() - gathered.numel(), gathered.numel())
          .equal(gathered.view({-1})));
  return {million_rows(ids, kernel), million_rows(ids, gather)};
}

void send(engines::Channel& channel, const at::Tensor& values) {
  for (const auto& work :
       channel.exchange({{values, 1 - channel.rank()}}, {})) {
    work->wait();
  }
}

void receive(engines::Channel& channel, const at::Tensor& values) {
  for (const auto& work :
       channel.exchange({}, {{values, 1 - channel.rank()}})) {
    work->wait();
  }
}

/// Million rows a second that a trainer gets, and with which messages alone go
/// to and fro.
struct OverEngine {
  double served = 0, ping_pong = 0;
};

OverEngine over_engine(const Lookup& lookup, int rounds) {
  const auto engine = engines::make_engine("gloo");
  const auto store = c10::make_intrusive<c10d::HashStore>();
  const auto connect = [&](int rank) {
    return engine->connect({.name = "lookups",
                            .store = store,
                            .rank = rank,
                            .world = 2,
                            .interface = "lo"});
  };
  const int messages = 2 * (rounds + 1);  // every other one is looked up
  auto server = std::async(std::launch::async, [&] {
    const at::NoGradGuard no_grad;
    const auto channel = connect(1);
    for (int i = 0; i < messages; ++i) {
      receive(*channel, lookup.names);
      if (i % 2 == 0) {
        lookup.run();
      }
      send(*channel, lookup.found);
    }
  });
  const auto channel = connect(0);
  const at::Tensor names = lookup.names.clone();
  const at::Tensor found = at::empty_like(lookup.found);
  std::vector<double> served, ping_pong;
  for (int i = 0; i < messages; ++i) {
    const double seconds = seconds_of([&] {
      send(*channel, names);
      receive(*channel, found);
    });
    if (i > 1) {
      (i % 2 == 0 ? served : ping_pong).push_back(seconds);
    }
  }
  server.get();
  PACELINE_CHECK(found.equal(lookup.found));
  const auto ids = lookup.wanted.numel();
  return {million_rows(ids, served), million_rows(ids, ping_pong)};
}

void compare(std::int64_t rows, std::int64_t ids, int dim, int rounds) {
  const Lookup lookup(rows, ids, dim);
  const InMemory memory = in_memory(lookup, rounds);
  const OverEngine engine = over_engine(lookup, rounds);
  fmt::print("{:>4}  {:>9.2f} {:>9.2f} {:>6.0f}  {:>9.3f} {:>9.3f} {:>6.0f}\n",
             dim,
             memory.lookup,
             memory.gather,
             100 * memory.lookup / memory.gather,
             engine.served,
             engine.ping_pong,
             100 * engine.served / engine.ping_pong);
}

}  // namespace

int main(int argc, char** argv) {
  const auto rows = argc > 1 ? std::atoll(argv[1]) : 100'000;
  const auto ids = argc > 2 ? std::atoll(argv[2]) : 4'096;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 201;
  const at::NoGradGuard no_grad;
  at::set_num_threads(1);
  fmt::print(
      "{} ids of {} rows, fp32, medians of {} rounds in turn, million rows/s\n"
      "          in memory, one thread        over Gloo, loopback\n"
      " dim     lookup    gather      %     served ping-pong      %\n",
      ids,
      rows,
      rounds);
  for (const int dim : {16, 64, 256}) {
    compare(rows, ids, dim, rounds);
  }
}
