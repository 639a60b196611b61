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

#include "paceline/measure/trainer.h"

namespace paceline::testing {

/// Runs `body` once per rank, each in a thread with a team over Gloo.  The
/// exceptions of all ranks are returned, empty where a rank ended well.  A
/// world that is not done after `deadline` ends the test program.
inline std::vector<std::string> run_team(
    int world,
    const std::function<void(const measure::Team&)>& body,
    std::chrono::seconds deadline = std::chrono::seconds(60)) {
  auto store = c10::make_intrusive<c10d::HashStore>();
  const auto engine = engines::make_engine("gloo");
  std::vector<std::future<std::string>> ranks;
  for (int rank = 0; rank < world; ++rank) {
    ranks.push_back(std::async(std::launch::async, [&, rank] {
      at::set_num_threads(1);
      try {
        measure::Team team;
        team.name = "team";
        team.store = store;
        team.engine = engine.get();
        team.rank = rank;
        team.world = world;
        team.interface = "lo";
        body(team);
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
      std::fprintf(stderr, "run_team: rank %d is not done in time\n", rank);
      std::abort();
    }
    errors.push_back(one.get());
  }
  return errors;
}

/// The same, where every rank must end well.
inline void run_team_well(
    int world, const std::function<void(const measure::Team&)>& body) {
  const auto errors = run_team(world, body);
  for (int rank = 0; rank < world; ++rank) {
    if (const auto& e = errors[static_cast<std::size_t>(rank)]; !e.empty()) {
      throw std::runtime_error("rank " + std::to_string(rank) + ": " + e);
    }
  }
}

}  // namespace paceline::testing
