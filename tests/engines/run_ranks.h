// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "paceline/engines/engine.h"

namespace paceline::testing {

/// Runs `body` once per rank, each in a thread of its own with a connected
/// Gloo channel between them; connects and joins.  The first exception is thrown again as "rank 2:
/// text".  A world that is not done after ten
/// seconds ends the test program, because its threads cannot be joined.
inline void run_ranks(int world, const std::function<void(engines::Channel&)>& body) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable done;
    int finished = 0;
    std::string first_error;
  } shared;
  auto store = c10::make_intrusive<c10d::HashStore>();
  auto one_rank = [&](int rank) {
    std::string error;
    try {
      engines::ChannelSpec spec;
      spec.name = "test";
      spec.store = store;
      spec.rank = rank;
      spec.world = world;
      spec.interface = "lo";
      spec.timeout = std::chrono::seconds(8);
      spec.operation_timeout = std::chrono::seconds(8);
      const auto channel = engines::make_engine("gloo")->connect(spec);
      body(*channel);
      // Nobody closes connections that a peer still needs.
      channel->barrier()->wait();
    } catch (const std::exception& e) {
      error = "rank " + std::to_string(rank) + ": " + e.what();
    }
    const std::lock_guard lock(shared.mutex);
    if (!error.empty() && shared.first_error.empty()) {
      shared.first_error = error;
    }
    ++shared.finished;
    shared.done.notify_all();
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < world; ++rank) {
    threads.emplace_back(one_rank, rank);
  }
  {
    std::unique_lock lock(shared.mutex);
    if (!shared.done.wait_for(lock, std::chrono::seconds(10),
                              [&] { return shared.finished == world; })) {
      std::fprintf(stderr, "run_ranks: %d of %d ranks done after 10 s; %s\n", shared.finished,
                   world, shared.first_error.c_str());
      std::abort();
    }
  }
  for (auto& thread : threads) {
    thread.join();
  }
  if (!shared.first_error.empty()) {
    throw std::runtime_error(shared.first_error);
  }
}

}  // namespace paceline::testing
