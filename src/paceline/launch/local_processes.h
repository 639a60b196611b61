// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "paceline/base/descriptor.h"
#include "paceline/launch/key_value_store.h"

namespace paceline::launch {

/// Watches the processes of the other ranks on this machine. The kernel reports their end at once,
/// seconds before heartbeats do.
///
/// Every rank writes its process to the store. Processes of another machine or another container
/// are not watched. If the kernel has no pidfd_open (before Linux 5.3), none is.
class LocalProcesses {
 public:
  /// Writes to the store that this process is rank `rank`.
  LocalProcesses(std::shared_ptr<KeyValueStore> store, int rank,
                 const std::vector<std::string>& hosts);

  /// Returns the ranks whose processes have ended, for whatever reason. May be called from any
  /// thread. Throws WorldError only while the store must still be read for the ids of some
  /// processes.
  std::vector<int> ended();

 private:
  struct Process {
    int rank = 0;
    Descriptor pidfd{};  // not open if the process had ended before it was looked up
  };

  void find_process_of(int rank, const std::string& process);

  std::shared_ptr<KeyValueStore> store_;
  std::string machine_;
  std::mutex mutex_;                        // guards the members below
  std::vector<int> ranks_without_process_;  // ranks on this host whose process is not known yet
  std::vector<Process> processes_;
};

}  // namespace paceline::launch
