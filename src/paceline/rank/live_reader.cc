// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/live_reader.h"

#include <array>
#include <cerrno>
#include <string_view>
#include <vector>

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "paceline/base/process.h"
#include "paceline/base/python_package.h"
#include "paceline/base/spawn.h"
#include "paceline/rank/step_reader.h"

namespace paceline::rank {
namespace {

constexpr int kLongestAnswerMs = 60'000;  // its start on a busy machine too

[[noreturn]] void fail_reading(const char* how) {
  throw OutsideFailure(
      "bad-output",
      std::string("the reader of the command's output (paceline.readers.live) ") + how);
}

}  // namespace

LiveReader::LiveReader(const std::string& name) : LiveReader() {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    fail_reading("cannot be reached");
  }
  socket_ = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]);
  std::vector<std::string> words = python_module("paceline.readers.live");
  if (!name.empty()) {
    words.push_back(name);
  }
  pid_ = spawn({.executable = words.front(),
                .argv = words,
                .environment = environment_with({}),
                .input = theirs.number(),
                .output = theirs.number()});
  read("");
}

LiveReader::~LiveReader() {
  socket_.close();  // which ends the process
  int status = 0;
  while (pid_ > 0 && ::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

nlohmann::json LiveReader::read(const std::string& line) {
  const std::string request = line + "\n";
  std::string_view rest = request;
  while (!rest.empty()) {
    const ssize_t count = ::send(socket_.number(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count > 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      fail_reading("has ended");
    }
  }
  return answer();
}

nlohmann::json LiveReader::answer() {
  std::array<char, 4096> buffer{};
  for (;;) {
    const std::size_t end = pending_.find('\n');
    if (end != std::string::npos) {
      const std::string text = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return text.empty() ? nlohmann::json() : nlohmann::json::parse(text);
    }
    pollfd ready{.fd = socket_.number(), .events = POLLIN, .revents = 0};
    const int found = ::poll(&ready, 1, kLongestAnswerMs);
    if (found == 0) {
      fail_reading("does not answer");
    }
    const ssize_t count =
        found < 0 ? -1 : ::recv(socket_.number(), buffer.data(), buffer.size(), 0);
    if (count > 0) {
      pending_.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      fail_reading("has ended");
    }
  }
}

}  // namespace paceline::rank
