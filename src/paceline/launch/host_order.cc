// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/host_order.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/launch/place.h"
#include "paceline/launch/spawn.h"

namespace paceline::launch {

std::string to_line(const HostOrder& order) {
  return nlohmann::json{{"host", order.host},
                        {"first_rank", order.first_rank},
                        {"ranks", order.ranks},
                        {"executable", order.executable},
                        {"argv", order.argv},
                        {"order", order.order},
                        {"variables", order.variables},
                        {"folder", order.folder}}
             .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) +
         "\n";
}

HostOrder host_order_from(std::string_view line) {
  try {
    const auto json = nlohmann::json::parse(line);
    HostOrder order;
    json.at("host").get_to(order.host);
    json.at("first_rank").get_to(order.first_rank);
    json.at("ranks").get_to(order.ranks);
    json.at("executable").get_to(order.executable);
    json.at("argv").get_to(order.argv);
    json.at("order").get_to(order.order);
    json.at("variables").get_to(order.variables);
    json.at("folder").get_to(order.folder);
    return order;
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(
        fmt::format("this is no order to start ranks: {}", error.what()));
  }
}

StartedRanks::StartedRanks(const HostOrder& order,
                           const SupervisorSignals& signals) {
  const auto environment =
      environment_with(order.variables, {"RANK", "LOCAL_RANK"});
  Command command{order.executable, order.argv, {}};
  if (!order.order.empty()) {
    text_ = std::make_unique<SharedText>(order.order);
    command.argv.insert(command.argv.end(), {"--order", text_->path()});
  }
  for (int i = 0; i < order.ranks && (i == 0 || !signals.ending()); ++i) {
    command.environment = environment;
    command.environment.push_back(fmt::format("RANK={}", order.first_rank + i));
    command.environment.push_back(fmt::format("LOCAL_RANK={}", i));
    watched_.push_back({.pid = spawn(command),
                        .first_rank = order.first_rank + i,
                        .host = order.host});
  }
}

bool is_this_host(std::string_view name) {
  const std::string own = host_name();
  return name == "localhost" || name == "::1" || name.starts_with("127.") ||
         name == own || name == std::string_view(own).substr(0, own.find('.'));
}

}  // namespace paceline::launch
