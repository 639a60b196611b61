// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "paceline/engines/link.h"
#include "paceline/records/comm_record.h"
#include "paceline/records/run_record.h"

namespace paceline::rank {

/// Returns the emulated link of a case's rank; null if the case has none.
std::shared_ptr<engines::Link> make_link(const cases::Case& c);

/// These functions convert operations to the text that a rank sends to rank 0, and back.
/// `origin_ns` is subtracted from every time.
std::string to_text(std::vector<engines::LinkedOperation> operations, std::int64_t origin_ns);
std::vector<engines::LinkedOperation> linked_operations_from(const std::string& text);

/// Compares the engine with the emulated link, for the operations that all members recorded.
///
/// An operation begins when its last member issues it and ends when it has ended on all members.
/// So the latest modelled end is compared with the latest real end: a member that issued early
/// waited for the other members, not for the engine.  The times of all ranks must be on one clock.
/// Slack and overdue time are divided by `stretch`.  The caller must set LinkCheck::window_ns.
/// Time in which several operations are overdue at once counts once.
records::LinkCheck check_link(const std::vector<std::vector<engines::LinkedOperation>>& by_rank,
                              double stretch);

/// Returns whether the median iteration of an operation on an emulated link takes at most the time
/// that the link's rate and latency give, plus the fraction LinkCheck::kMaxOverdueFraction.
bool matches_link_duration(const records::CommRecord& record);

}  // namespace paceline::rank
