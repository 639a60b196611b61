// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/agreement.h"

#include <string>
#include <string_view>
#include <tuple>
#include <variant>

#include <fmt/format.h>
#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/base/hash.h"
#include "paceline/plan/matching.h"

namespace paceline::rank {
namespace {

// The digest holds the plan's variant in each of the first 64 steps, beside the plan's period.
constexpr plan::Step kComparedSteps = 64;

// Appends the numbers that are equal in the signatures of matching operations.
template <class... Term>
void add_signature(const std::tuple<Term...>& terms, std::string& text) {
  std::apply(
      [&](auto... term) { ((text += fmt::format("{} ", static_cast<std::int64_t>(term))), ...); },
      terms);
  text += '\n';
}

std::string collectives_text(const plan::CommPlan& plan, const plan::Setup& setup,
                             plan::CommunicatorId on) {
  std::string text;
  for (const plan::Op& op : plan.ops) {
    const auto* c = std::get_if<plan::Collective>(&op.work);
    if (c == nullptr || c->on != on) {
      continue;
    }
    // The larger slice is the whole, which begins at the same place on all members; the place of a
    // shard differs.
    text +=
        fmt::format("{} {} ", (c->in.count < c->out.count ? c->out : c->in).begin, op.performer);
    add_signature(plan::signature_of(setup, *c), text);
  }
  return text;
}

// Appends each message to the text of the peer that it goes to or comes from.
void add_messages(const std::vector<plan::Message>& messages, const plan::Setup& setup,
                  const plan::Members& members, std::vector<std::string>& texts) {
  for (const plan::Message& message : messages) {
    add_signature(plan::signature_of(setup, message), texts[*members.place_of(message.peer)]);
  }
}

std::vector<std::int64_t> digests(const std::vector<std::string>& texts) {
  std::vector<std::int64_t> out;
  for (const std::string& text : texts) {
    out.push_back(static_cast<std::int64_t>(fnv1a_64(text)));
  }
  return out;
}

}  // namespace

PlanDigest digest_of(const plan::Planner& planner, const plan::PlanInput& input,
                     const plan::Setup& setup, plan::CommunicatorId on) {
  std::string collectives;
  for (const plan::Placement& placement : setup.parameters) {
    collectives += fmt::format("parameter {}\n", placement.value.begin);
  }
  collectives += fmt::format("period {}\n", planner.period(input));
  for (plan::Step step = 0; step < kComparedSteps; ++step) {
    collectives += fmt::format("variant {}\n", planner.variant(input, step));
  }
  const plan::Members& members = setup.communicators[plan::index_of(on)].members;
  std::vector<std::string> sends(members.size()), receives(members.size());
  for (const plan::Variant variant : plan::variants_of(planner, input)) {
    const plan::CommPlan plan = planner.plan(input, setup, variant);
    collectives += collectives_text(plan, setup, on);
    for (const plan::Op& op : plan.ops) {
      const auto* exchange = std::get_if<plan::Exchange>(&op.work);
      if (exchange != nullptr && exchange->on == on) {
        add_messages(exchange->sends, setup, members, sends);
        add_messages(exchange->receives, setup, members, receives);
      }
    }
  }
  return {.collectives = static_cast<std::int64_t>(fnv1a_64(collectives)),
          .sends = digests(sends),
          .receives = digests(receives)};
}

void require_agreement(engines::Channel& channel, const plan::Communicator& group,
                       const PlanDigest& digest, at::Device device,
                       const engines::PeerWait& peers) {
  const std::size_t members = group.members.size();
  if (members == 1) {
    return;
  }
  std::vector<std::int64_t> row{digest.collectives};
  row.insert(row.end(), digest.sends.begin(), digest.sends.end());
  row.insert(row.end(), digest.receives.begin(), digest.receives.end());
  const at::Tensor mine = at::tensor(row, at::kLong).to(device);
  const auto length = static_cast<std::int64_t>(row.size());
  const at::Tensor all = at::empty({channel.world() * length}, mine.options());
  peers.wait_for(channel.all_gather(mine, all));
  const at::Tensor gathered = all.to(at::kCPU);
  const auto told = [&](std::size_t member, std::size_t place) {
    return gathered.const_data_ptr<std::int64_t>()[member * row.size() + place];
  };
  for (std::size_t i = 0; i < members; ++i) {
    if (told(i, 0) != told(0, 0)) {
      throw UsageError(
          fmt::format("rank {}'s plan differs from rank {}'s on communicator {}: every rank must "
                      "be given the same strategy, model and sizes.",
                      group.members[i], group.members[0], group.name));
    }
    for (std::size_t j = 0; j < members; ++j) {
      if (told(i, 1 + j) != told(j, 1 + members + i)) {
        throw UsageError(
            fmt::format("rank {} sends rank {} other messages on communicator {} than rank {} "
                        "expects: every rank must be given the same strategy, model and sizes.",
                        group.members[i], group.members[j], group.name, group.members[j]));
      }
    }
  }
}

}  // namespace paceline::rank
