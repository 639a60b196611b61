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

/// The part that all exchanges with neighbors share: the graph, and a receive buffer per neighbor.
class Neighbors {
 public:
  /// Reads the options `topology` and `local`.  `who` is named in errors.
  Neighbors(const Options& options, std::string_view who);

  /// Returns the graph.  Throws UsageError if it does not exist for these ranks.
  std::unique_ptr<const Topology> graph(const PlanInput& input) const;

  /// Returns the period and the symmetry of the graph.
  ExchangeTraits traits(const PlanInput& input) const;

  /// This rank's row of the mixing matrix in the step of the program.
  const MixingRow& mixing(Program& program) const;

  /// Adds one receive buffer for each neighbor, each as large as the values.
  void add_inboxes(const WireFormat& format, SetupBuilder& builder) const;

  /// The slice of the `neighbor`-th receive buffer that receives the neighbor's values of the range
  /// of `wire`.
  static Slice received(const Slice& wire, std::size_t neighbor, const Program& program);

  /// The name of the receive buffer of the `neighbor`-th neighbor.
  static std::string inbox(std::size_t neighbor);

  /// The messages that send `slice` to every rank that receives from this one.
  static std::vector<Message> sends(const MixingRow& mixing, const Slice& slice);

  /// Appends the exchange of `wire` with the neighbors; appends nothing in a step without
  /// neighbors.
  static void exchange(const MixingRow& mixing, const Slice& wire, CommunicatorId on,
                       Program& program);

  /// Returns the operands of the kernel that averages: `wire`, then the received slice of every
  /// neighbor.
  static std::vector<Access> operands(const MixingRow& mixing, const Slice& wire,
                                      const Program& program);

  /// Returns the weights of these operands in the average, each divided by `divisor`.
  static std::vector<double> weights(const MixingRow& mixing, Rank divisor = 1);

  /// Returns the predicted time of a slice's messages to all neighbors, sent one after the other.
  Picoseconds time(const PlanInput& input, std::int64_t bytes) const;

 private:
  TopologyChoice topology_;
  Rank ranks_per_host_;
  std::string strategy_name_;
};

/// Throws UsageError unless repeated averaging leads to the mean: every row and column of the
/// mixing matrix must sum to 1, and the graph must be aperiodic, so that values do not only
/// circulate.
void check_averages(const Topology& topology, std::string_view who);

}  // namespace paceline::strategies
