// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"

namespace paceline::plan {

/// Bytes and calls of one kind of communication.
struct Traffic {
  std::int64_t bytes = 0;
  std::int64_t calls = 0;

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// What one step of a plan costs one rank, whatever the network.
struct Cost {
  std::int64_t wire_bytes = 0;  // sent by this rank
  std::int64_t calls = 0;
  std::map<std::string, Traffic> by_pattern;  // all-reduce, message, ...
  std::int64_t memory_bytes = 0;              // buffers beside values and gradients
};

/// Closed forms of plan/wire_bytes.h, summed; a message counts its size at the sender (the typical
/// one where the length varies).
Cost cost(const Setup& setup, const CommPlan& plan, Rank rank);

/// Whether anything crosses the network.
bool communicates(const CommPlan& plan);

/// Whether some ops are issued by a performer, not by the plan's executor.
bool has_performer(const CommPlan& plan);

/// The payload of a collective, all that an exchange sends and receives.
std::int64_t payload_bytes(const Setup& setup, const Op& op);

/// The largest payload of an op at `input.rank`, over variants_of().
std::int64_t largest_payload(const Planner& planner, const PlanInput& input, const Setup& setup);

/// The bytes of an op that count against its communicator's credit: the payload of a collective, or
/// what an exchange sends.  An op that only receives counts no bytes and is never held back: two
/// ranks that had spent their credit on messages to each other would otherwise receive neither
/// message.
std::int64_t bytes_on_credit(const Setup& setup, const Op& op);

/// The longest chain of communication within a step of which each waits for
/// the one before.
std::int64_t rounds(const ModelShape& model, const Setup& setup, const CommPlan& plan);

}  // namespace paceline::plan
