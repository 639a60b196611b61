// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/error_feedback.h"
#include "paceline/strategies/neighbors.h"
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

constexpr auto kNeighborAllreduce = "neighbor-allreduce";
constexpr auto kPublic = "public_copy";
constexpr auto kPull = "pull";
constexpr auto kChange = "change";
constexpr auto kDecoded = "decoded";

/// neighbor-allreduce with a codec C: every rank has a public copy h_i of its
/// values x_i, which its neighbors can follow, and sends them the code of what
/// the copy lacks.  With z_i = sum over j of W_ij h_j - h_i and C scaled as
/// Contraction says,
///   q_i = C(x_i - h_i)      crosses
///   h_i <- h_i + q_i,       z_i <- z_i + sum over j of W_ij q_j - q_i
///   x_i <- x_i + gamma z_i
/// What a code leaves out is in the next difference: error feedback.  Copies
/// start as the parameters, which the ranks have in common, so z starts at 0.
///
///   rounds per exchange            1
///   bytes sent, rank and exchange  degree * those of a form of the slice
///   extra memory, rank             4 S of the model, and 1 + degree forms
///   guarantee                      consensus: ranks agree in the limit only
///
/// W is symmetric and the same in every step.  The mean over the ranks is kept.
/// Koloskova, Stich and Jaggi, ICML 2019, arXiv:1902.00340, algorithm 6
/// (CHOCO-SGD).
class Choco final : public ExchangeRule {
 public:
  Choco(const Options& options, std::unique_ptr<CodecRule> codec)
      : neighbors_(options, kNeighborAllreduce),
        codec_(std::move(codec)),
        contraction_(*codec_->contraction()),
        gamma_(options.number("gamma") == 0 ? contraction_.share
                                            : options.number("gamma")) {}

  ExchangeTraits traits(const PlanInput& input) const override {
    return neighbors_.traits(input);
  }

  void extend(const PlanInput& input,
              const std::vector<Bucket>& buckets,
              const WireFormat&,
              SetupBuilder& builder) const override {
    const auto graph = neighbors_.graph(input);
    check_doubly_stochastic(*graph, kNeighborAllreduce);
    check_fixed(*graph, input);
    PlanInput unscaled = input;  // no scale changes parameters
    unscaled.loss_scaling = false;
    codec_->extend(unscaled, buckets, builder);
    builder.add_twin(kPublic, Initial::kParameters);
    for (const char* name : {kPull, kChange, kDecoded}) {
      builder.add_twin(name);
    }
    add_inboxes(buckets, graph->degree(input.rank), input, builder);
    builder.add_world(kNeighborCommunicator);
  }

  void start(const WireSlice& crossing, Program& program) const override {
    const Slice& values = crossing.mine;
    const Slice change = range_in(kChange, values, program);
    const Slice decoded = range_in(kDecoded, values, program);
    const auto forms = codec_->crossings(change, 0, program);
    if (forms.empty()) {
      return;
    }
    const Slice copy = range_in(kPublic, values, program);
    program.kernel("linear", {{values}, {copy}}, {{change}}, {1, -1});
    forget_residual(change, program);
    codec_->encode(change, 0, program);
    send(forms, program);
    std::vector<Slice> mine;
    for (const WireSlice& form : forms) {
      mine.push_back(form.mine);
    }
    codec_->decode_from(mine, decoded, program);
    add(decoded, 1, copy, program);
    add(decoded,
        neighbors_.mixing(program).self - 1,
        range_in(kPull, values, program),
        program);
  }

  void finish(const WireSlice& crossing, Program& program) const override {
    const Slice& values = crossing.mine;
    const Slice decoded = range_in(kDecoded, values, program);
    const Slice pull = range_in(kPull, values, program);
    const auto forms =
        codec_->crossings(range_in(kChange, values, program), 0, program);
    const Mixing& mixing = neighbors_.mixing(program);
    for (std::size_t i = 0; !forms.empty() && i < mixing.from.size(); ++i) {
      std::vector<Slice> theirs;
      for (const WireSlice& form : forms) {
        theirs.push_back(inbox(i, form.mine, program));
      }
      codec_->decode_from(theirs, decoded, program);
      add(decoded, mixing.from[i].weight, pull, program);
    }
    program.kernel("linear", {{values}, {pull}}, {{values}}, {1, gamma_});
  }

  Picoseconds time(const AlphaBeta& model, std::int64_t bytes) const override {
    return neighbors_.time(model, bytes);
  }

  const CodecRule* codec() const override { return codec_.get(); }

 private:
  void check_fixed(const Topology& graph, const PlanInput& input) const {
    const auto refuse = [](const std::string& why) {
      throw UsageError(fmt::format(
          "'{}' with a codec {}; take topology=ring, or the codec identity",
          kNeighborAllreduce,
          why));
    };
    if (graph.period() != 1) {
      refuse(fmt::format(
          "follows what the neighbors have sent in all steps, so they must "
          "stay the same, and those of this topology repeat after {} steps",
          graph.period()));
    }
    if (const std::string uneven = asymmetry_of(graph, input.world);
        !uneven.empty()) {
      refuse("needs symmetric weights, and " + uneven);
    }
    if (codec_->combination() != Combination::kOwnSum) {
      return;
    }
    for (Rank rank = 0; rank < input.world; ++rank) {
      if (graph.degree(rank) != graph.degree(0)) {
        refuse(fmt::format(
            "that draws the same places on all ranks needs programs of one "
            "length, and rank {} has {} neighbors where rank 0 has {}",
            rank,
            graph.degree(rank),
            graph.degree(0)));
      }
    }
  }

  static std::string inbox_name(std::size_t neighbor, const Buffer& of) {
    return fmt::format("neighbor{}_{}", neighbor, of.name);
  }

  static Slice inbox(std::size_t neighbor,
                     const Slice& form,
                     const Program& program) {
    const Buffer& of = program.setup().buffers[index_of(form.buffer)];
    return range_in(inbox_name(neighbor, of), form, program);
  }

  /// One for each neighbor and each buffer in which a form lies.
  void add_inboxes(const std::vector<Bucket>& buckets,
                   std::size_t degree,
                   const PlanInput& input,
                   SetupBuilder& builder) const {
    std::vector<Buffer> crossing;
    const Program program(input, builder.setup(), {.buckets = buckets});
    for (const Bucket& bucket : buckets) {
      for (const WireSlice& form :
           codec_->crossings(bucket.values, 0, program)) {
        const Buffer& of = builder.setup().buffers[index_of(form.mine.buffer)];
        if (std::ranges::find(crossing, of.name, &Buffer::name) ==
            crossing.end()) {
          crossing.push_back(of);
        }
      }
    }
    for (std::size_t i = 0; i < degree; ++i) {
      for (Buffer buffer : crossing) {
        buffer.name = inbox_name(i, buffer);
        builder.add_buffer(std::move(buffer));
      }
    }
  }

  void send(const std::vector<WireSlice>& forms, Program& program) const {
    const Mixing& mixing = neighbors_.mixing(program);
    std::vector<Message> sends, receives;
    for (const WireSlice& form : forms) {
      for (const Rank to : mixing.to) {
        sends.push_back({to, form.mine});
      }
      for (std::size_t i = 0; i < mixing.from.size(); ++i) {
        receives.push_back({mixing.from[i].rank, inbox(i, form.mine, program)});
      }
    }
    if (!sends.empty()) {
      program.exchange(
          communicator_named(program.setup(), kNeighborCommunicator),
          std::move(sends),
          std::move(receives));
    }
  }

  /// sum <- sum + weight * the decoded form, as the contraction scales it
  void add(const Slice& decoded,
           double weight,
           const Slice& sum,
           Program& program) const {
    program.kernel("linear",
                   {{sum}, {decoded}},
                   {{sum}},
                   {1, weight * contraction_.factor});
  }

  Neighbors neighbors_;
  std::unique_ptr<CodecRule> codec_;
  Contraction contraction_;
  double gamma_;
};

}  // namespace

std::unique_ptr<ExchangeRule> make_choco(const Options& options,
                                         std::unique_ptr<CodecRule> codec) {
  return std::make_unique<Choco>(options, std::move(codec));
}

}  // namespace paceline::strategies
