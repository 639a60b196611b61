// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/cluster_times.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/strategies/rules.h"

namespace paceline::strategies {
namespace {

bool equal_or_empty(const std::string& given, const std::string& asked) {
  return given.empty() || given == asked;
}

bool has_placement_of(const cluster::LinkFit& fit, const TimesRequest& asked) {
  return fit.ranks_per_host.empty() || asked.ranks_per_host.empty() ||
         fit.ranks_per_host == asked.ranks_per_host;
}

bool matches_request(const cluster::LinkFit& fit, const TimesRequest& asked) {
  return fit.ranks == asked.world && equal_or_empty(fit.engine, asked.engine) &&
         equal_or_empty(fit.device, asked.device) && has_placement_of(fit, asked);
}

// Returns how many conditions (engine, device, placement) the fit states. Of several usable fits,
// the one with the most conditions is used.
int condition_count(const cluster::LinkFit& fit) {
  return (fit.engine.empty() ? 0 : 1) + (fit.device.empty() ? 0 : 1) +
         (fit.ranks_per_host.empty() ? 0 : 1);
}

AlphaBetaTime fitted_time_for(const cluster::ClusterLink& link, std::string_view operation,
                              const TimesRequest& asked) {
  const cluster::LinkFit* best = nullptr;
  for (const cluster::LinkFit& fit : link.fits) {
    if (fit.operation == operation && matches_request(fit, asked) &&
        (best == nullptr || condition_count(fit) > condition_count(*best))) {
      best = &fit;
    }
  }
  return best == nullptr ? AlphaBetaTime{} : best->line;
}

/// The conditions in words, such as "gloo on cpu among 2", or "gloo on cpu among 8 (4+4)" on
/// several hosts.
std::string conditions_text(const std::string& engine, const std::string& device, int ranks,
                            const std::vector<int>& ranks_per_host) {
  return fmt::format(
      "{} on {} among {}{}", engine.empty() ? "any engine" : engine,
      device.empty() ? "any device" : device, ranks,
      ranks_per_host.size() < 2 ? "" : fmt::format(" ({})", fmt::join(ranks_per_host, "+")));
}

std::string known_conditions_text(const cluster::ClusterLink& link) {
  std::vector<std::string> known;
  for (const cluster::LinkFit& fit : link.fits) {
    add_once(known, conditions_text(fit.engine, fit.device, fit.ranks, fit.ranks_per_host));
  }
  return fmt::format("{}", fmt::join(known, ", "));
}

}  // namespace

ClusterTimes times_of(const cluster::Cluster& cluster, const TimesRequest& asked,
                      const std::string& file) {
  ClusterTimes times;
  const cluster::ClusterLink* link = cluster.link(asked.scope);
  if (link == nullptr) {
    times.missing =
        fmt::format("{} has no link that joins {}", file,
                    asked.scope == cluster::LinkScope::kHosts ? "hosts" : "the devices of a host");
    return times;
  }
  if (link->fits.empty()) {
    times.missing = fmt::format(
        "link '{}' of {} has no fits (paceline comm --cluster {} --fit FILE measures them for its "
        "key 'collectives')",
        link->name, file, file);
    return times;
  }
  const std::string words = conditions_text(asked.engine, asked.device,
                                            static_cast<int>(asked.world), asked.ranks_per_host);
  const auto line = [&](std::string_view operation) {
    return fitted_time_for(*link, operation, asked);
  };
  times.model = {.origin = fmt::format("{}, fits of link '{}', {} ranks", file, link->name, words),
                 .world = asked.world,
                 .all_reduce = line(name_of(Pattern::kAllReduce)),
                 .reduce_scatter = line(name_of(Pattern::kReduceScatter)),
                 .all_gather = line(name_of(Pattern::kAllGather)),
                 .broadcast = line(name_of(Pattern::kBroadcast)),
                 .message = line(kMessageOperation)};
  if (std::ranges::none_of(
          link->fits, [&](const cluster::LinkFit& fit) { return matches_request(fit, asked); })) {
    times.missing = fmt::format("link '{}' of {} has fits of {}, none of {} ranks", link->name,
                                file, known_conditions_text(*link), words);
  }
  return times;
}

ClusterTimes times_for(const StrategySpec& spec, const cluster::Cluster& cluster,
                       const TimesRequest& asked, const std::string& file) {
  ClusterTimes times = times_of(cluster, asked, file);
  if (times.missing.empty() && needs_times(spec)) {
    PlanInput input;
    input.world = asked.world;
    input.local_world = asked.ranks_per_host;
    input.alpha_beta = times.model;
    try {
      spec.exchange.row->make(spec.exchange.options)->time(input, 1);
    } catch (const UsageError& error) {
      times.missing = fmt::format("{}: {}", times.model.origin, error.what());
    }
  }
  return times;
}

}  // namespace paceline::strategies
