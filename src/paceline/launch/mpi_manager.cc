// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/mpi_manager.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/process.h"
#include "paceline/base/spawn.h"
#include "paceline/launch/child_exit.h"

namespace paceline::launch {
namespace {

using namespace std::chrono_literals;

constexpr auto kEndTimeout = 3s;
constexpr int kNotFound = 127;  // exit code of env for a program that does not exist

// The shell script of a placeholder process. It writes its environment variables to a file of its
// rank and waits for the end of the pipe. If the launcher, process $1, was killed, it then removes
// the folder. It opens the pipe before it writes the file, because the launcher then has the pipe
// open too; a later open could block forever.
constexpr const char* kPlaceholderScript =
    "exec 3< \"$0/end\" && "
    "env -0 > \"$0/part.$OMPI_COMM_WORLD_RANK\" && "
    "mv \"$0/part.$OMPI_COMM_WORLD_RANK\" \"$0/rank.$OMPI_COMM_WORLD_RANK\" && cat <&3 > "
    "/dev/null; [ -e \"/proc/$1/exe\" ] || rm -rf \"$0\"";

// Makes the folder of the job, in memory (/dev/shm) if possible. It also holds the shared memory of
// the ranks, which killed ranks leave behind and which the job removes with the folder.
std::filesystem::path make_folder() {
  for (const std::filesystem::path& base :
       {std::filesystem::path("/dev/shm"), std::filesystem::temp_directory_path()}) {
    std::string path = (base / "paceline-mpi-XXXXXX").string();
    if (mkdtemp(path.data()) != nullptr) {
      return path;
    }
  }
  throw WorldError(fmt::format("cannot make a folder in {}: {}",
                               std::filesystem::temp_directory_path().string(),
                               std::strerror(errno)));
}

// Returns those variables in `text` (the output of env -0) that MPI_Init reads.
std::map<std::string, std::string> variables_in(std::string_view text) {
  std::map<std::string, std::string> variables;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const auto equals = one.find('=');
    if (one.starts_with("PMIX_") || one.starts_with("OMPI_")) {
      variables.emplace(one.substr(0, equals), one.substr(equals + 1));
    }
  }
  return variables;
}

// The first line of mpirun's output that is neither empty nor a row of dashes.
std::string first_sentence(const std::string& text) {
  for (const std::string& line : split_lines(text)) {
    if (!line.empty() && !line.starts_with("---")) {
      return line;
    }
  }
  return "it printed nothing";
}

}  // namespace

MpiManager::MpiManager(const std::string& mpirun, int ranks, std::chrono::milliseconds timeout,
                       const std::function<bool()>& stop)
    : folder_(make_folder()) {
  try {
    start(mpirun, ranks);
    read_variables(ranks, timeout, stop);
  } catch (...) {
    end();
    throw;
  }
}

MpiManager::~MpiManager() { end(); }

void MpiManager::start(const std::string& mpirun, int ranks) {
  const std::string pipe = (folder_ / "end").string();
  if (mkfifo(pipe.c_str(), 0600) == 0) {
    end_ = Descriptor(open(pipe.c_str(), O_RDWR | O_CLOEXEC));
  }
  if (!end_.is_open()) {
    throw WorldError(fmt::format("cannot make {}: {}", pipe, std::strerror(errno)));
  }
  Command command{"/usr/bin/env", {"env", mpirun}, environment_with({})};
  command.log = (folder_ / "log").string();
  for (const char* word : {"--oversubscribe", "--bind-to", "none"}) {
    command.argv.emplace_back(word);
  }
  // No parameter of Open MPI 4 restricts the addresses at which mpirun listens; oob_tcp_if_include
  // only chooses those that it tells to other processes.
  for (const auto& [parameter, value] : std::initializer_list<std::pair<const char*, std::string>>{
           {"mpi_yield_when_idle", "1"},
           {"btl", "self,vader"},
           {"btl_vader_backing_directory", folder_.string()},
           {"orte_tmpdir_base", folder_.string()}}) {
    command.argv.insert(command.argv.end(), {"--mca", parameter, value});
  }
  if (geteuid() == 0) {
    command.argv.emplace_back("--allow-run-as-root");
  }
  for (const std::string& word :
       {std::string("-np"), std::to_string(ranks), std::string("/bin/sh"), std::string("-c"),
        std::string(kPlaceholderScript), folder_.string(), std::to_string(getpid())}) {
    command.argv.push_back(word);
  }
  mpirun_ = spawn(command);
}

void MpiManager::read_variables(int ranks, std::chrono::milliseconds timeout,
                                const std::function<bool()>& stop) {
  const Stopwatch watch;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto file = folder_ / fmt::format("rank.{}", rank);
    std::optional<std::string> text;
    while (!(text = read_text_if_readable(file.string()))) {
      if (stop && stop()) {
        return;
      }
      const auto ended = lost();
      if (ended || watch.elapsed() > timeout) {
        const std::string said = read_text_if_readable((folder_ / "log").string()).value_or("");
        const std::string what =
            fmt::format("engine mpi: {}: {}",
                        ended ? *ended
                              : fmt::format("mpirun did not start {} ranks within {:g} s", ranks,
                                            to_seconds(timeout)),
                        first_sentence(said));
        if (ended && WIFEXITED(*status_) && WEXITSTATUS(*status_) == kNotFound) {
          throw UsageError(what);
        }
        throw WorldError(what);
      }
      std::this_thread::sleep_for(2ms);
    }
    variables_.push_back(variables_in(*text));
  }
}

std::optional<std::string> MpiManager::lost() {
  if (mpirun_ > 0) {
    status_ = reap_group(mpirun_);
    mpirun_ = status_ ? -1 : mpirun_;
  }
  return status_ ? std::optional("mpirun " + exit_description(*status_)) : std::nullopt;
}

void MpiManager::end() {
  // The pipe is removed first, so that a placeholder that starts only now finds no pipe and ends.
  // If it opened the pipe after its last writer had closed it, it would wait forever.
  std::error_code ignored;
  std::filesystem::remove(folder_ / "end", ignored);
  end_.close();
  const Stopwatch watch;
  while (mpirun_ > 0 && !reap_group(mpirun_)) {
    if (watch.elapsed() > kEndTimeout) {
      kill(-mpirun_, SIGKILL);
    }
    std::this_thread::sleep_for(2ms);
  }
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace paceline::launch
