// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/topology_uses.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/plan_input.h"
#include "paceline/strategies/rules.h"
#include "paceline/strategies/smallest_job.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

/// Its graph is one of hosts, that of all others one of ranks.
constexpr std::string_view kOfHosts = "hierarchical-neighbor-allreduce";

bool averages_over_graph(const RowInfo& exchange) {
  return std::ranges::any_of(exchange.options, [](const OptionInfo& option) {
    return option.kind == OptionKind::kTopology;
  });
}

/// Whether the parts go together on any graph.
bool combine(const StrategySpec& spec) {
  try {
    check_combination(spec);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

/// Why the graph is refused, or nothing: no refusal that concerns graphs
/// depends on the network.
std::string refusal_of(const StrategySpec& spec, Rank world) {
  try {
    (void)make_planner(spec)->setup(smallest_job(world));
    return {};
  } catch (const UsageError& error) {
    return error.what();
  }
}

/// A reason, and the codecs that it concerns; none: all of an exchange or rule.
using Refusals = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Adds the row's name to `accepted`, or the reason to `refusals`.
void check_use(const StrategySpec& spec,
               Rank world,
               const RowInfo& row,
               std::vector<std::string_view>& accepted,
               Refusals& refusals) {
  if (!combine(spec)) {
    return;
  }
  const std::string refusal = refusal_of(spec, world);
  if (refusal.empty()) {
    accepted.push_back(row.name);
    return;
  }
  const bool of_codec = spec.codec.row == &row;
  auto known =
      std::ranges::find(refusals, refusal, &Refusals::value_type::first);
  if (known == refusals.end()) {
    known = refusals.insert(known, {refusal, {}});
  } else if (known->second.empty()) {
    return;
  }
  if (of_codec) {
    known->second.emplace_back(row.name);
  } else {
    known->second.clear();
  }
}

std::vector<std::string> texts_of(const Refusals& refusals) {
  std::vector<std::string> texts;
  for (const auto& [reason, codecs] : refusals) {
    texts.push_back(
        codecs.empty()
            ? reason
            : fmt::format("{}: {}", fmt::join(codecs, ", "), reason));
  }
  return texts;
}

}  // namespace

TopologyUses uses_of(const std::string& topology,
                     const Nodes& nodes,
                     bool of_hosts) {
  TopologyUses uses;
  Refusals refusals;
  for (const Row<ExchangeRule>& exchange : exchanges()) {
    if (!averages_over_graph(exchange) ||
        (exchange.name == kOfHosts) != of_hosts) {
      continue;
    }
    StrategySpec usual = parse_strategy(exchange.name);
    usual.exchange.options = resolve(
        exchange,
        {{"topology", topology}, {"local", fmt::format("{}", nodes.local)}},
        {});
    TopologyUse use{.exchange = exchange.name};
    for (const Row<UpdateRule>& update : update_rules()) {
      StrategySpec spec = usual;
      spec.update = {&update, resolve(update, {}, {})};
      check_use(spec, nodes.count, update, use.updates, refusals);
    }
    for (const Row<CodecRule>& codec : codecs()) {
      StrategySpec spec = usual;
      spec.codec = {&codec, resolve(codec, {}, {})};
      if (codes_parameters(spec)) {
        check_use(spec, nodes.count, codec, use.codecs, refusals);
      }
    }
    if (!use.updates.empty()) {
      use.weights = exchange.make(usual.exchange.options)
                        ->own_weights(smallest_job(nodes.count));
      uses.accepted.push_back(std::move(use));
    }
  }
  uses.refusals = texts_of(refusals);
  return uses;
}

}  // namespace paceline::strategies
