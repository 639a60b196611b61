// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/world.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <variant>

#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/engines/job_store.h"
#include "paceline/launch/heart_judge.h"

namespace paceline::engines {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

double seconds(Milliseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

std::string goodbye_key(int rank) {
  return fmt::format("left/{}", rank);
}

/// The text under `key` once it is there; nothing after the deadline.
std::optional<std::string> wait_for(launch::Board& board,
                                    const std::string& key,
                                    Clock::time_point deadline) {
  auto text = board.read(key);
  while (!text && Clock::now() <= deadline) {
    std::this_thread::sleep_for(Milliseconds(5));
    text = board.read(key);
  }
  return text;
}

[[noreturn]] void refuse_missing(launch::Board& board,
                                 int world,
                                 Milliseconds timeout) {
  std::vector<int> missing;
  for (int rank = 0; rank < world; ++rank) {
    if (!board.read(launch::host_key(rank))) {
      missing.push_back(rank);
    }
  }
  throw WorldError(fmt::format("{} of {} ranks did not come within {:g} s: {}",
                               missing.size(),
                               world,
                               seconds(timeout),
                               fmt::join(missing, ", ")));
}

// Rank 0: waits for every rank's host name.
std::vector<std::string> gather_hosts(launch::Board& board,
                                      int world,
                                      Milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  std::vector<std::string> hosts;
  for (int rank = 0; rank < world; ++rank) {
    auto host = wait_for(board, launch::host_key(rank), deadline);
    if (!host) {
      refuse_missing(board, world, timeout);
    }
    hosts.push_back(*std::move(host));
  }
  return hosts;
}

std::vector<std::string> exchange_hosts(launch::Board& board,
                                        const Place& place,
                                        Milliseconds timeout) {
  board.post(launch::host_key(place.rank), place.host);
  if (place.rank == 0) {
    auto hosts = gather_hosts(board, place.world, timeout);
    board.post("hosts", fmt::format("{}", fmt::join(hosts, "\n")));
    return hosts;
  }
  // Rank 0 may start to wait later than we do, and has the same patience.
  const auto all = wait_for(board, "hosts", Clock::now() + 2 * timeout);
  if (!all) {
    throw WorldError(
        fmt::format("waiting for rank 0: no answer from a peer within {:g} s",
                    seconds(2 * timeout)));
  }
  std::vector<std::string> hosts;
  for (std::size_t begin = 0; begin <= all->size();) {
    const auto end = std::min(all->find('\n', begin), all->size());
    hosts.push_back(all->substr(begin, end - begin));
    begin = end + 1;
  }
  return hosts;
}

void number_locally(Place& place, const std::vector<std::string>& hosts) {
  place.local_rank = 0;
  place.local_world = 0;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (hosts[rank] == place.host) {
      place.local_world += 1;
      place.local_rank += static_cast<int>(rank) < place.rank ? 1 : 0;
    }
  }
}

}  // namespace

World join(const launch::Launch& launch, Milliseconds timeout) {
  World world;
  world.place = launch.place;
  world.store = open_store(launch, timeout);
  world.board = make_board(*world.store);
  if (std::holds_alternative<std::monostate>(launch.meeting)) {
    world.hosts = {launch.place.host};
    return world;
  }
  const auto* tcp = std::get_if<launch::TcpMeeting>(&launch.meeting);
  world.serves_store = tcp && tcp->serve;
  world.store_is_rank_0s = tcp && tcp->rank_0_serves;
  world.hosts = exchange_hosts(*world.board, launch.place, timeout);
  PACELINE_CHECK_EQ(world.hosts.size(),
                    static_cast<std::size_t>(launch.place.world));
  if (!launch.local_known) {
    number_locally(world.place, world.hosts);
  }
  return world;
}

std::vector<int> ranks_per_host(std::span<const std::string> hosts) {
  std::vector<int> counts;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (rank == 0 || hosts[rank] != hosts[rank - 1]) {
      counts.push_back(0);
    }
    ++counts.back();
  }
  return counts;
}

void leave(const World& world, Milliseconds patience) {
  world.board->post(goodbye_key(world.place.rank), "1");
  if (!world.serves_store) {
    return;
  }
  const auto deadline = Clock::now() + patience;
  for (int rank = 0; rank < world.place.world; ++rank) {
    wait_for(*world.board, goodbye_key(rank), deadline);
  }
}

}  // namespace paceline::engines
