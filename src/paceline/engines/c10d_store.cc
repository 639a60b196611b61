// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <future>
#include <mutex>
#include <span>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include <c10/util/Logging.h>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/host_text.h"
#include "paceline/engines/background.h"
#include "paceline/engines/channel_spec.h"
#include "paceline/engines/failure.h"
#include "paceline/launch/listener.h"
#include "paceline/launch/network_interface.h"
#include "paceline/launch/signals.h"

namespace paceline::engines {
namespace {

using StorePtr = c10::intrusive_ptr<c10d::Store>;

[[noreturn]] void reject_tcp(const launch::TcpRendezvous& tcp, Milliseconds timeout,
                             std::string_view reason) {
  const auto address = host_port_text(tcp.host, tcp.port);
  if (tcp.serve) {
    throw WorldError(fmt::format("the ranks' store could not be opened at {}: {}", address,
                                 reason.substr(0, reason.find('\n'))));
  }
  throw WorldError(
      fmt::format("nobody answered at {} within {:g} s, where the ranks were to meet ({})", address,
                  to_seconds(timeout), reason.substr(0, reason.find('\n'))));
}

constexpr Milliseconds kListenerPollInterval{50};

// Waits until a process accepts connections at the address at which rank 0 is to serve the store.
void wait_for_listener(const launch::TcpRendezvous& tcp, Milliseconds timeout) {
  const Stopwatch watch;
  while (launch::is_listened_at(tcp.host, tcp.port) == false) {
    launch::throw_if_stop_requested();
    if (watch.elapsed() > timeout) {
      reject_tcp(tcp, timeout, "no connection was accepted");
    }
    std::this_thread::sleep_for(kListenerPollInterval);
  }
}

// Note [A listener that does not answer].  The store's timeout bounds its attempts to connect, but
// not its wait for the first answer of the process that accepted.  A process that never answers
// would block this rank for ever.  So the store is opened on a separate thread, which is abandoned
// on timeout. Rank 0 answers as soon as it listens; a process that accepts and does not answer is
// not rank 0, but another process that took its port.
StorePtr open_tcp(const launch::TcpRendezvous& tcp, Milliseconds timeout) {
  constexpr Milliseconds kAnswerTimeout{5000};
  constexpr Milliseconds kStoreErrorGrace{2000};
  if (!tcp.serve) {
    wait_for_listener(tcp, timeout);
  }
  const Milliseconds limit = tcp.serve ? timeout : std::min(timeout, kAnswerTimeout);
  c10d::TCPStoreOptions options;
  options.port = tcp.port;
  options.isServer = tcp.serve;
  options.waitWorkers = false;  // join() counts the ranks, and names the missing ones
  options.timeout = timeout;
  if (tcp.serve) {
    if (const auto listener = launch::listen_at(tcp.host, tcp.port)) {
      options.masterListenFd = listener->fd;  // the store closes this descriptor
    }
  }
  auto opened = run_in_background([host = tcp.host, options]() -> StorePtr {
    return c10::make_intrusive<c10d::TCPStore>(host, options);
  });
  const Stopwatch watch;
  while (opened.wait_for(kListenerPollInterval) != std::future_status::ready) {
    launch::throw_if_stop_requested();
    if (watch.elapsed() > limit + kStoreErrorGrace) {
      throw WorldError(
          fmt::format("nobody answered at {} within {:g} s, where the ranks were to meet; if "
                      "something else listens there, choose another port by --rendezvous HOST:PORT",
                      host_port_text(tcp.host, tcp.port), to_seconds(limit)));
    }
  }
  try {
    return opened.get();
  } catch (const std::exception& error) {
    reject_tcp(tcp, timeout, error.what());
  }
}

StorePtr open_rendezvous(const launch::Launch& launch, Milliseconds timeout) {
  if (const auto* tcp = std::get_if<launch::TcpRendezvous>(&launch.rendezvous)) {
    return open_tcp(*tcp, timeout);
  }
  const auto& path = std::get<launch::FileRendezvous>(launch.rendezvous).path;
  // c10d would try for five minutes to open a file in a folder that does not exist.
  std::error_code ignored;
  const auto folder = std::filesystem::absolute(path, ignored).parent_path();
  if (!std::filesystem::is_directory(folder, ignored)) {
    throw UsageError(fmt::format(
        "--rendezvous file:{}: there is no folder {}; give a file that all ranks can write", path,
        path.empty() ? "for it" : folder.string()));
  }
  try {
    auto store = c10::make_intrusive<c10d::FileStore>(path, launch.self.world);
    store->setTimeout(timeout);
    return store;
  } catch (const std::exception& error) {
    throw UsageError(
        fmt::format("--rendezvous file:{}: {}", path, describe_failure(error, "cannot be used")));
  }
}

std::shared_ptr<C10dStore> store_of_job(const std::string& job, const StorePtr& whole) {
  return std::make_shared<C10dStore>(
      C10dStore{c10::make_intrusive<c10d::PrefixStore>("paceline/" + job, whole)});
}

// Makes torch's C++ logs show only fatal errors, because an error reaches the user as one sentence
// of the program; TORCH_CPP_LOG_LEVEL overrides this.
void quiet_torch_logs() {
  FLAGS_caffe2_log_level = c10::GLOG_FATAL;
  c10::initLogging();  // reads TORCH_CPP_LOG_LEVEL
}

class TorchKeyValueStore final : public launch::KeyValueStore {
 public:
  explicit TorchKeyValueStore(std::shared_ptr<C10dStore> job)
      : job_(std::move(job)), store_(job_->store->clone()) {}

  void set(const std::string& key, const std::string& value) override {
    guarded([&] { store_->set(key, value); });
  }

  std::string set_if_absent(const std::string& key, const std::string& value) override {
    std::string now;
    guarded([&] { now = store_->compareSet(key, std::string(), value); });
    return now;
  }

  std::optional<std::string> get(const std::string& key) override {
    std::optional<std::string> value;
    guarded([&] {
      if (store_->check({key})) {
        value = store_->get_to_str(key);
      }
    });
    return value;
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

  std::shared_ptr<C10dStore> job_;  // the store may be served by this process
  StorePtr store_;
  std::mutex mutex_;
};

}  // namespace

std::shared_ptr<C10dStore> open_store(const launch::Launch& launch, Milliseconds timeout) {
  quiet_torch_logs();
  if (std::holds_alternative<std::monostate>(launch.rendezvous)) {
    return std::make_shared<C10dStore>(C10dStore{c10::make_intrusive<c10d::HashStore>()});
  }
  return store_of_job(launch.job, open_rendezvous(launch, timeout));
}

std::shared_ptr<C10dStore> with_prefix(const C10dStore& store, const std::string& prefix) {
  return std::make_shared<C10dStore>(
      C10dStore{c10::make_intrusive<c10d::PrefixStore>(prefix, store.store)});
}

std::shared_ptr<launch::KeyValueStore> key_value_store_of(std::shared_ptr<C10dStore> store) {
  return std::make_shared<TorchKeyValueStore>(std::move(store));
}

std::shared_ptr<launch::KeyValueStore> open_key_value_store(const launch::Launch& launch,
                                                            Milliseconds timeout) {
  return key_value_store_of(open_store(launch, timeout));
}

std::shared_ptr<launch::KeyValueStore> serve_key_value_store(const std::string& job, int listening,
                                                             std::uint16_t port) {
  quiet_torch_logs();
  c10d::TCPStoreOptions options;
  options.port = port;
  options.isServer = true;
  options.waitWorkers = false;
  options.masterListenFd = listening;
  return key_value_store_of(store_of_job(
      job, c10::make_intrusive<c10d::TCPStore>(launch::reachable_address(listening), options)));
}

ChannelSpec channel_spec(const World& world, const std::string& name, int members,
                         const std::string& interface) {
  PACELINE_CHECK(members >= 1 && members <= world.self.world && world.self.rank < members);
  ChannelSpec spec;
  spec.name = name;
  spec.store = world.c10d->store;
  spec.rank = world.self.rank;
  spec.world = members;
  spec.interface = interface;
  if (interface.empty()) {
    spec.interface = on_one_host(std::span(world.hosts).first(static_cast<std::size_t>(members)))
                         ? "lo"
                         : launch::outward_interface();
  }
  return spec;
}

}  // namespace paceline::engines
