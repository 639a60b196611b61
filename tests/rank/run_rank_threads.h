// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <ATen/Parallel.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "paceline/rank/trainer.h"

namespace paceline::testing {

/// Runs `body` once per rank, each in a thread with a group over Gloo.  The exceptions of all ranks
/// are returned, empty where a rank ended well.  A world that is not done after `deadline` ends the
/// test program.
inline std::vector<std::string> run_rank_threads(
    int world, const std::function<void(const rank::RankGroup&)>& body,
    std::chrono::seconds deadline = std::chrono::seconds(60)) {
  auto store = c10::make_intrusive<c10d::HashStore>();
  const auto engine = engines::make_engine("gloo");
  std::vector<std::future<std::string>> ranks;
  for (int rank = 0; rank < world; ++rank) {
    ranks.push_back(std::async(std::launch::async, [&, rank] {
      at::set_num_threads(1);
      try {
        rank::RankGroup group;
        group.name = "group";
        group.store = store;
        group.engine = engine.get();
        group.rank = rank;
        group.world = world;
        group.interface = "lo";
        body(group);
      } catch (const std::exception& e) {
        return std::string(e.what());
      }
      return std::string();
    }));
  }
  std::vector<std::string> errors;
  const auto until = std::chrono::steady_clock::now() + deadline;
  for (int rank = 0; rank < world; ++rank) {
    auto& one = ranks[static_cast<std::size_t>(rank)];
    if (one.wait_until(until) != std::future_status::ready) {
      std::fprintf(stderr, "run_rank_threads: rank %d is not done in time\n", rank);
      std::abort();
    }
    errors.push_back(one.get());
  }
  return errors;
}

/// The same, where every rank must end well.
inline void run_rank_threads_well(int world,
                                  const std::function<void(const rank::RankGroup&)>& body) {
  const auto errors = run_rank_threads(world, body);
  for (int rank = 0; rank < world; ++rank) {
    if (const auto& e = errors[static_cast<std::size_t>(rank)]; !e.empty()) {
      throw std::runtime_error("rank " + std::to_string(rank) + ": " + e);
    }
  }
}

}  // namespace paceline::testing
