// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/world.h"

#include <csignal>
#include <filesystem>
#include <mutex>
#include <thread>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <unistd.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/stream.h"
#include "paceline/engines/channel_spec.h"
#include "paceline/launch/listener.h"
#include "paceline/launch/signals.h"

namespace paceline::engines {
namespace {

using std::chrono::milliseconds;

launch::Launch launch_of(int rank, int world, std::string host) {
  launch::Launch launch;
  launch.self.rank = rank;
  launch.self.world = world;
  launch.self.host = std::move(host);
  launch.job = "job";
  return launch;
}

// Joins a world of threads; ranks 0, 1 on one host and the rest on another.
std::vector<World> join_all(int world, const std::function<void(launch::Launch&)>& set_rendezvous) {
  std::vector<World> worlds(static_cast<std::size_t>(world));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < world; ++rank) {
    threads.emplace_back([&, rank] {
      auto launch = launch_of(rank, world, rank < 2 ? "a" : "b");
      set_rendezvous(launch);
      auto& mine = worlds[static_cast<std::size_t>(rank)];
      mine = join(launch, milliseconds(8000));
      leave(mine, milliseconds(8000));
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  return worlds;
}

void expect_two_hosts(const std::vector<World>& worlds) {
  for (std::size_t rank = 0; rank < worlds.size(); ++rank) {
    const launch::RankInfo& self = worlds[rank].self;
    EXPECT_EQ(worlds[rank].hosts, (std::vector<std::string>{"a", "a", "b", "b", "b"}));
    EXPECT_EQ(self.local_rank, static_cast<int>(rank < 2 ? rank : rank - 2));
    EXPECT_EQ(self.local_world, rank < 2 ? 2 : 3);
  }
}

TEST(World, meets_over_tcp_and_numbers_ranks_by_host) {
  const auto port = free_port();
  expect_two_hosts(join_all(5, [&](launch::Launch& launch) {
    launch.rendezvous = launch::TcpRendezvous{"127.0.0.1", port, launch.self.rank == 0};
  }));
}

TEST(World, meets_in_a_file) {
  const auto path =
      std::filesystem::temp_directory_path() / ("paceline-meet-" + std::to_string(getpid()));
  std::filesystem::remove(path);
  expect_two_hosts(join_all(5, [&](launch::Launch& launch) {
    launch.rendezvous = launch::FileRendezvous{path.string()};
  }));
  std::filesystem::remove(path);
}

TEST(World, a_file_in_no_folder_is_rejected_at_once) {
  for (const auto& [path, folder] :
       {std::pair{"/no/such/folder/meet", "/no/such/folder"}, {"", "for it"}}) {
    auto launch = launch_of(0, 1, "a");
    launch.rendezvous = launch::FileRendezvous{path};
    try {
      join(launch, milliseconds(300));
      FAIL();
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(), std::string("--rendezvous file:") + path + ": there is no folder " +
                                  folder + "; give a file that all ranks can write");
    }
  }
}

TEST(World, a_file_that_a_job_has_used_is_rejected) {
  const auto path =
      std::filesystem::temp_directory_path() / ("paceline-again-" + std::to_string(getpid()));
  std::filesystem::remove(path);
  const auto in_file = [&](launch::Launch& launch) {
    launch.rendezvous = launch::FileRendezvous{path.string()};
  };
  const auto worlds = join_all(2, in_file);  // a store that ends removes its file
  for (int rank = 0; rank < 2; ++rank) {
    auto launch = launch_of(rank, 2, "a");
    in_file(launch);
    try {
      join(launch, milliseconds(300));
      FAIL();
    } catch (const UsageError& error) {
      EXPECT_EQ(std::string(error.what()),
                "rank " + std::to_string(rank) +
                    " of job 'job' has met others at file:" + path.string() +
                    " already: another job meets there, or did; choose another place by "
                    "--rendezvous, or remove the file");
    }
  }
  std::filesystem::remove(path);
}

TEST(World, keys_of_two_jobs_never_meet) {
  const auto port = free_port();
  const auto worlds = join_all(2, [&](launch::Launch& launch) {
    launch.rendezvous = launch::TcpRendezvous{"127.0.0.1", port, launch.self.rank == 0};
  });
  // What a stranger writes below the name of the job is not the job's.
  auto stranger = launch_of(1, 2, "x");
  stranger.rendezvous = launch::TcpRendezvous{"127.0.0.1", port, false};
  const auto outside = open_key_value_store(stranger, milliseconds(2000));
  // A set() has arrived when its own connection has had an answer since.
  outside->set("key", "theirs");
  EXPECT_EQ(outside->get("key"), "theirs");
  EXPECT_FALSE(worlds[0].store->get("key"));
  worlds[1].store->set("key", "ours");
  EXPECT_EQ(worlds[1].store->get("key"), "ours");
  EXPECT_EQ(worlds[0].store->get("key"), "ours");
  EXPECT_EQ(outside->get("key"), "theirs");
}

TEST(World, a_rank_of_another_launch_is_rejected) {
  const auto listener = launch::listen_at("127.0.0.1", 0);
  const auto store = serve_key_value_store("token", listener->fd, listener->port);
  store->set(launch::kServedKey, "1");
  auto launch = launch_of(0, 1, "a");
  launch.self.launcher = "paceline";
  launch.rendezvous = launch::TcpRendezvous{"127.0.0.1", listener->port, false};
  try {
    join(launch, milliseconds(2000));  // as "job"
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              fmt::format("the store at 127.0.0.1:{} does not hold the job that PACELINE_LAUNCH "
                          "names: it serves another job",
                          listener->port));
  }
  launch.job = "token";
  EXPECT_EQ(join(launch, milliseconds(2000)).hosts, (std::vector<std::string>{"a"}));
}

TEST(World, of_one_needs_nobody) {
  const auto world = join(launch_of(0, 1, "h"), milliseconds(100));
  EXPECT_EQ(world.hosts, (std::vector<std::string>{"h"}));
  const auto channel = make_engine("gloo")->connect(channel_spec(world, "all", 1));
  const auto values = at::ones({4});
  channel->all_reduce(values, plan::Reduce::kMean)->wait();
  EXPECT_TRUE(values.equal(at::ones({4})));
  leave(world, milliseconds(100));
}

TEST(World, names_the_ranks_that_do_not_come) {
  auto launch = launch_of(0, 4, "h");
  launch.rendezvous = launch::TcpRendezvous{"127.0.0.1", free_port(), true};
  try {
    join(launch, milliseconds(200));
    FAIL();
  } catch (const WorldError& error) {
    EXPECT_STREQ(error.what(), "3 of 4 ranks did not join within 0.2 s: 1, 2, 3");
  }
}

TEST(World, a_taken_port_is_one_sentence) {
  c10d::TCPStoreOptions options;
  options.port = 0;
  options.isServer = true;
  options.waitWorkers = false;
  const auto holder = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
  auto launch = launch_of(0, 2, "h");
  launch.rendezvous = launch::TcpRendezvous{"127.0.0.1", holder->getPort(), true};
  try {
    join(launch, milliseconds(500));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("is taken"), std::string::npos) << error.what();
  }
}

TEST(World, a_client_says_who_did_not_answer) {
  auto launch = launch_of(1, 2, "h");
  launch.rendezvous = launch::TcpRendezvous{"127.0.0.1", free_port(), false};
  try {
    join(launch, milliseconds(300));
    FAIL();
  } catch (const WorldError& error) {
    EXPECT_NE(std::string(error.what()).find("nobody answered at 127.0.0.1:"), std::string::npos)
        << error.what();
  }
}

// The kernel completes connections; nobody ever answers on them.  Closing it lets threads go that
// wait for an answer.
struct SilentListener {
  launch::Listener at = *launch::listen_at("127.0.0.1", 0);
  ~SilentListener() { close(at.fd); }
};

TEST(World, a_listener_that_says_nothing_is_left_in_time) {
  const SilentListener listener;
  const int port = listener.at.port;
  auto launch = launch_of(1, 2, "h");
  launch.rendezvous = launch::TcpRendezvous{"127.0.0.1", listener.at.port, false};
  const Stopwatch watch;
  try {
    join(launch, milliseconds(300));
    ADD_FAILURE() << "joined a world that is none";
  } catch (const WorldError& error) {
    EXPECT_EQ(std::string(error.what()),
              "nobody answered at 127.0.0.1:" + std::to_string(port) +
                  " within 0.3 s, where the ranks were to meet; if something else listens there, "
                  "choose another port by --rendezvous HOST:PORT");
  }
  EXPECT_LT(watch.elapsed(), std::chrono::seconds(8));
}

// Rank 0 says at once that its port is taken; the others need not wait for
// --timeout where nobody asks them to stop.
TEST(World, what_took_the_port_of_rank_0_is_not_waited_for) {
  const SilentListener listener;
  auto launch = launch_of(1, 2, "h");
  launch.rendezvous = launch::TcpRendezvous{"127.0.0.1", listener.at.port, false};
  try {
    join(launch, std::chrono::hours(1));
    ADD_FAILURE() << "joined a world that is none";
  } catch (const WorldError& error) {
    EXPECT_NE(std::string(error.what())
                  .find(" within 5 s, where the ranks were to meet; if something else listens "
                        "there, choose another port"),
              std::string::npos)
        << error.what();
  }
}

// As launchers ask where rank 0 has found the port taken.
TEST(World, a_rank_that_is_asked_to_stop_waits_for_nobody) {
  const SilentListener listener;
  const launch::StopSignals stop;
  raise(SIGTERM);
  for (const bool serves : {true, false}) {
    auto launch = launch_of(serves ? 0 : 1, 2, "h");
    launch.rendezvous =
        launch::TcpRendezvous{"127.0.0.1", serves ? free_port() : listener.at.port, serves};
    EXPECT_THROW(join(launch, std::chrono::seconds(20)), launch::StopRequested);
  }
}

TEST(KeyValueStore, keeps_the_first_notice) {
  const auto world = join(launch_of(0, 1, "h"), milliseconds(100));
  EXPECT_FALSE(world.store->get("key"));
  EXPECT_EQ(world.store->set_if_absent("key", "one"), "one");
  EXPECT_EQ(world.store->set_if_absent("key", "two"), "one");
  world.store->set("key", "three");
  EXPECT_EQ(world.store->get("key"), "three");
}

}  // namespace
}  // namespace paceline::engines
