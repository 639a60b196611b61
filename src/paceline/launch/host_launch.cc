// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/host_launch.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/base/spawn.h"
#include "paceline/launch/detect_launch.h"

namespace paceline::launch {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostLaunch, host, first_rank, ranks, executable, argv, variables,
                                   rank_variables, folder)

std::string to_line(const HostLaunch& launch) {
  return nlohmann::json(launch).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) +
         "\n";
}

HostLaunch host_launch_from(std::string_view line) {
  try {
    return nlohmann::json::parse(line).get<HostLaunch>();
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(fmt::format("the line does not describe ranks to start: {}", error.what()));
  }
}

std::vector<ChildProcess> start_ranks(const HostLaunch& launch, const SupervisorSignals& signals) {
  Command command{launch.executable, launch.argv, {}};
  std::vector<ChildProcess> children;
  for (int i = 0; i < launch.ranks && (i == 0 || !signals.is_end_requested()); ++i) {
    const int rank = launch.first_rank + i;
    auto variables = launch.variables;
    if (!launch.rank_variables.empty()) {
      variables.merge(std::map(launch.rank_variables.at(static_cast<std::size_t>(i))));
    }
    variables["RANK"] = std::to_string(rank);
    variables["LOCAL_RANK"] = std::to_string(i);
    command.environment = environment_with(variables);
    children.push_back({.pid = spawn(command), .first_rank = rank, .host = launch.host});
  }
  return children;
}

bool is_this_host(std::string_view name) {
  const std::string own = host_name();
  return name == "localhost" || name == "::1" || name.starts_with("127.") || name == own ||
         name == std::string_view(own).substr(0, own.find('.'));
}

}  // namespace paceline::launch
