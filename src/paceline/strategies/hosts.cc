// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/hosts.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/rules.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

std::unique_ptr<ExchangeRule> exchange_of(const StrategySpec& strategy) {
  const auto& [row, options] = strategy.exchange;
  return codes_parameters(strategy)
             ? row->make_coded(options,
                               strategy.codec.row->make(strategy.codec.options))
             : row->make(options);
}

}  // namespace

Members Hosts::on_host(Rank host) const {
  return Members::spaced(rank_of(host, 0), local);
}

Members Hosts::at_place(Rank place) const {
  return Members::spaced(place, count, local);
}

Hosts hosts_of(const PlanInput& input,
               Rank ranks,
               Rank local,
               std::string_view who) {
  if (local == 0 && input.local_world.empty()) {
    return {ranks, 1};
  }
  if (local == 0) {
    local = input.local_world.runs().front().ranks;
    if (!input.local_world.equal_up_to(ranks)) {
      throw UsageError(fmt::format(
          "'{}' wants {}hosts with equally many ranks; here are {}",
          who,
          ranks < input.world
              ? fmt::format("the first {} ranks, which work, on ", ranks)
              : "",
          text_of(input.local_world)));
    }
  }
  if (local < 1 || ranks % local != 0) {
    throw UsageError(fmt::format(
        "'{}': {} ranks do not fill hosts of {} each", who, ranks, local));
  }
  return {local, ranks / local};
}

void check_world(const StrategySpec& strategy,
                 Rank world,
                 const plan::RanksPerHost& hosts) {
  if (strategy.exchange.row != nullptr) {
    PlanInput input;
    input.world = world;
    input.local_world = hosts;
    (void)exchange_of(strategy)->traits(input);
  }
}

bool has_one_host_alone(const StrategySpec& strategy, const PlanInput& input) {
  return strategy.exchange.row != nullptr && input.world > 1 &&
         exchange_of(strategy)->traits(input).hosts == 1;
}

std::string with_local_size(StrategySpec strategy, Rank local) {
  auto values = strategy.exchange.options.values();
  for (auto& [key, value] : values) {
    if (key == "local" && value == "0") {
      value = fmt::format("{}", local);
    }
  }
  strategy.exchange.options = Options(std::move(values));
  return strategy.text();
}

}  // namespace paceline::strategies
