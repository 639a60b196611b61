// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"

namespace paceline::plan {

/// The bytes and calls of one kind of communication.
struct Traffic {
  std::int64_t bytes = 0;
  std::int64_t calls = 0;

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// The communication and memory of one step of a plan on one rank, independent of the network.
struct Cost {
  std::int64_t wire_bytes = 0;  // bytes sent by this rank
  std::int64_t calls = 0;
  std::map<std::string, Traffic> by_pattern;  // keys: all-reduce, message, ...
  std::int64_t memory_bytes = 0;              // size of all buffers except values and gradients
};

/// Sums the bytes that the rank sends, by the formulas of plan/wire_bytes.h, over the plan.  A
/// message counts with its size at the sender; if its length varies, with the typical size.
Cost cost(const Setup& setup, const CommPlan& plan, Rank rank);

/// Whether the plan has ops that send or receive.
bool communicates(const CommPlan& plan);

/// Whether some ops are issued by other code than the plan's executor (Op), such as PyTorch's
/// Reducer.
bool has_ops_of_other_owners(const CommPlan& plan);

/// The payload of a collective, or the bytes of all messages that an exchange sends and receives.
std::int64_t payload_bytes(const Setup& setup, const Op& op);

/// The largest payload of an op on `input.rank`, over all variants.
std::int64_t largest_payload(const Planner& planner, const PlanInput& input, const Setup& setup);

/// The bytes of an op that count against its communicator's credit: the payload of a collective, or
/// the bytes that an exchange sends.  An op that only receives counts no bytes and is never held
/// back: two ranks that had spent their credit on messages to each other would otherwise receive
/// neither message.
std::int64_t credit_bytes_of(const Setup& setup, const Op& op);

/// The length of the longest chain of communication ops within a step in which each op waits for
/// the one before it.
std::int64_t rounds(const ModelShape& model, const Setup& setup, const CommPlan& plan);

}  // namespace paceline::plan
