// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "paceline/strategies/choco_estimates.h"
#include "paceline/strategies/neighbors.h"
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

constexpr auto kPushSum = "push-sum";
constexpr auto kPushCommunicator = "push";
constexpr auto kPushWeight = "push_weight";
constexpr auto kNextPushWeight = "next_push_weight";

std::string inbox_weight(std::size_t neighbor) {
  return fmt::format("neighbor{}_weight", neighbor);
}

/// Every rank divides its value equally among itself and its receivers: x_i <- sum over j of a_ij
/// x_j with a_ij = 1 / (1 + receivers of j).  A weight w_i, which starts at 1, is averaged in the
/// same way.  The parameters are x / w, which tends to the mean over the ranks on any strongly
/// connected directed graph: columns of a_ij sum to 1, rows need not.
///
///   rounds per exchange            1
///   bytes sent, rank and exchange  degree * S, and 4 degree bytes per step
///   extra memory, rank             degree * S of the model
///   guarantee                      consensus: ranks agree in the limit only
///
/// The optimizer is applied to x, so prepare() multiplies the parameters by the weight before; the
/// gradients of all ranks then count equally.  The weights are sent once per step, before the first
/// bucket.  With a codec, x moves as in ChocoEstimates, and w, which is sent uncompressed, moves by
/// the same gamma.  Kempe et al., FOCS 2003; Assran et al., ICML 2019, arXiv:1811.10792; quantized:
/// Taheri et al., ICML 2020.
class PushSum final : public ExchangeRule {
 public:
  PushSum(const Options& options, std::unique_ptr<CodecRule> codec)
      : neighbors_(options, kPushSum),
        estimates_(make_choco_estimates(std::move(codec), kPushSum, options)) {}

  ExchangeTraits traits(const PlanInput& input) const override { return neighbors_.traits(input); }

  void extend_setup(const WireFormat& format, SetupBuilder& builder) const override {
    const PlanInput& input = builder.input();
    const auto shares = with_push_sum_weights(neighbors_.graph(input));
    const Topology& graph = *shares;
    if (estimates_) {
      estimates_->extend_setup({graph, input.world, input.rank}, builder);
    } else {
      neighbors_.add_inboxes(format, builder);
    }
    const std::size_t degree = graph.degree(input.rank);
    for (const char* name : {kPushWeight, kNextPushWeight}) {
      builder.add_buffer({.name = name, .elements = 1, .initial = InitialValue::kOne});
    }
    for (std::size_t i = 0; i < degree; ++i) {
      builder.add_buffer({.name = inbox_weight(i), .elements = 1});
    }
    builder.add_world_communicator(kPushCommunicator);
  }

  void prepare(const Slice& values, Program& program) const override {
    (void)program.derived<WeightsExchanged>([&] {
      exchange_weights(program);
      return WeightsExchanged{};
    });
    program.kernel("multiply", {{values}, {one(kPushWeight, program)}}, {{values}});
  }

  void start(const WireSlice& wire_slice, Program& program) const override {
    const MixingRow& mixing = row(program);
    if (estimates_) {
      estimates_->start(wire_slice.mine, mixing, on(program), program);
    } else {
      Neighbors::exchange(mixing, wire_slice.mine, on(program), program);
    }
  }

  void finish(const WireSlice& wire_slice, Program& program) const override {
    const Slice& wire = wire_slice.mine;
    const MixingRow& mixing = row(program);
    if (estimates_) {
      estimates_->finish(wire, mixing, program);
    } else {
      program.kernel("linear", Neighbors::operands(mixing, wire, program), {{wire}},
                     shares(mixing, 1));
    }
    program.kernel("divide", {{wire}, {one(kNextPushWeight, program)}}, {{wire}});
  }

  Picoseconds time(const PlanInput& input, std::int64_t bytes) const override {
    return neighbors_.time(input, bytes);
  }

  const CodecRule* codec() const override { return estimates_ ? &estimates_->codec() : nullptr; }

 private:
  struct WeightsExchanged {};  // marks that this program exchanges the weights

  static Slice one(const std::string& name, const Program& program) {
    return whole(program.setup(), name);
  }

  static CommunicatorId on(const Program& program) {
    return communicator_named(program.setup(), kPushCommunicator);
  }

  const MixingRow& row(Program& program) const {
    return program.derived<MixingRow>([&] {
      return with_push_sum_weights(neighbors_.graph(program.input()))
          ->mixing(program.input().rank, program.phase());
    });
  }

  /// The fraction that this rank keeps of its own value, then the fraction that it receives of each
  /// neighbor's value, for a consensus step size `gamma`.
  static std::vector<double> shares(const MixingRow& row, double gamma) {
    std::vector<double> all{1 + gamma * (row.self - 1)};
    for (const Neighbor& from : row.from) {
      all.push_back(gamma * from.weight);
    }
    return all;
  }

  void exchange_weights(Program& program) const {
    const Slice weight = one(kPushWeight, program);
    const Slice next = one(kNextPushWeight, program);
    const MixingRow& mixing = row(program);
    program.kernel("copy", {{next}}, {{weight}}, {1});
    std::vector<Message> receives;
    std::vector<Access> reads{{weight}};
    for (std::size_t i = 0; i < mixing.from.size(); ++i) {
      const Slice inbox = one(inbox_weight(i), program);
      receives.push_back({mixing.from[i].rank, inbox});
      reads.push_back({inbox});
    }
    if (!mixing.from.empty() || !mixing.to.empty()) {
      program.exchange(on(program), Neighbors::sends(mixing, weight), std::move(receives));
    }
    program.kernel("linear", std::move(reads), {{next}},
                   shares(mixing, estimates_ ? estimates_->gamma(program.input().model) : 1));
  }

  Neighbors neighbors_;
  std::optional<ChocoEstimates> estimates_;
};

}  // namespace

std::unique_ptr<ExchangeRule> make_push_sum(const Options& options,
                                            std::unique_ptr<CodecRule> codec) {
  return std::make_unique<PushSum>(options, std::move(codec));
}

}  // namespace paceline::strategies
