// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/neighbors.h"

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/hosts.h"

namespace paceline::strategies {

Neighbors::Neighbors(const Options& options, std::string_view who)
    : topology_(options.text("topology")),
      ranks_per_host_(static_cast<Rank>(options.count("local"))),
      strategy_name_(who) {}

std::unique_ptr<const Topology> Neighbors::graph(const PlanInput& input) const {
  const bool differ = ranks_per_host_ == 0 && !input.local_world.has_equal_hosts_up_to(input.world);
  return topology_.on(
      {input.world,
       differ ? 0 : hosts_of(input, input.world, ranks_per_host_, strategy_name_).local});
}

ExchangeTraits Neighbors::traits(const PlanInput& input) const {
  const auto graph = this->graph(input);
  return {.symmetry =
              graph->block() == 0 ? Symmetry{} : symmetry_in_a_ring(input.world, graph->block()),
          .period = graph->period()};
}

const MixingRow& Neighbors::mixing(Program& program) const {
  return program.derived<MixingRow>(
      [&] { return graph(program.input())->mixing(program.input().rank, program.phase()); });
}

void Neighbors::add_inboxes(const WireFormat& format, SetupBuilder& builder) const {
  const std::size_t degree = graph(builder.input())->degree(builder.rank());
  for (std::size_t i = 0; i < degree; ++i) {
    builder.add_buffer_like_values(inbox(i), InitialValue::kZero, format.type);
  }
}

Slice Neighbors::received(const Slice& wire, std::size_t neighbor, const Program& program) {
  return same_range_in(inbox(neighbor), wire, program);
}

std::vector<Message> Neighbors::sends(const MixingRow& mixing, const Slice& slice) {
  std::vector<Message> messages;
  for (const Rank to : mixing.to) {
    messages.push_back({to, slice});
  }
  return messages;
}

std::string Neighbors::inbox(std::size_t neighbor) { return fmt::format("neighbor{}", neighbor); }

void Neighbors::exchange(const MixingRow& mixing, const Slice& wire, CommunicatorId on,
                         Program& program) {
  std::vector<Message> receives;
  for (std::size_t i = 0; i < mixing.from.size(); ++i) {
    receives.push_back({mixing.from[i].rank, received(wire, i, program)});
  }
  if (!receives.empty() || !mixing.to.empty()) {
    program.exchange(on, sends(mixing, wire), std::move(receives));
  }
}

std::vector<Access> Neighbors::operands(const MixingRow& mixing, const Slice& wire,
                                        const Program& program) {
  std::vector<Access> reads{{wire}};
  for (std::size_t i = 0; i < mixing.from.size(); ++i) {
    reads.push_back({received(wire, i, program)});
  }
  return reads;
}

std::vector<double> Neighbors::weights(const MixingRow& mixing, Rank divisor) {
  std::vector<double> all{mixing.self / divisor};
  for (const Neighbor& from : mixing.from) {
    all.push_back(from.weight / divisor);
  }
  return all;
}

Picoseconds Neighbors::time(const PlanInput& input, std::int64_t bytes) const {
  return static_cast<Picoseconds>(largest_degree(*graph(input), input.world)) *
         input.alpha_beta->message_time(bytes);
}

void check_averages(const Topology& topology, std::string_view who) {
  if (const std::string uneven = topology.imbalance_text(); !uneven.empty()) {
    throw UsageError(fmt::format(
        "'{}' averages, so all rows and columns of the mixing matrix have to sum to 1; {}", who,
        uneven));
  }
  if (const std::string round = topology.recurrence_text(); !round.empty()) {
    throw UsageError(fmt::format("'{}' averages, but {}", who, round));
  }
}

}  // namespace paceline::strategies
