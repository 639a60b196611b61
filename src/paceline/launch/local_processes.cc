// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/local_processes.h"

#include <array>
#include <cerrno>
#include <fstream>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace paceline::launch {
namespace {

std::string process_key(int rank) { return fmt::format("process/{}", rank); }

// Returns an identifier of this machine and its process namespace. Two processes with the same
// identifier see each other's process ids.
std::string this_machine() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::array<char, 64> name{};  // "pid:[4026531836]"
  const ssize_t length = readlink("/proc/self/ns/pid", name.data(), name.size());
  return fmt::format("{}/{}", boot,
                     std::string_view(name.data(), length > 0 ? std::size_t(length) : 0));
}

bool has_ended(const Descriptor& pidfd) {
  pollfd end{.fd = pidfd.number(), .events = POLLIN, .revents = 0};
  return !pidfd.is_open() || poll(&end, 1, 0) > 0;
}

}  // namespace

LocalProcesses::LocalProcesses(std::shared_ptr<KeyValueStore> store, int rank,
                               const std::vector<std::string>& hosts)
    : store_(std::move(store)), machine_(this_machine()) {
  store_->set(process_key(rank), fmt::format("{} {}", machine_, getpid()));
  const auto own = static_cast<std::size_t>(rank);
  for (std::size_t other = 0; other < hosts.size(); ++other) {
    if (other != own && hosts[other] == hosts[own]) {
      ranks_without_process_.push_back(static_cast<int>(other));
    }
  }
}

void LocalProcesses::find_process_of(int rank, const std::string& process) {
  const std::size_t blank = process.rfind(' ');
  if (process.substr(0, blank) != machine_) {
    return;
  }
  Descriptor pidfd(
      static_cast<int>(syscall(SYS_pidfd_open, std::stoi(process.substr(blank + 1)), 0)));
  if (pidfd.is_open() || errno == ESRCH) {
    processes_.push_back({rank, std::move(pidfd)});
  }
}

std::vector<int> LocalProcesses::ended() {
  const std::lock_guard lock(mutex_);
  std::erase_if(ranks_without_process_, [&](int rank) {
    const std::optional<std::string> process = store_->get(process_key(rank));
    if (process) {
      find_process_of(rank, *process);
    }
    return process.has_value();
  });
  std::vector<int> ranks;
  for (const Process& process : processes_) {
    if (has_ended(process.pidfd)) {
      ranks.push_back(process.rank);
    }
  }
  return ranks;
}

}  // namespace paceline::launch
