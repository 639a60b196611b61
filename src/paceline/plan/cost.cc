// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/cost.h"

#include <algorithm>
#include <vector>

#include "paceline/base/error.h"
#include "paceline/plan/dependency_analyzer.h"
#include "paceline/plan/program.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::plan {
namespace {

/// Returns how many bytes of a slice are expected to be sent: those of the typical length if the
/// slice is ragged (plan/ragged.h), else all.
std::int64_t expected_bytes(const Setup& setup, const Slice& slice) {
  const Buffer& buffer = setup.buffers[index_of(slice.buffer)];
  return std::min(slice.count, buffer.typical.value_or(slice.count)) * size_of(buffer.dtype);
}

std::int64_t expected_bytes(const Setup& setup, const std::vector<Message>& messages) {
  std::int64_t bytes = 0;
  for (const Message& message : messages) {
    bytes += expected_bytes(setup, message.slice);
  }
  return bytes;
}

void record_traffic(Cost& cost, std::string_view kind, std::int64_t bytes) {
  Traffic& traffic = cost.by_pattern[std::string(kind)];
  traffic.bytes += bytes;
  traffic.calls += 1;
  cost.wire_bytes += bytes;
  cost.calls += 1;
}

bool communicates(const Op& op) {
  return std::holds_alternative<Collective>(op.work) || std::holds_alternative<Exchange>(op.work);
}

}  // namespace

Cost cost(const Setup& setup, const CommPlan& plan, Rank rank) {
  Cost total;
  for (const Op& op : plan.ops) {
    if (const auto* collective = std::get_if<Collective>(&op.work)) {
      const Communicator& on = setup.communicators[index_of(collective->on)];
      PACELINE_CHECK(on.members.contains(rank));
      record_traffic(total, name_of(collective->pattern),
                     wire_bytes(collective->pattern, payload_bytes(setup, op),
                                static_cast<std::int64_t>(on.members.size())));
    } else if (const auto* exchange = std::get_if<Exchange>(&op.work)) {
      for (const Message& message : exchange->sends) {
        record_traffic(total, kMessageOperation, expected_bytes(setup, message.slice));
      }
    }
  }
  for (const Buffer& buffer : setup.buffers) {
    if (buffer.name != kValues && buffer.name != kGradients) {
      total.memory_bytes += buffer.elements * size_of(buffer.dtype);
    }
  }
  return total;
}

bool communicates(const CommPlan& plan) {
  return std::ranges::any_of(plan.ops, [](const Op& op) { return communicates(op); });
}

bool has_ops_of_other_owners(const CommPlan& plan) {
  return std::ranges::any_of(plan.ops, [](const Op& op) { return !op.performer.empty(); });
}

std::int64_t payload_bytes(const Setup& setup, const Op& op) {
  std::int64_t bytes = credit_bytes_of(setup, op);
  if (const auto* exchange = std::get_if<Exchange>(&op.work)) {
    bytes += expected_bytes(setup, exchange->receives);
  }
  return bytes;
}

std::int64_t largest_payload(const Planner& planner, const PlanInput& input, const Setup& setup) {
  std::int64_t largest = 0;
  for (const Variant variant : variants_of(planner, input)) {
    for (const Op& op : planner.plan(input, setup, variant).ops) {
      largest = std::max(largest, payload_bytes(setup, op));
    }
  }
  return largest;
}

std::int64_t credit_bytes_of(const Setup& setup, const Op& op) {
  if (const auto* collective = std::get_if<Collective>(&op.work)) {
    return std::max(expected_bytes(setup, collective->in), expected_bytes(setup, collective->out));
  }
  const auto* exchange = std::get_if<Exchange>(&op.work);
  return exchange != nullptr ? expected_bytes(setup, exchange->sends) : 0;
}

std::int64_t rounds(const ModelShape& model, const Setup& setup, const CommPlan& plan) {
  DependencyAnalyzer analyzer(model, setup);
  const Dependencies dependencies = analyzer.open(0, plan);
  std::vector<std::int64_t> behind(plan.ops.size(), 0);
  std::int64_t before_phase = 0, phase = 0, longest = 0;
  bool backward = false;
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i];
    for (const Edge& edge : dependencies.waits_for[i]) {
      behind[i] = std::max(behind[i], behind[static_cast<std::size_t>(edge.op)]);
    }
    const bool is_backward = std::holds_alternative<Backward>(op.work);
    if (is_backward || std::holds_alternative<Forward>(op.work)) {
      if (is_backward != backward) {
        before_phase = phase;
        backward = is_backward;
      }
      behind[i] = std::max(behind[i], before_phase);
      phase = std::max(phase, behind[i]);
    }
    behind[i] += communicates(op) ? 1 : 0;
    longest = std::max(longest, behind[i]);
  }
  return longest;
}

}  // namespace paceline::plan
