// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <limits>

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paceline/base/clock.h"
#include "paceline/base/descriptor.h"
#include "paceline/base/error.h"
#include "paceline/base/spawn.h"

namespace paceline {
namespace {

using std::chrono::milliseconds;

/// Measures the time that remains until a deadline.
class Countdown {
 public:
  explicit Countdown(milliseconds deadline) : deadline_(deadline) {}

  int left_ms() const {
    const auto left = std::chrono::ceil<milliseconds>(deadline_ - stopwatch_.elapsed());
    return static_cast<int>(
        std::clamp<std::int64_t>(left.count(), 0, std::numeric_limits<int>::max()));
  }

 private:
  milliseconds deadline_;
  Stopwatch stopwatch_;
};

// Reads until the end of the stream; returns false if the deadline came first.
bool drain(int descriptor, const Countdown& countdown, std::string& text) {
  std::array<char, 4096> buffer{};
  for (;;) {
    pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, countdown.left_ms());
    if (ready == 0) {
      return false;
    }
    const ssize_t count = ready < 0 ? -1 : ::read(descriptor, buffer.data(), buffer.size());
    if (count == 0) {
      return true;
    }
    if (count > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return true;
    }
  }
}

// Returns a file in memory that contains `text`, positioned at its start.
Descriptor file_with(std::string_view text) {
  Descriptor file(::memfd_create("paceline", MFD_CLOEXEC));
  bool good = file.is_open();
  while (good && !text.empty()) {
    const ssize_t count = ::write(file.number(), text.data(), text.size());
    if (count > 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    good = count > 0 || (count < 0 && errno == EINTR);
  }
  if (!good || ::lseek(file.number(), 0, SEEK_SET) != 0) {
    throw WorldError("no memory for what a command reads or writes");
  }
  return file;
}

// Waits for the end of `child`; returns nothing if the deadline came first.
std::optional<int> wait_for(pid_t child, const Countdown& countdown) {
  constexpr int kLookEveryMs = 2;
  int status = 0;
  for (;;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) {
      return status;
    }
    if (countdown.left_ms() == 0 || (ended < 0 && errno != EINTR)) {
      return std::nullopt;
    }
    ::poll(nullptr, 0, kLookEveryMs);
  }
}

}  // namespace

std::optional<CommandResult> run_command(const std::vector<std::string>& command,
                                         std::chrono::milliseconds deadline,
                                         std::string_view input) {
  PACELINE_CHECK(!command.empty());
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return std::nullopt;
  }
  const Descriptor from(pipe[0]);
  Descriptor to(pipe[1]);
  const Countdown countdown(deadline);
  const Descriptor given = file_with(input);
  const Descriptor errors = file_with("");
  pid_t child = 0;
  try {
    child = spawn({.executable = command.front(),
                   .argv = command,
                   .environment = environment_with({}),
                   .input = given.number(),
                   .output = to.number(),
                   .error = errors.number()});
  } catch (const WorldError&) {
    return std::nullopt;  // there is no such program
  }
  to.close();
  CommandResult result;
  const bool complete = drain(from.number(), countdown, result.output);
  const auto status = complete ? wait_for(child, countdown) : std::nullopt;
  if (!status) {
    result.timed_out = true;
    ::kill(-child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  } else if (WIFEXITED(*status)) {
    result.exit_code = WEXITSTATUS(*status);
  }
  ::lseek(errors.number(), 0, SEEK_SET);
  drain(errors.number(), countdown, result.errors);
  return result;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& more) {
  std::vector<std::string> merged;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const std::string name = text.substr(0, text.find('='));
    if (!more.contains(name)) {
      merged.push_back(text);
    }
  }
  for (const auto& [name, value] : more) {
    merged.push_back(fmt::format("{}={}", name, value));
  }
  return merged;
}

std::vector<char*> exec_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) {
    pointers.push_back(const_cast<char*>(text.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

std::optional<std::int64_t> peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) {
      return kibibytes * 1024;
    }
  }
  return std::nullopt;
}

// The default of one arena per thread stays, because threads that watch a hung thread must not wait
// for an allocator lock that it holds.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  setenv("THP_MEM_ALLOC_ENABLE", "1", 0);  // c10/core/impl/alloc_cpu.cpp
#endif
}

// The allocator first returns the freed memory that it keeps, so that this memory does not count.
bool reset_peak_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  std::ofstream file("/proc/self/clear_refs");
  file << '5' << std::flush;
  return file.good();
}

std::int64_t usable_memory_bytes() {
  std::int64_t bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::int64_t limit = 0;  // stays 0 if the file contains "max"
    if (std::ifstream(path) >> limit && limit > 0) {
      bytes = std::min(bytes, limit);
    }
  }
  return bytes;
}

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) {
        cpus.push_back(cpu);
      }
    }
  }
  return cpus;
}

}  // namespace paceline
