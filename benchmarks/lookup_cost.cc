// SPDX-License-Identifier: Apache-2.0
// lookup_cost [ROWS] [IDS] [ROUNDS] [REPEATS]: a server's lookup of embedding rows.
//
// The kernel `lookup` of the runtime and a plain gather in memory, PyTorch's index_select into a
// buffer that is there, take turns on one thread over the same random ids of one table.  Both move
// each row once out and once in.  No engine takes part.
//
// Then another thread asks the server for these rows over Gloo on the loopback, in turns with
// messages of the same lengths to which nobody looks anything up: the engine's ping-pong, which no
// lookup can exceed.
//
// Of each pair of turns the other one begins.  Tables, ids, buffers and connections are made anew
// for every repeat, which is one sample of the ratio of rates; printed are the center of these
// samples and its 95 % interval.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/types.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/engines/engine.h"
#include "paceline/plan/ragged.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/table.h"
#include "paceline/runtime/ragged.h"
#include "paceline/stats/interval.h"
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

/// Turns go by pairs: ours and the bound, the bound and ours, and so on.
bool is_ours(int turn) { return turn % 4 == 0 || turn % 4 == 3; }

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
        numbers(strategies::encode_job({.rows = rows, .dim = dim}, 0)) {
    runtime::set_ragged_length(names, ids);
    std::copy_n(wanted.const_data_ptr<std::int64_t>(), ids,
                runtime::ragged_elements<std::int64_t>(names));
    call.reads = {{table.view({-1})}, {names}};
    call.writes = {{found}};
    call.numbers = numbers;
  }
  Lookup(const Lookup&) = delete;  // the call refers to the numbers
  Lookup& operator=(const Lookup&) = delete;

  void run() const { runtime::find_kernel("lookup").run({}, call); }
};

/// Seconds of the rounds: what serves rows, and the bound of it.
struct Rounds {
  std::vector<double> ours{}, bound{};
};

/// The same of every repeat.
struct Repeats {
  std::vector<std::vector<double>> ours{}, bound{};

  void add(Rounds rounds) {
    ours.push_back(std::move(rounds.ours));
    bound.push_back(std::move(rounds.bound));
  }
};

Rounds in_memory(const Lookup& lookup, int rounds) {
  const auto ids = lookup.wanted.numel();
  at::Tensor gathered = at::empty({ids, lookup.table.size(1)});
  Rounds taken;
  for (int turn = 0; turn < 2 * (rounds + 1); ++turn) {
    const bool ours = is_ours(turn);
    const double seconds = seconds_of([&] {
      if (ours) {
        lookup.run();
      } else {
        at::index_select_out(gathered, lookup.table, 0, lookup.wanted);
      }
    });
    if (turn > 1) {  // the first ones touch the memory
      (ours ? taken.ours : taken.bound).push_back(seconds);
    }
  }
  PACELINE_CHECK(lookup.found.narrow(0, lookup.found.numel() - gathered.numel(), gathered.numel())
                     .equal(gathered.view({-1})));
  return taken;
}

void send(engines::Channel& channel, const at::Tensor& values) {
  for (const auto& work : channel.exchange({{values, 1 - channel.rank()}}, {})) {
    work->wait();
  }
}

void receive(engines::Channel& channel, const at::Tensor& values) {
  for (const auto& work : channel.exchange({}, {{values, 1 - channel.rank()}})) {
    work->wait();
  }
}

/// A trainer's wait for rows, and for messages alone that go to and fro.
Rounds over_engine(const Lookup& lookup, int rounds) {
  const auto engine = engines::make_engine("gloo");
  const auto store = c10::make_intrusive<c10d::HashStore>();
  const auto connect = [&](int rank) {
    return engine->connect(
        {.name = "lookups", .store = store, .rank = rank, .world = 2, .interface = "lo"});
  };
  const int turns = 2 * (rounds + 1);
  auto server = std::async(std::launch::async, [&] {
    const at::NoGradGuard no_grad;
    const auto channel = connect(1);
    for (int turn = 0; turn < turns; ++turn) {
      receive(*channel, lookup.names);
      if (is_ours(turn)) {
        lookup.run();
      }
      send(*channel, lookup.found);
    }
  });
  const auto channel = connect(0);
  const at::Tensor names = lookup.names.clone();
  const at::Tensor found = at::empty_like(lookup.found);
  Rounds taken;
  for (int turn = 0; turn < turns; ++turn) {
    const double seconds = seconds_of([&] {
      send(*channel, names);
      receive(*channel, found);
    });
    if (turn > 1) {
      (is_ours(turn) ? taken.ours : taken.bound).push_back(seconds);
    }
  }
  server.get();
  PACELINE_CHECK(found.equal(lookup.found));
  return taken;
}

double million_rows(std::int64_t ids, stats::Runs seconds) {
  return static_cast<double>(ids) / stats::median_of_runs(seconds)->value * 1e-6;
}

/// Both rates, and their ratio with its interval.
std::string rates(std::int64_t ids, const Repeats& repeats) {
  const auto ratio = stats::paired_ratio(repeats.bound, repeats.ours);
  return fmt::format(
      "{:>9.3f} {:>9.3f}  {:.3f} {:16}", million_rows(ids, repeats.ours),
      million_rows(ids, repeats.bound), ratio->value,
      ratio->interval ? fmt::format("[{:.3f}, {:.3f}]", ratio->interval->low, ratio->interval->high)
                      : "");
}

struct Sizes {
  std::int64_t rows = 100'000, ids = 4'096;
  int rounds = 51, repeats = 15;
};

void compare(const Sizes& sizes, int dim) {
  Repeats memory, engine;
  for (int repeat = 0; repeat < sizes.repeats; ++repeat) {
    const Lookup lookup(sizes.rows, sizes.ids, dim);
    memory.add(in_memory(lookup, sizes.rounds));
    engine.add(over_engine(lookup, sizes.rounds));
  }
  fmt::print("{:>4} {} {}\n", dim, rates(sizes.ids, memory), rates(sizes.ids, engine));
}

}  // namespace

int main(int argc, char** argv) {
  Sizes sizes;
  sizes.rows = argc > 1 ? std::atoll(argv[1]) : sizes.rows;
  sizes.ids = argc > 2 ? std::atoll(argv[2]) : sizes.ids;
  sizes.rounds = argc > 3 ? std::atoi(argv[3]) : sizes.rounds;
  sizes.repeats = argc > 4 ? std::atoi(argv[4]) : sizes.repeats;
  const at::NoGradGuard no_grad;
  at::set_num_threads(1);
  fmt::print(
      "{} ids of {} rows, fp32, {} repeats of {} rounds in turn, million rows/s\n"
      "     in memory, one thread                        "
      "over Gloo, loopback\n"
      " dim    lookup    gather  ratio                   "
      "served ping-pong  ratio\n",
      sizes.ids, sizes.rows, sizes.repeats, sizes.rounds);
  for (const int dim : {16, 64, 256}) {
    compare(sizes, dim);
  }
}
