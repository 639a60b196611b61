// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/world.h"

#include <algorithm>
#include <variant>

#include <fmt/ranges.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/host_text.h"
#include "paceline/engines/c10d_store.h"
#include "paceline/launch/failure_detector.h"
#include "paceline/launch/listener.h"
#include "paceline/launch/signals.h"

namespace paceline::engines {
namespace {

std::string departure_key(int rank) { return fmt::format("left/{}", rank); }

Milliseconds remaining_time(Milliseconds timeout, const Stopwatch& watch) {
  return std::max(Milliseconds(0), std::chrono::ceil<Milliseconds>(timeout - watch.elapsed()));
}

[[noreturn]] void reject_missing(launch::KeyValueStore& store, int world, Milliseconds timeout) {
  std::vector<int> missing;
  for (int rank = 0; rank < world; ++rank) {
    if (!store.get(launch::host_key(rank))) {
      missing.push_back(rank);
    }
  }
  throw WorldError(fmt::format("{} of {} ranks did not join within {:g} s: {}", missing.size(),
                               world, to_seconds(timeout), fmt::join(missing, ", ")));
}

// Called on rank 0: waits for every rank's host name.
std::vector<std::string> gather_hosts(launch::KeyValueStore& store, int world,
                                      Milliseconds timeout) {
  const Stopwatch watch;
  std::vector<std::string> hosts;
  for (int rank = 0; rank < world; ++rank) {
    auto host = launch::wait_for(store, launch::host_key(rank), remaining_time(timeout, watch),
                                 launch::throw_if_stop_requested);
    if (!host) {
      reject_missing(store, world, timeout);
    }
    hosts.push_back(*std::move(host));
  }
  return hosts;
}

// The time limit is 2 * timeout, because rank 0 may begin its own wait up to `timeout` later than
// this rank.
std::string wait_for_rank_0(launch::KeyValueStore& store, const std::string& key,
                            Milliseconds timeout) {
  auto value = launch::wait_for(store, key, 2 * timeout, launch::throw_if_stop_requested);
  if (!value) {
    throw WorldError(fmt::format("waiting for rank 0: no answer from a peer within {:g} s",
                                 to_seconds(2 * timeout)));
  }
  return *std::move(value);
}

std::vector<std::string> exchange_hosts(launch::KeyValueStore& store, const launch::RankInfo& self,
                                        Milliseconds timeout) {
  store.set(launch::host_key(self.rank), self.host);
  if (self.rank == 0) {
    auto hosts = gather_hosts(store, self.world, timeout);
    store.set("hosts", fmt::format("{}", fmt::join(hosts, "\n")));
    return hosts;
  }
  return split_lines(wait_for_rank_0(store, "hosts", timeout));
}

std::string rendezvous_text(const launch::Launch& launch) {
  if (const auto* tcp = std::get_if<launch::TcpRendezvous>(&launch.rendezvous)) {
    return host_port_text(tcp->host, tcp->port);
  }
  return "file:" + std::get<launch::FileRendezvous>(launch.rendezvous).path;
}

// Note [One job, one token].  Every key of a job begins with a random token, so that two jobs that
// meet in one store never read each other's keys.  paceline's launcher gives the token to its ranks
// as the job's name.  Under other launchers rank 0 draws the token and stores it under the
// launcher's name of the job.  Before that, each rank claims its rank under this name: a claim that
// exists already reveals a file that another job has used, or two jobs with one name at one port.
void agree_on_token(const launch::Launch& launch, Milliseconds timeout, World& world) {
  launch::KeyValueStore& store = *world.store;
  if (launch.self.launcher == "paceline") {
    if (!store.get(launch::kServedKey)) {
      throw UsageError(
          fmt::format("the store at {} does not hold the job that {} names: it serves another job",
                      rendezvous_text(launch), launch::kLaunchVariable));
    }
    return;
  }
  const std::string claim = launch::random_token();
  if (store.set_if_absent(fmt::format("rank/{}", launch.self.rank), claim) != claim) {
    throw UsageError(
        fmt::format("rank {} of job '{}' has met others at {} already: another job meets there, or "
                    "did; choose another place by --rendezvous, or remove the file",
                    launch.self.rank, launch.job, rendezvous_text(launch)));
  }
  if (launch.self.rank == 0) {
    store.set("token", claim);
  }
  world.c10d = with_prefix(*world.c10d, wait_for_rank_0(store, "token", timeout));
  world.store = key_value_store_of(world.c10d);
}

void set_local_rank(launch::RankInfo& self, const std::vector<std::string>& hosts) {
  self.local_rank = 0;
  self.local_world = 0;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (hosts[rank] == self.host) {
      self.local_world += 1;
      self.local_rank += static_cast<int>(rank) < self.rank ? 1 : 0;
    }
  }
}

}  // namespace

World join(const launch::Launch& launch, Milliseconds timeout) {
  World world;
  world.self = launch.self;
  world.c10d = open_store(launch, timeout);
  world.store = key_value_store_of(world.c10d);
  if (std::holds_alternative<std::monostate>(launch.rendezvous)) {
    world.hosts = {launch.self.host};
    return world;
  }
  const auto* tcp = std::get_if<launch::TcpRendezvous>(&launch.rendezvous);
  world.serves_store = tcp != nullptr && tcp->serve;
  world.rank_0_serves_store = tcp != nullptr && tcp->rank_0_serves;
  agree_on_token(launch, timeout, world);
  world.hosts = exchange_hosts(*world.store, launch.self, timeout);
  PACELINE_CHECK_EQ(world.hosts.size(), static_cast<std::size_t>(launch.self.world));
  if (!launch.has_local_rank) {
    set_local_rank(world.self, world.hosts);
  }
  if (launch.self.launcher != "paceline") {
    world.processes =
        std::make_shared<launch::LocalProcesses>(world.store, world.self.rank, world.hosts);
  }
  return world;
}

void leave(const World& world, Milliseconds timeout) {
  world.store->set(departure_key(world.self.rank), "1");
  if (!world.serves_store) {
    return;
  }
  const Stopwatch watch;
  for (int rank = 0; rank < world.self.world; ++rank) {
    launch::wait_for(*world.store, departure_key(rank), remaining_time(timeout, watch));
  }
}

bool on_one_host(std::span<const std::string> hosts) {
  return std::ranges::all_of(hosts, [&](const std::string& host) { return host == hosts[0]; });
}

}  // namespace paceline::engines
