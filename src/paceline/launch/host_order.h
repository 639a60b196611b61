// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/launch/shared_text.h"
#include "paceline/launch/supervise.h"
#include "paceline/launch/supervisor_signals.h"

namespace paceline::launch {

/// The ranks to start on one host, as whoever starts the job tells the process
/// that does it there.
struct HostOrder {
  std::string host;  // as the user named it
  int first_rank = 0;
  int ranks = 1;
  std::string executable;
  std::vector<std::string> argv;                 // of every rank
  std::string order;                             // text of a file; see below
  std::map<std::string, std::string> variables;  // beside the environment
  std::string folder;                            // to work in, if it is there
};

/// One line of JSON, and back.  Throws UsageError for anything else.
std::string to_line(const HostOrder& order);
HostOrder host_order_from(std::string_view line);

/// The ranks of an order on this machine, each with RANK and LOCAL_RANK of its
/// own.  Where the order has a text, --order and the path of a file with it
/// follow argv; the file is there as long as this is.
class StartedRanks {
 public:
  /// Starts them, the first one at least: no more once `signals` end the run,
  /// which is for `supervise` to see.  Throws as `spawn` and SharedText do.
  StartedRanks(const HostOrder& order, const SupervisorSignals& signals);

  const std::vector<Watched>& watched() const { return watched_; }

 private:
  std::unique_ptr<SharedText> text_;
  std::vector<Watched> watched_;
};

/// Whether `name` is this machine's: localhost, a loopback address, or what
/// gethostname says, with or without its domain.
bool is_this_host(std::string_view name);

}  // namespace paceline::launch
