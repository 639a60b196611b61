// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <numeric>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/topologies/rows.h"

namespace paceline::strategies {
namespace {

/// The distances 1, 2, 4, ..., one per step; they repeat after `count` steps.
struct PowersOfTwo {
  Step count = 1;

  Rank at(Step step) const { return static_cast<Rank>(Step{1} << (step % count)); }
};

/// Returns the number of powers of two that are at most `value`.
Step powers_up_to(Rank value) { return std::bit_width(static_cast<std::uint32_t>(value)); }

/// In each step, the rank with local rank (step mod L) on each host sends to the same local rank on
/// another host.  The other ranks send inside their host and skip that rank.  Every step is a
/// permutation.  All distances advance with the same step counter, as in BlueFog, so some local
/// ranks may always send over the same distance.
class InnerOuter final : public Topology {
 public:
  InnerOuter(const GraphNodes& nodes, PowersOfTwo outer, PowersOfTwo inner)
      : hosts_(nodes.count / nodes.local), local_(nodes.local), outer_(outer), inner_(inner) {}

  Step period() const override {
    return std::lcm(std::lcm(Step{local_}, outer_.count), inner_.count);
  }

  MixingRow mixing(Rank node, Step step) const override {
    const Rank host = node / local_, place = node % local_;
    const auto out = static_cast<Rank>(step % local_);
    if (place == out) {
      const Rank distance = outer_.at(step);
      return {.self = 0.5,
              .from = {{wrap(host - distance, hosts_) * local_ + place, 0.5}},
              .to = {wrap(host + distance, hosts_) * local_ + place}};
    }
    const Rank hop = inner_.at(step);
    const Rank ahead = hop >= wrap(out - place, local_) ? hop + 1 : hop;
    const Rank behind = hop >= wrap(place - out, local_) ? hop + 1 : hop;
    return {.self = 0.5,
            .from = {{host * local_ + wrap(place - behind, local_), 0.5}},
            .to = {host * local_ + wrap(place + ahead, local_)}};
  }

  std::size_t degree(Rank) const override { return 1; }
  Rank block() const override { return local_; }

 private:
  Rank hosts_;
  Rank local_;
  PowersOfTwo outer_;
  PowersOfTwo inner_;
};

void check_hosts(std::string_view name, const GraphNodes& nodes) {
  if (nodes.local < 3 || nodes.count % nodes.local != 0 || nodes.count == nodes.local) {
    throw UsageError(fmt::format(
        "topology={} wants two or more hosts of the same number of "
        "ranks, at least 3; here are {} ranks, {}",
        name, nodes.count,
        nodes.local == 0 ? "not equally many a host"
        : nodes.count == nodes.local
            ? std::string("all on one host; with 6, 9 or more ranks give --local-size 3")
            : fmt::format("{} a host", nodes.local)));
  }
}

}  // namespace

TopologyFactory make_inner_outer_ring(const std::string&) {
  return [](const GraphNodes& nodes) {
    check_hosts("inner-outer-ring", nodes);
    return std::make_unique<InnerOuter>(nodes, PowersOfTwo{1}, PowersOfTwo{1});
  };
}

TopologyFactory make_inner_outer_exp(const std::string&) {
  return [](const GraphNodes& nodes) {
    check_hosts("inner-outer-exp", nodes);
    return std::make_unique<InnerOuter>(nodes,
                                        PowersOfTwo{powers_up_to(nodes.count / nodes.local - 1)},
                                        PowersOfTwo{powers_up_to(nodes.local - 2)});
  };
}

}  // namespace paceline::strategies
