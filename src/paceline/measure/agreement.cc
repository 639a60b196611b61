// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/agreement.h"

#include <set>
#include <string>
#include <string_view>
#include <variant>

#include <fmt/format.h>
#include <torch/torch.h>

#include "paceline/base/error.h"

namespace paceline::measure {
namespace {

constexpr plan::Step kSteps = 64;  // longer than any planner's cycle

std::string collectives_text(const plan::CommPlan& plan,
                             const plan::Setup& setup,
                             plan::CommunicatorId on) {
  std::string text;
  for (const plan::Op& op : plan.ops) {
    const auto* c = std::get_if<plan::Collective>(&op.work);
    if (c == nullptr || c->on != on) {
      continue;
    }
    text += fmt::format(
        "{} {} {} {} {} {} {}\n",
        static_cast<int>(c->pattern),
        c->in.count,
        c->out.count,
        static_cast<int>(setup.buffers[plan::index_of(c->in.buffer)].dtype),
        static_cast<int>(c->reduce),
        c->root,
        op.performer);
  }
  return text;
}

// Fowler, Noll and Vo's hash, variant 1a.
std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return hash;
}

}  // namespace

std::int64_t communicator_digest(const plan::Planner& planner,
                                 const plan::PlanInput& input,
                                 const plan::Setup& setup,
                                 plan::CommunicatorId on) {
  std::set<plan::Variant> seen;
  std::string text;
  for (plan::Step step = 0; step < kSteps; ++step) {
    const plan::Variant variant = planner.variant(input, step);
    text += fmt::format("variant {}\n", variant);
    if (seen.insert(variant).second) {
      text += collectives_text(planner.plan(input, setup, variant), setup, on);
    }
  }
  return static_cast<std::int64_t>(fnv1a(text));
}

void require_agreement(engines::Channel& channel,
                       const plan::Communicator& group,
                       std::int64_t digest,
                       at::Device device) {
  if (channel.world() == 1) {
    return;
  }
  const auto options = at::TensorOptions().dtype(at::kLong).device(device);
  const at::Tensor mine = at::full({1}, digest, options);
  const at::Tensor all = at::empty({channel.world()}, options);
  channel.all_gather(mine, all)->wait();
  const at::Tensor told = all.to(at::kCPU);
  const auto* digests = told.const_data_ptr<std::int64_t>();
  for (std::size_t i = 1; i < group.members.size(); ++i) {
    if (digests[i] != digests[0]) {
      throw UsageError(fmt::format(
          "rank {}'s plan differs from rank {}'s on communicator {}: every "
          "rank must be given the same strategy, model and sizes.",
          group.members[i],
          group.members[0],
          group.name));
    }
  }
}

}  // namespace paceline::measure
