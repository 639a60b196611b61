// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "paceline/base/descriptor.h"
#include "paceline/launch/key_value_store.h"

namespace paceline::launch {

/// The processes of the other ranks on this machine, of which the kernel says at once that they
/// have ended; heartbeats say it seconds later.
///
/// Every rank writes to the store which process it is.  Processes of another machine or another
/// container are not watched, nor are any where the kernel has no pidfd_open (before Linux 5.3).
class LocalProcesses {
 public:
  /// Writes to the store which process `rank` is, which is this one.
  LocalProcesses(std::shared_ptr<KeyValueStore> store, int rank,
                 const std::vector<std::string>& hosts);

  /// Ranks whose processes have ended, for whatever reason.  From any thread. Throws WorldError
  /// only while some of the processes are not known yet.
  std::vector<int> ended();

 private:
  struct Process {
    int rank = 0;
    Descriptor pidfd{};  // none: it had ended when it was looked for
  };

  void look_for(int rank, const std::string& process);

  std::shared_ptr<KeyValueStore> store_;
  std::string machine_;
  std::mutex mutex_;          // guards what follows
  std::vector<int> unknown_;  // ranks on this host, not looked for yet
  std::vector<Process> processes_;
};

}  // namespace paceline::launch
