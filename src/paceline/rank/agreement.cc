// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/agreement.h"

#include <string>
#include <tuple>
#include <variant>

#include <fmt/format.h>
#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/base/hash.h"
#include "paceline/plan/matching.h"

namespace paceline::rank {
namespace {

// The digest contains the plan's period and the plan's variant in each of the first 64 steps.
constexpr plan::Step kComparedSteps = 64;

// Appends the numbers that describe an operation and must be equal on all ranks that take part.
template <class... Term>
void add_signature(const std::tuple<Term...>& terms, std::string& text) {
  std::apply(
      [&](auto... term) { ((text += fmt::format("{} ", static_cast<std::int64_t>(term))), ...); },
      terms);
  text += '\n';
}

// Appends a description of what the op sends or receives on its communicator.
void add_op(const plan::Setup& setup, const plan::Op& op, std::string& text) {
  if (const auto* c = std::get_if<plan::Collective>(&op.work)) {
    text += fmt::format("{} {} {} ", c->in.begin, c->out.begin, op.performer);
    add_signature(plan::signature_of(setup, *c), text);
  } else if (const auto* exchange = std::get_if<plan::Exchange>(&op.work)) {
    for (const auto* messages : {&exchange->sends, &exchange->receives}) {
      for (const plan::Message& message : *messages) {
        text += fmt::format("{} ", message.peer);
        add_signature(plan::signature_of(setup, message), text);
      }
      text += '\n';
    }
  }
}

}  // namespace

std::vector<std::int64_t> plan_digests(const plan::Planner& planner, const plan::PlanInput& input) {
  std::string all = fmt::format("period {}\n", planner.period(input));
  for (plan::Step step = 0; step < kComparedSteps; ++step) {
    all += fmt::format("variant {}\n", planner.variant(input, step));
  }
  std::vector<std::string> texts(planner.setup(input).communicators.size(), all);
  if (texts.empty()) {
    return {};
  }
  plan::PlanInput of_rank = input;
  for (of_rank.rank = 0; of_rank.rank < input.world; ++of_rank.rank) {
    const plan::Setup setup = planner.setup(of_rank);
    std::string parameters;
    for (const plan::ParameterPlacement& placement : setup.parameters) {
      parameters += fmt::format("parameter {}\n", placement.value.begin);
    }
    for (std::string& text : texts) {
      text += parameters;
    }
    for (const plan::Variant variant : plan::variants_of(planner, of_rank)) {
      for (const plan::Op& op : planner.plan(of_rank, setup, variant).ops) {
        if (const auto on = plan::communicator_of(op)) {
          add_op(setup, op, texts[plan::index_of(*on)]);
        }
      }
    }
  }
  std::vector<std::int64_t> digests;
  for (const std::string& text : texts) {
    digests.push_back(static_cast<std::int64_t>(fnv1a_64(text)));
  }
  return digests;
}

void require_agreement(engines::Channel& channel, const plan::Communicator& group,
                       std::int64_t digest, at::Device device, const engines::PeerWait& peers) {
  const std::size_t members = group.members.size();
  if (members == 1) {
    return;
  }
  const at::Tensor mine = at::tensor({digest}, at::kLong).to(device);
  const at::Tensor all = at::empty({channel.world()}, mine.options());
  peers.wait_for(channel.all_gather(mine, all));
  const at::Tensor gathered = all.to(at::kCPU);
  const auto* digests = gathered.const_data_ptr<std::int64_t>();
  for (std::size_t i = 1; i < members; ++i) {
    if (digests[i] != digests[0]) {
      throw UsageError(
          fmt::format("rank {}'s plan differs from rank {}'s on communicator {}: every rank must "
                      "be given the same strategy, model and sizes.",
                      group.members[i], group.members[0], group.name));
    }
  }
}

}  // namespace paceline::rank
