// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

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

/// Every rank shares what it has out among itself and those it sends to, in
/// equal parts: x_i <- sum over j of a_ij x_j with a_ij = 1 / (1 + receivers of
/// j), and likewise a weight w_i that begins at 1.  The parameters are x / w,
/// which tends to the mean over the ranks on any strongly connected directed
/// graph: columns of a_ij sum to 1, rows need not.
///
///   rounds per exchange            1
///   bytes sent, rank and exchange  degree * S, and 4 bytes a step
///   extra memory, rank             degree * S of the model
///   guarantee                      consensus: ranks agree in the limit only
///
/// The optimizer is applied to x, for which prepare() multiplies the parameters
/// by the weight: the gradients of all ranks then count alike.  The weights
/// cross once a step, before the first bucket.  Kempe et al., FOCS 2003; Assran
/// et al., ICML 2019, arXiv:1811.10792.
class PushSum final : public ExchangeRule {
 public:
  explicit PushSum(const Options& options) : neighbors_(options, kPushSum) {}

  ExchangeTraits traits(const PlanInput& input) const override {
    return neighbors_.traits(input);
  }

  void extend(const PlanInput& input,
              const std::vector<Bucket>&,
              const WireFormat& format,
              SetupBuilder& builder) const override {
    neighbors_.add_inboxes(input, format, builder);
    const std::size_t degree = neighbors_.graph(input)->degree(input.rank);
    for (const char* name : {kPushWeight, kNextPushWeight}) {
      builder.add_buffer(
          {.name = name, .elements = 1, .initial = Initial::kOne});
    }
    for (std::size_t i = 0; i < degree; ++i) {
      builder.add_buffer({.name = inbox_weight(i), .elements = 1});
    }
    builder.add_world(kPushCommunicator);
  }

  void prepare(const Slice& values, Program& program) const override {
    (void)program.derived<WeightsCrossed>([&] {
      exchange_weights(program);
      return WeightsCrossed{};
    });
    program.kernel(
        "multiply", {{values}, {one(kPushWeight, program)}}, {{values}});
  }

  void start(const WireSlice& crossing, Program& program) const override {
    const Mixing& mixing = neighbors_.mixing(program);
    if (!mixing.from.empty() || !mixing.to.empty()) {
      program.exchange(on(program),
                       Neighbors::sends(mixing, crossing.mine),
                       Neighbors::receives(mixing, crossing.mine, program));
    }
  }

  void finish(const WireSlice& crossing, Program& program) const override {
    const Slice& wire = crossing.mine;
    const Mixing& mixing = neighbors_.mixing(program);
    std::vector<Access> reads{{wire}};
    for (std::size_t i = 0; i < mixing.from.size(); ++i) {
      reads.push_back({Neighbors::received(wire, i, program)});
    }
    program.kernel("linear", std::move(reads), {{wire}}, shares(program));
    program.kernel(
        "divide", {{wire}, {one(kNextPushWeight, program)}}, {{wire}});
  }

  Picoseconds time(const AlphaBeta& model, std::int64_t bytes) const override {
    return neighbors_.time(model, bytes);
  }

 private:
  struct WeightsCrossed {};  // in this program

  static Slice one(const std::string& name, const Program& program) {
    return whole(program.setup(), buffer_named(program.setup(), name));
  }

  static CommunicatorId on(const Program& program) {
    return communicator_named(program.setup(), kPushCommunicator);
  }

  /// What this rank keeps of its own, then what each neighbor gives it of its.
  std::vector<double> shares(Program& program) const {
    const auto graph = neighbors_.graph(program.input());
    const auto share = [&](Rank rank) {
      const auto to = graph->mixing(rank, program.phase()).to;
      return 1.0 / static_cast<double>(to.size() + 1);
    };
    std::vector<double> all{share(program.input().rank)};
    for (const Neighbor& from : neighbors_.mixing(program).from) {
      all.push_back(share(from.rank));
    }
    return all;
  }

  void exchange_weights(Program& program) const {
    const Slice weight = one(kPushWeight, program);
    const Slice next = one(kNextPushWeight, program);
    const Mixing& mixing = neighbors_.mixing(program);
    program.kernel("copy", {{next}}, {{weight}}, {1});
    std::vector<Message> receives;
    std::vector<Access> reads{{weight}};
    for (std::size_t i = 0; i < mixing.from.size(); ++i) {
      const Slice inbox = one(inbox_weight(i), program);
      receives.push_back({mixing.from[i].rank, inbox});
      reads.push_back({inbox});
    }
    if (!mixing.from.empty() || !mixing.to.empty()) {
      program.exchange(
          on(program), Neighbors::sends(mixing, weight), std::move(receives));
    }
    program.kernel("linear", std::move(reads), {{next}}, shares(program));
  }

  Neighbors neighbors_;
};

}  // namespace

std::unique_ptr<ExchangeRule> make_push_sum(const Options& options) {
  return std::make_unique<PushSum>(options);
}

}  // namespace paceline::strategies
