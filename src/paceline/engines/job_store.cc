// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <future>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>

#include <c10/util/Logging.h>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "paceline/base/error.h"
#include "paceline/engines/c10d_store.h"
#include "paceline/engines/failure.h"
#include "paceline/engines/interface.h"

namespace paceline::engines {
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

// Note [A listener that says nothing].  The store's timeout bounds its attempts
// to connect, but not its wait for the first answer of whatever accepted: a
// program that never speaks there would keep this rank for good.  So the store
// opens on a thread of its own, which is left behind with what it waits for.
StorePtr open_tcp(const launch::TcpMeeting& meeting, Milliseconds timeout) {
  constexpr Milliseconds kItsOwnWordsFirst{2000};
  c10d::TCPStoreOptions options;
  options.port = meeting.port;
  options.isServer = meeting.serve;
  options.waitWorkers = false;  // join() counts, and names who is missing
  options.timeout = timeout;
  std::packaged_task<StorePtr()> opening([host = meeting.host, options] {
    return c10::make_intrusive<c10d::TCPStore>(host, options);
  });
  auto opened = opening.get_future();
  std::thread(std::move(opening)).detach();
  if (opened.wait_for(timeout + kItsOwnWordsFirst) !=
      std::future_status::ready) {
    throw WorldError(
        fmt::format("nobody answered at {}:{} within {:g} s, where the ranks "
                    "were to meet; if something else listens there, choose "
                    "another port by --rendezvous HOST:PORT",
                    meeting.host,
                    meeting.port,
                    seconds(timeout)));
  }
  try {
    return opened.get();
  } catch (const std::exception& error) {
    refuse_tcp(meeting, timeout, error.what());
  }
}

StorePtr open_meeting(const launch::Launch& launch, Milliseconds timeout) {
  if (const auto* tcp = std::get_if<launch::TcpMeeting>(&launch.meeting)) {
    return open_tcp(*tcp, timeout);
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

std::shared_ptr<JobStore> store_of_job(const std::string& job,
                                       const StorePtr& whole) {
  return std::make_shared<JobStore>(JobStore{
      c10::make_intrusive<c10d::PrefixStore>("paceline/" + job, whole)});
}

class StoreBoard final : public launch::Board {
 public:
  explicit StoreBoard(c10::intrusive_ptr<c10d::Store> store)
      : store_(std::move(store)) {}

  void post(const std::string& key, const std::string& text) override {
    guarded([&] { store_->set(key, text); });
  }

  std::string post_first(const std::string& key,
                         const std::string& text) override {
    std::string now;
    guarded([&] { now = store_->compareSet(key, std::string(), text); });
    return now;
  }

  std::optional<std::string> read(const std::string& key) override {
    std::optional<std::string> text;
    guarded([&] {
      if (store_->check({key})) {
        text = store_->get_to_str(key);
      }
    });
    return text;
  }

 private:
  template <class Call>
  void guarded(const Call& call) {
    const std::lock_guard lock(mutex_);
    try {
      call();
    } catch (...) {
      rethrow_as_world_error("the job's store");
    }
  }

  c10::intrusive_ptr<c10d::Store> store_;
  std::mutex mutex_;
};

}  // namespace

std::shared_ptr<JobStore> open_store(const launch::Launch& launch,
                                     Milliseconds timeout) {
  if (std::holds_alternative<std::monostate>(launch.meeting)) {
    return std::make_shared<JobStore>(
        JobStore{c10::make_intrusive<c10d::HashStore>()});
  }
  return store_of_job(launch.job, open_meeting(launch, timeout));
}

std::shared_ptr<JobStore> serve_store(const std::string& job,
                                      int listening,
                                      std::uint16_t port) {
  c10d::TCPStoreOptions options;
  options.port = port;
  options.isServer = true;
  options.waitWorkers = false;
  options.masterListenFd = listening;
  return store_of_job(
      job, c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options));
}

std::unique_ptr<launch::Board> make_board(const JobStore& store) {
  return std::make_unique<StoreBoard>(store.c10d->clone());
}

void quiet_engine_logs() {
  FLAGS_caffe2_log_level = c10::GLOG_FATAL;
  c10::initLogging();  // reads the variable
}

ChannelSpec channel_spec(const World& world,
                         const std::string& name,
                         int members,
                         const std::string& interface) {
  PACELINE_CHECK(members >= 1 && members <= world.place.world &&
                 world.place.rank < members);
  ChannelSpec spec;
  spec.name = name;
  spec.store = world.store->c10d;
  spec.rank = world.place.rank;
  spec.world = members;
  spec.interface = interface;
  if (interface.empty()) {
    const auto end = world.hosts.begin() + members;
    const bool one_host =
        std::all_of(world.hosts.begin(), end, [&](const auto& host) {
          return host == world.hosts[0];
        });
    spec.interface = one_host ? "lo" : outward_interface();
  }
  return spec;
}

}  // namespace paceline::engines
