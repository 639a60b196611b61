// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/strategies/rules.h"
#include "paceline/strategies/strategy.h"
#include "paceline/strategies/topology.h"

namespace paceline::strategies {

inline constexpr auto kNeighborCommunicator = "neighbors";

/// What the exchanges of ranks with their neighbors have in common: the graph, and a buffer for
/// what each neighbor sends.
class Neighbors {
 public:
  /// Options `topology` and `local`.
  Neighbors(const Options& options, std::string_view who);

  /// Throws UsageError where the graph does not exist for these ranks.
  std::unique_ptr<const Topology> graph(const PlanInput& input) const;

  /// Period and symmetry of the graph.
  ExchangeTraits traits(const PlanInput& input) const;

  /// This rank's row in the program's step.
  const Mixing& mixing(Program& program) const;

  /// Adds as many buffers, as large as the values, as the rank has neighbors.
  void add_inboxes(const WireFormat& format, SetupBuilder& builder) const;

  /// Where what the `neighbor`-th one sends of `wire` is received.
  static Slice received(const Slice& wire, std::size_t neighbor, const Program& program);

  /// The name of the buffer for what the `neighbor`-th one sends.
  static std::string inbox(std::size_t neighbor);

  /// `slice` to everybody who takes it.
  static std::vector<Message> sends(const Mixing& mixing, const Slice& slice);

  /// Appends the exchange of `wire` with the neighbors; nothing in a step without neighbors.
  static void exchange(const Mixing& mixing, const Slice& wire, CommunicatorId on,
                       Program& program);

  /// `wire` and what every neighbor has sent of it.
  static std::vector<Access> operands(const Mixing& mixing, const Slice& wire,
                                      const Program& program);

  /// The weights of these, over `divisor`.
  static std::vector<double> weights(const Mixing& mixing, Rank divisor = 1);

  /// All messages of a slice, one after the other.
  Picoseconds time(const PlanInput& input, std::int64_t bytes) const;

 private:
  TopologyChoice topology_;
  Rank local_;
  std::string who_;
};

/// Throws UsageError unless repeated averaging leads to the mean: every row and column of the
/// graph's matrix sums to 1, and values do not only go round.
void check_averages(const Topology& topology, std::string_view who);

}  // namespace paceline::strategies
