// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/launch/supervise.h"

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

/// Starts the ranks on this machine, each with RANK and LOCAL_RANK of its own.
/// Where `order_path` is not empty, --order and it follow argv.
std::vector<Watched> start_ranks(const HostOrder& order,
                                 const std::string& order_path);

/// Whether `name` is this machine's: localhost, a loopback address, or what
/// gethostname says, with or without its domain.
bool is_this_host(std::string_view name);

}  // namespace paceline::launch
