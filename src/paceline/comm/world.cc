// SPDX-License-Identifier: Apache-2.0
#include "paceline/comm/world.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <c10/util/Logging.h>
#include <fmt/ranges.h>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "paceline/base/error.h"
#include "paceline/comm/failure.h"
#include "paceline/comm/store_board.h"

namespace paceline::comm {
namespace {

using Milliseconds = std::chrono::milliseconds;
using StorePtr = c10::intrusive_ptr<c10d::Store>;

double seconds(Milliseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

[[noreturn]] void refuse_tcp(const launch::TcpMeeting& meeting,
                             Milliseconds timeout,
                             std::string_view reason) {
  const auto address = fmt::format("{}:{}", meeting.host, meeting.port);
  if (reason.find("EADDRINUSE") != std::string_view::npos ||
      reason.find("in use") != std::string_view::npos) {
    throw UsageError(
        fmt::format("port {} is taken on this host, so the ranks cannot meet "
                    "at {}; choose another by --rendezvous HOST:PORT",
                    meeting.port,
                    address));
  }
  if (meeting.serve) {
    throw WorldError(
        fmt::format("the ranks' store could not be opened at {}: {}",
                    address,
                    reason.substr(0, reason.find('\n'))));
  }
  throw WorldError(fmt::format(
      "nobody answered at {} within {:g} s, where the ranks were to meet ({})",
      address,
      seconds(timeout),
      reason.substr(0, reason.find('\n'))));
}

StorePtr open_store(const launch::Launch& launch, Milliseconds timeout) {
  if (const auto* tcp = std::get_if<launch::TcpMeeting>(&launch.meeting)) {
    c10d::TCPStoreOptions options;
    options.port = tcp->port;
    options.isServer = tcp->serve;
    options.waitWorkers = false;  // join() counts, and names who is missing
    options.timeout = timeout;
    try {
      return c10::make_intrusive<c10d::TCPStore>(tcp->host, options);
    } catch (const std::exception& error) {
      refuse_tcp(*tcp, timeout, error.what());
    }
  }
  const auto& path = std::get<launch::FileMeeting>(launch.meeting).path;
  try {
    auto store = c10::make_intrusive<c10d::FileStore>(path, launch.place.world);
    store->setTimeout(timeout);
    return store;
  } catch (const std::exception& error) {
    throw UsageError(fmt::format("--rendezvous file:{}: {}",
                                 path,
                                 describe_failure(error, "cannot be used")));
  }
}

std::string host_key(int rank) {
  return fmt::format("host/{}", rank);
}

// Rank 0: waits for every rank's host name.
std::vector<std::string> gather_hosts(c10d::Store& store,
                                      int world,
                                      Milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::vector<std::string> hosts;
  for (int rank = 0; rank < world; ++rank) {
    while (!store.check({host_key(rank)})) {
      if (std::chrono::steady_clock::now() > deadline) {
        std::vector<int> missing;
        for (int other = rank; other < world; ++other) {
          if (!store.check({host_key(other)})) {
            missing.push_back(other);
          }
        }
        throw WorldError(
            fmt::format("{} of {} ranks did not come within {:g} s: {}",
                        missing.size(),
                        world,
                        seconds(timeout),
                        fmt::join(missing, ", ")));
      }
      std::this_thread::sleep_for(Milliseconds(5));
    }
    hosts.push_back(store.get_to_str(host_key(rank)));
  }
  return hosts;
}

std::vector<std::string> exchange_hosts(c10d::Store& store,
                                        const Place& place,
                                        Milliseconds timeout) {
  store.set(host_key(place.rank), place.host);
  if (place.rank == 0) {
    auto hosts = gather_hosts(store, place.world, timeout);
    store.set("hosts", fmt::format("{}", fmt::join(hosts, "\n")));
    return hosts;
  }
  try {
    // Rank 0 may start to wait later than we do, and has the same patience.
    store.wait({"hosts"}, 2 * timeout);
  } catch (const std::exception& error) {
    throw WorldError(describe_failure(error, "waiting for rank 0"));
  }
  std::vector<std::string> hosts;
  std::string all = store.get_to_str("hosts");
  for (std::size_t begin = 0; begin <= all.size();) {
    const auto end = std::min(all.find('\n', begin), all.size());
    hosts.push_back(all.substr(begin, end - begin));
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

std::string job_prefix(const std::string& job) {
  return "paceline/" + job;
}

void quiet_engine_logs() {
  FLAGS_caffe2_log_level = c10::GLOG_FATAL;
  c10::initLogging();  // reads the variable
}

World join(const launch::Launch& launch, Milliseconds timeout) {
  World world;
  world.place = launch.place;
  if (std::holds_alternative<std::monostate>(launch.meeting)) {
    world.store = c10::make_intrusive<c10d::HashStore>();
    world.hosts = {launch.place.host};
  } else {
    world.store = c10::make_intrusive<c10d::PrefixStore>(
        job_prefix(launch.job), open_store(launch, timeout));
    const auto* tcp = std::get_if<launch::TcpMeeting>(&launch.meeting);
    world.serves_store = tcp && tcp->serve;
    world.hosts = exchange_hosts(*world.store, launch.place, timeout);
    PACELINE_CHECK_EQ(world.hosts.size(),
                      static_cast<std::size_t>(launch.place.world));
    if (!launch.local_known) {
      number_locally(world.place, world.hosts);
    }
  }
  world.board = make_store_board(world.store);
  return world;
}

void leave(const World& world, Milliseconds patience) {
  const auto left = world.store->add("left", 1);
  if (!world.serves_store) {
    return;
  }
  const auto deadline = std::chrono::steady_clock::now() + patience;
  auto count = left;
  while (count < world.place.world &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(Milliseconds(10));
    count = world.store->add("left", 0);
  }
}

ChannelSpec channel_spec(const World& world,
                         const std::string& name,
                         int members,
                         const std::string& interface) {
  PACELINE_CHECK(members >= 1 && members <= world.place.world &&
                 world.place.rank < members);
  ChannelSpec spec;
  spec.name = name;
  spec.store = world.store;
  spec.rank = world.place.rank;
  spec.world = members;
  spec.interface = interface;
  const auto end = world.hosts.begin() + members;
  if (interface.empty() &&
      std::all_of(world.hosts.begin(), end, [&](const auto& host) {
        return host == world.hosts[0];
      })) {
    spec.interface = "lo";
  }
  return spec;
}

}  // namespace paceline::comm
