// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/live_reader.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/base/python_package.h"
#include "paceline/base/spawn.h"
#include "paceline/base/stream.h"
#include "paceline/case/json.h"
#include "paceline/rank/external.h"
#include "paceline/records/json.h"

namespace paceline::rank {
namespace {

constexpr std::chrono::seconds kLongestAnswer(60);  // the process may start slowly

[[noreturn]] void fail_reading(const char* how) {
  throw ExternalProgramError(
      "bad-output",
      std::string("the reader of the program's output (paceline.readers.live) ") + how);
}

}  // namespace

LiveReader::LiveReader(const cases::Case& configuration, int rank) : LiveReader() {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    fail_reading("cannot be reached");
  }
  socket_ = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]);
  const std::vector<std::string> words = python_module_command("paceline.readers.live");
  pid_ = spawn({.executable = words.front(),
                .argv = words,
                .environment = environment_with({}),
                .input = theirs.number(),
                .output = theirs.number()});
  ask(records::to_line(
      records::Json{{"configuration", cases::to_json(configuration)}, {"rank", rank}}));
}

LiveReader::~LiveReader() {
  socket_.close();  // this ends the process
  int status = 0;
  while (pid_ > 0 && ::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

void LiveReader::take(const std::string& line, std::int64_t since_start_ns) {
  done_ = ask(fmt::format("{} {}", since_start_ns, line)).at("done");
}

records::RunRecord LiveReader::finish() {
  try {
    return records::from_json(ask("end"));
  } catch (const UsageError& error) {  // an event has a value that no record may have
    throw ExternalProgramError("bad-output", error.what());
  }
}

// Sends a line, and returns the answer.
nlohmann::json LiveReader::ask(const std::string& line) {
  const std::string request = line + "\n";
  std::string_view rest = request;
  while (!rest.empty()) {
    const ssize_t count = send_within(socket_.number(), rest.data(), rest.size(), kLongestAnswer);
    if (count <= 0) {
      fail_reading("has ended");
    }
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  std::string text;
  for (std::array<char, 4096> buffer{}; !text.ends_with('\n');) {
    const ssize_t count =
        receive_within(socket_.number(), buffer.data(), buffer.size(), kLongestAnswer);
    if (count <= 0) {
      fail_reading(count == 0 ? "has ended" : "does not answer");
    }
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  nlohmann::json said = nlohmann::json::parse(text);
  if (const auto failure = said.find("failure"); failure != said.end()) {
    const std::string message = *failure;
    const nlohmann::json& status = said.at("status");
    throw ExternalProgramError(status.is_string()            ? status.get<std::string>()
                               : says_out_of_memory(message) ? "out-of-memory"
                                                             : "exit",
                               message);
  }
  return said;
}

}  // namespace paceline::rank
