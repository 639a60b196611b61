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
/// mpirun starts one placeholder for each rank, a shell that tells its variables and waits.  A rank
/// with the variables of its placeholder is taken for it by MPI_Init, and stays a child of this
/// program: so its exit status, its stderr and its signals are those of any other rank, and what
/// mpirun prints reaches nobody.
class MpiManager {
 public:
  /// Starts `mpirun`, from the main thread (base/spawn.h).  Throws UsageError where there is none,
  /// WorldError with mpirun's own words where it does not start the placeholders within `timeout`.
  /// Returns early, with fewer variables() than ranks, where `stop` says so.
  MpiManager(const std::string& mpirun, int ranks, std::chrono::milliseconds timeout,
             const std::function<bool()>& stop = {});
  /// Ends mpirun, which takes some milliseconds once the ranks have ended.
  ~MpiManager();
  MpiManager(const MpiManager&) = delete;
  MpiManager& operator=(const MpiManager&) = delete;

  /// What a rank needs in its environment, by rank.
  const std::vector<std::map<std::string, std::string>>& variables() const { return variables_; }

  /// How mpirun ended, where it has: no rank can live without it.
  std::optional<std::string> lost();

 private:
  void start(const std::string& mpirun, int ranks);
  void read_variables(int ranks, std::chrono::milliseconds timeout,
                      const std::function<bool()>& stop);
  void end();

  std::filesystem::path folder_;
  Descriptor end_;  // the pipe whose closing ends the placeholders
  pid_t mpirun_ = -1;
  std::optional<int> status_;  // of an mpirun that has ended too early
  std::vector<std::map<std::string, std::string>> variables_;
};

}  // namespace paceline::launch
