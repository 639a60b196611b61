// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paceline/case/adapters.h"
#include "paceline/case/case.h"

namespace paceline::rank {

/// Returns the adapters of this build, and whether each is installed.
std::vector<cases::Adapter> list_adapters();

/// The rank, the world size and the rendezvous address of one process of an external program.
struct ExternalProcess {
  int rank = 0, local_rank = 0;
  int local_ranks = 0;  // ranks of the case on this host; 0: not known
  int world = 0;        // number of ranks of Paceline's job; 0: not known
  std::string master_host = "127.0.0.1", master_port = "PORT";
};

/// The command and the environment with which an external program is started for a case.
struct ExternalCommand {
  std::vector<std::string> words;
  std::map<std::string, std::string> environment;  // added to this process's environment
  std::vector<std::string> without{};  // environment variables that the program does not inherit
};

/// Returns the command of an external case (an adapter, the strategy python-ddp, or the user's own
/// command) for one process.  Throws UsageError if the case's adapter is not known.
ExternalCommand outside_command(const cases::Case& configuration, const ExternalProcess& place);

/// Returns `text` with {port} and the names of cases::placeholders_of filled in.  Braces after a $,
/// and other words in braces, stay as they are.
std::string fill_placeholders(const std::string& text, const cases::Case& configuration,
                              const ExternalProcess& place);

/// Returns the command as one line for a shell, for --dry-run.
std::string shell_text(const ExternalCommand& command);

}  // namespace paceline::rank
