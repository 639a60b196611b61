// SPDX-License-Identifier: Apache-2.0
#include "paceline/cluster/link_spec.h"

#include <bit>
#include <cmath>
#include <string_view>

#include "paceline/base/text.h"
#include "paceline/cluster/cluster_units.h"
#include "paceline/plan/engine_traits.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::cluster {

LinkSpec parse_link(const std::string& where, const std::string& text) {
  const auto comma = text.find(',');
  const auto rate = trimmed(std::string_view(text).substr(0, comma));
  LinkSpec spec{.bytes_per_s = parse_rate(where, rate), .latency_ns = 0};
  if (comma != std::string::npos) {
    const auto latency = trimmed(std::string_view(text).substr(comma + 1));
    spec.latency_ns = parse_duration_ps(where, latency) / 1000;
  }
  return spec;
}

LinkSpec stretched(const LinkSpec& spec, double factor) {
  return {.bytes_per_s = spec.bytes_per_s / factor,
          .latency_ns = std::llround(static_cast<double>(spec.latency_ns) * factor)};
}

int latency_count(plan::Pattern pattern, int world) {
  if (world <= 1) {
    return 0;
  }
  switch (pattern) {
    case plan::Pattern::kAllReduce:
      return 2 * (world - 1);
    case plan::Pattern::kReduceScatter:
    case plan::Pattern::kAllGather:
      return world - 1;
    case plan::Pattern::kBroadcast:
      return static_cast<int>(std::bit_width(static_cast<unsigned>(world - 1)));
  }
  return 0;
}

std::int32_t concurrent_collectives_of(std::string_view engine) {
  const plan::EngineTraits* traits = plan::find_engine_traits(engine);
  return traits == nullptr ? 1 : traits->concurrent_collectives;
}

plan::AlphaBeta alpha_beta_of(const LinkSpec& link, plan::Rank world) {
  const double latency = static_cast<double>(link.latency_ns) * 1e-9;
  const auto line = [&](plan::Pattern pattern) {
    constexpr std::int64_t kMany = 1 << 30;
    const double share =
        static_cast<double>(plan::wire_bytes(pattern, kMany, world)) / static_cast<double>(kMany);
    return plan::alpha_beta_time_of(latency_count(pattern, world) * latency,
                                    share / link.bytes_per_s);
  };
  return {.origin = "the emulated link",
          .world = world,
          .all_reduce = line(plan::Pattern::kAllReduce),
          .reduce_scatter = line(plan::Pattern::kReduceScatter),
          .all_gather = line(plan::Pattern::kAllGather),
          .broadcast = line(plan::Pattern::kBroadcast),
          .message = plan::alpha_beta_time_of(latency, 1 / link.bytes_per_s)};
}

}  // namespace paceline::cluster
