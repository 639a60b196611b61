// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/choco_estimates.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::strategies {
namespace {

constexpr auto kChangeBuffer = "change";
constexpr auto kDecodedBuffer = "decoded";
constexpr auto kOriginBuffer = "origin";

std::string estimate_name(Step phase) { return fmt::format("estimate{}", phase); }

std::string pull_name(Step phase) { return fmt::format("pull{}", phase); }

std::string inbox_name(std::size_t neighbor, const Buffer& of) {
  return fmt::format("neighbor{}_{}", neighbor, of.name);
}

Slice inbox(std::size_t neighbor, const Slice& form, const Program& program) {
  const Buffer& of = program.setup().buffers[index_of(form.buffer)];
  return same_range_in(inbox_name(neighbor, of), form, program);
}

/// Returns by how much the row's sum exceeds 1; 0 if the excess is only a rounding error.
double row_sum_excess(const MixingRow& row) {
  constexpr double kRounding = 1e-12;  // the tolerance of imbalance_text_of()
  double excess = row.self - 1;
  for (const Neighbor& from : row.from) {
    excess += from.weight;
  }
  return std::abs(excess) > kRounding ? excess : 0;
}

bool has_no_neighbors(const MixingRow& row) { return row.from.empty() && row.to.empty(); }

}  // namespace

ChocoEstimates::ChocoEstimates(std::string_view who, const Options& options,
                               std::unique_ptr<CodecRule> codec)
    : strategy_name_(who), codec_(std::move(codec)), gamma_(options.number("gamma")) {}

double ChocoEstimates::gamma(const ModelShape& model) const {
  return gamma_ == 0 ? codec_->contraction(model)->gamma() : gamma_;
}

std::vector<WireSlice> ChocoEstimates::wire_forms_of(const Slice& slice,
                                                     const Program& program) const {
  std::vector<WireSlice> forms;
  for (int round = 0; round < codec_->rounds(program.input()); ++round) {
    for (const WireSlice& form : codec_->wire_slices(slice, round, program)) {
      forms.push_back(form);
    }
  }
  return forms;
}

void ChocoEstimates::check(const GraphNode& mine, const ModelShape& model) const {
  const Topology& graph = mine.graph;
  const Contraction contraction = *codec_->contraction(model);
  for (Step step = 0; step < graph.period(); ++step) {
    const std::string uneven =
        contraction.can_overshoot ? asymmetry_text_of(graph, mine.nodes, step) : "";
    if (!uneven.empty()) {
      throw UsageError(
          fmt::format("'{}' with a codec whose codes may exceed what they stand for needs "
                      "symmetric weights, since with others the excess grows, and {}; take "
                      "topology=ring, or the codec topk, qsgd or bf16",
                      strategy_name_, uneven));
    }
    for (Rank node = 0; contraction.needs_same_draws && node < mine.nodes; ++node) {
      const std::size_t all = graph.mixing(0, step).from.size();
      const std::size_t here = graph.mixing(node, step).from.size();
      if (here != all) {
        throw UsageError(
            fmt::format("'{}' with a codec that draws the same places on all ranks needs programs "
                        "of one length, and rank {} has {} neighbors where rank 0 has {}; take "
                        "topology=ring, or the codec topk",
                        strategy_name_, node, here, all));
      }
    }
  }
}

void ChocoEstimates::extend_setup(const GraphNode& mine, SetupBuilder& builder) const {
  PlanInput unscaled = builder.input();  // loss scaling does not change parameters
  check(mine, unscaled.model);
  unscaled.loss_scaling = false;
  codec_->extend_setup(unscaled, builder);
  bool even = true;
  for (Step phase = 0; phase < mine.graph.period(); ++phase) {
    builder.add_buffer_like_values(estimate_name(phase), InitialValue::kParameters);
    builder.add_buffer_like_values(pull_name(phase));
    even = even && row_sum_excess(mine.graph.mixing(mine.node, phase)) == 0;
  }
  builder.add_buffer_like_values(kChangeBuffer);
  builder.add_buffer_like_values(kDecodedBuffer);
  if (!even) {
    builder.add_buffer_like_values(kOriginBuffer, InitialValue::kParameters);
  }
  add_inboxes(mine.graph.degree(mine.node), builder);
}

void ChocoEstimates::start(const Slice& values, const MixingRow& mixing, CommunicatorId on,
                           Program& program) const {
  const Slice change = same_range_in(kChangeBuffer, values, program);
  const std::vector<WireSlice> forms = wire_forms_of(change, program);
  if (forms.empty() || has_no_neighbors(mixing)) {
    return;
  }
  const Slice decoded = same_range_in(kDecodedBuffer, values, program);
  const Slice estimate = same_range_in(estimate_name(program.phase()), values, program);
  program.kernel("linear", {{values}, {estimate}}, {{change}}, {1, -1});
  codec_->forget(change, program);
  for (int round = 0; round < codec_->rounds(program.input()); ++round) {
    codec_->encode(change, round, program);
  }
  send(forms, mixing, on, program);
  std::vector<Slice> mine;
  for (const WireSlice& form : forms) {
    mine.push_back(form.mine);
  }
  codec_->decode_from(mine, decoded, program);
  add(decoded, 1, estimate, program);
  add(decoded, mixing.self - 1, same_range_in(pull_name(program.phase()), values, program),
      program);
}

void ChocoEstimates::finish(const Slice& values, const MixingRow& mixing, Program& program) const {
  const Slice change = same_range_in(kChangeBuffer, values, program);
  const std::vector<WireSlice> forms = wire_forms_of(change, program);
  if (forms.empty() || has_no_neighbors(mixing)) {
    return;
  }
  const Slice decoded = same_range_in(kDecodedBuffer, values, program);
  const Slice pull = same_range_in(pull_name(program.phase()), values, program);
  for (std::size_t i = 0; i < mixing.from.size(); ++i) {
    std::vector<Slice> theirs;
    for (const WireSlice& form : forms) {
      theirs.push_back(inbox(i, form.mine, program));
    }
    codec_->decode_from(theirs, decoded, program);
    add(decoded, mixing.from[i].weight, pull, program);
  }
  std::vector<Access> reads{{values}, {pull}};
  const double step = gamma(program.input().model);
  std::vector<double> weights{1, step};
  if (const double excess = row_sum_excess(mixing); excess != 0) {
    reads.push_back({same_range_in(kOriginBuffer, values, program)});
    weights.push_back(step * excess);
  }
  program.kernel("linear", std::move(reads), {{values}}, std::move(weights));
}

/// Adds, for each neighbor, one receive buffer per buffer from which encoded slices are sent.
void ChocoEstimates::add_inboxes(std::size_t degree, SetupBuilder& builder) const {
  std::vector<Buffer> sent;
  const Program program(builder.input(), builder.setup(), {.buckets = builder.buckets()});
  for (const Bucket& bucket : builder.buckets()) {
    for (const WireSlice& form : wire_forms_of(bucket.values, program)) {
      const Buffer& of = builder.setup().buffers[index_of(form.mine.buffer)];
      if (std::ranges::find(sent, of.name, &Buffer::name) == sent.end()) {
        sent.push_back(of);
      }
    }
  }
  for (std::size_t i = 0; i < degree; ++i) {
    for (Buffer buffer : sent) {
      buffer.name = inbox_name(i, buffer);
      builder.add_buffer(std::move(buffer));
    }
  }
}

void ChocoEstimates::send(const std::vector<WireSlice>& forms, const MixingRow& mixing,
                          CommunicatorId on, Program& program) const {
  std::vector<Message> sends, receives;
  for (const WireSlice& form : forms) {
    for (const Rank to : mixing.to) {
      sends.push_back({to, form.mine});
    }
    for (std::size_t i = 0; i < mixing.from.size(); ++i) {
      receives.push_back({mixing.from[i].rank, inbox(i, form.mine, program)});
    }
  }
  program.exchange(on, std::move(sends), std::move(receives));
}

void ChocoEstimates::add(const Slice& decoded, double weight, const Slice& sum,
                         Program& program) const {
  const double factor = codec_->contraction(program.input().model)->factor;
  program.kernel("linear", {{sum}, {decoded}}, {{sum}}, {1, weight * factor});
}

std::optional<ChocoEstimates> make_choco_estimates(std::unique_ptr<CodecRule> codec,
                                                   std::string_view who, const Options& options) {
  if (codec != nullptr) {
    return ChocoEstimates(who, options, std::move(codec));
  }
  if (options.number("gamma") != 0) {
    throw UsageError(
        fmt::format("strategy option {}:gamma={}: it is the step of averages that a "
                    "codec carries, and the strategy names no codec",
                    who, options.text("gamma")));
  }
  return std::nullopt;
}

}  // namespace paceline::strategies
