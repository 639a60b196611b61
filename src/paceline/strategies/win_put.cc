// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/neighbors.h"
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

constexpr auto kWinPut = "win-put";
constexpr auto kWindowCommunicator = "windows";
/// The largest age, in steps, that a neighbor's newest value may have. The limit is never reached
/// in practice, because a rank that runs ahead waits for a free slot before.
constexpr Step kMaxAgeSteps = 64;
constexpr Step kMostSlots = 16;

std::string slot_name(Step slot) { return fmt::format("put{}", slot); }

std::string window_name(std::size_t neighbor) { return fmt::format("window{}", neighbor); }

/// Asynchronous averaging with neighbors by one-sided writes.  Every rank writes its values into a
/// receive window on each neighbor.  It averages its values with the contents of its own windows:
/// the newest values that have arrived, or its own values before any have.  It does not wait for
/// neighbors whose values are late.
///
///   rounds per exchange            1, which nothing waits for
///   bytes sent, rank and exchange  degree * S, S = bytes of the slice
///   extra memory, rank             (slots + 2 degree) * S of the model
///   guarantee                      consensus; not reproducible
///
/// Each write sends one of `slots` copies of the values, used in turn.  The copy is kept until the
/// neighbor has received it, so a rank that is `slots` steps ahead of a neighbor waits for it.
/// Messages arrive in receive buffers, and a kernel copies them into the windows, so no rank reads
/// half a message.  If the graph changes between steps, a window belongs to the neighbor of the
/// step: a late sender delays the writes after its own, but no step.  BlueFog, 2021,
/// arXiv:2111.04287 (its writes overwrite each other in the neighbor's memory, and nothing limits
/// how far a rank runs ahead); Lian et al., ICML 2018, arXiv:1710.06952.
class WinPut final : public ExchangeRule {
 public:
  explicit WinPut(const Options& options)
      : neighbors_(options, kWinPut), slots_(options.count("slots")) {
    if (slots_ > kMostSlots) {
      throw UsageError(
          fmt::format("strategy option {}:slots={}: at most {}, for each is a copy of the model",
                      kWinPut, slots_, kMostSlots));
    }
  }

  ExchangeTraits traits(const PlanInput& input) const override {
    ExchangeTraits traits = neighbors_.traits(input);
    traits.period = std::lcm(traits.period, slots_);
    return traits;
  }

  void extend_setup(const WireFormat& format, SetupBuilder& builder) const override {
    const PlanInput& input = builder.input();
    const auto graph = neighbors_.graph(input);
    check_averages(*graph, kWinPut);
    neighbors_.add_inboxes(format, builder);
    for (std::size_t i = 0; i < graph->degree(input.rank); ++i) {
      builder.add_buffer_like_values(window_name(i), InitialValue::kParameters, format.type);
    }
    for (Step slot = 0; slot < slots_; ++slot) {
      builder.add_buffer_like_values(slot_name(slot), InitialValue::kZero, format.type);
    }
    builder.add_as_ready_communicator(kWindowCommunicator);
  }

  void start(const WireSlice& wire_slice, Program& program) const override {
    const Slice& wire = wire_slice.mine;
    const MixingRow& mixing = neighbors_.mixing(program);
    const auto on = communicator_named(program.setup(), kWindowCommunicator);
    if (!mixing.to.empty()) {
      const Slice slot = same_range_in(slot_name(program.phase() % slots_), wire, program);
      program.kernel("copy", {{wire}}, {{slot}}, {1});
      program.exchange(on, Neighbors::sends(mixing, slot), {});
    }
    for (std::size_t i = 0; i < mixing.from.size(); ++i) {
      const Slice arrived = Neighbors::received(wire, i, program);
      program.exchange(on, {}, {{mixing.from[i].rank, arrived}});
      program.kernel("copy", {{arrived}}, {{same_range_in(window_name(i), wire, program)}}, {1});
    }
  }

  void finish(const WireSlice& wire_slice, Program& program) const override {
    const Slice& wire = wire_slice.mine;
    const MixingRow& mixing = neighbors_.mixing(program);
    if (mixing.from.empty()) {
      return;  // the rank has no neighbors in this step
    }
    std::vector<Access> reads{{wire}};
    for (std::size_t i = 0; i < mixing.from.size(); ++i) {
      reads.push_back({same_range_in(window_name(i), wire, program), kMaxAgeSteps});
    }
    program.kernel("linear", std::move(reads), {{wire}}, Neighbors::weights(mixing));
  }

  Picoseconds time(const PlanInput& input, std::int64_t bytes) const override {
    return neighbors_.time(input, bytes);
  }

 private:
  Neighbors neighbors_;
  Step slots_;
};

}  // namespace

std::unique_ptr<ExchangeRule> make_win_put(const Options& options) {
  return std::make_unique<WinPut>(options);
}

}  // namespace paceline::strategies
