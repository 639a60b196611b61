// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/link_spec.h"

#include <bit>
#include <cmath>
#include <string_view>

#include "paceline/base/text.h"
#include "paceline/plan/cluster_units.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::plan {

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
          .latency_ns =
              std::llround(static_cast<double>(spec.latency_ns) * factor)};
}

int latencies_of(Pattern pattern, int world) {
  if (world <= 1) {
    return 0;
  }
  switch (pattern) {
    case Pattern::kAllReduce:
      return 2 * (world - 1);
    case Pattern::kReduceScatter:
    case Pattern::kAllGather:
      return world - 1;
    case Pattern::kBroadcast:
      return static_cast<int>(std::bit_width(static_cast<unsigned>(world - 1)));
  }
  return 0;
}

std::int32_t side_by_side_of(std::string_view engine) {
  return engine == "gloo" ? 2 : 1;
}

AlphaBeta alpha_beta_of(const LinkSpec& link, Rank world) {
  const double latency = static_cast<double>(link.latency_ns) * 1e-9;
  const auto line = [&](Pattern pattern) {
    constexpr std::int64_t kMany = 1 << 30;
    const double share =
        static_cast<double>(wire_bytes(pattern, kMany, world)) /
        static_cast<double>(kMany);
    return line_of(latencies_of(pattern, world) * latency,
                   share / link.bytes_per_s);
  };
  return {.origin = "the modelled link",
          .world = world,
          .all_reduce = line(Pattern::kAllReduce),
          .reduce_scatter = line(Pattern::kReduceScatter),
          .all_gather = line(Pattern::kAllGather),
          .broadcast = line(Pattern::kBroadcast),
          .message = line_of(latency, 1 / link.bytes_per_s)};
}

}  // namespace paceline::plan
