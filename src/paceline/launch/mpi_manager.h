// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "paceline/base/descriptor.h"

namespace paceline::launch {

/// An mpirun (Open MPI) that serves ranks which this program starts itself.
///
/// mpirun starts one placeholder process for each rank: a shell that reports its environment
/// variables and waits. If a rank is started with the variables of its placeholder, MPI_Init takes
/// the rank for the placeholder, but the rank stays a child of this program. So its exit status,
/// its stderr and its signals are handled like those of any other rank, and the output of mpirun is
/// not shown.
class MpiManager {
 public:
  /// Starts the program `mpirun` and reads the variables of its placeholders. Must be called by the
  /// main thread (base/spawn.h). Throws UsageError if there is no such program. Throws WorldError
  /// with mpirun's message if it ends, or does not start the placeholders within `timeout`. If
  /// `stop` returns true, returns at once; variables() then has fewer entries than ranks.
  MpiManager(const std::string& mpirun, int ranks, std::chrono::milliseconds timeout,
             const std::function<bool()>& stop = {});
  /// Ends mpirun. This takes some milliseconds once the ranks have ended.
  ~MpiManager();
  MpiManager(const MpiManager&) = delete;
  MpiManager& operator=(const MpiManager&) = delete;

  /// Returns the environment variables that each rank needs, by rank.
  const std::vector<std::map<std::string, std::string>>& variables() const { return variables_; }

  /// Describes how mpirun ended; nothing while it runs. No rank can continue without it.
  std::optional<std::string> lost();

 private:
  void start(const std::string& mpirun, int ranks);
  void read_variables(int ranks, std::chrono::milliseconds timeout,
                      const std::function<bool()>& stop);
  void end();

  std::filesystem::path folder_;
  Descriptor end_;  // write end of the pipe; closing it ends the placeholders
  pid_t mpirun_ = -1;
  std::optional<int> status_;  // waitpid() status of mpirun if it has ended too early
  std::vector<std::map<std::string, std::string>> variables_;
};

}  // namespace paceline::launch
