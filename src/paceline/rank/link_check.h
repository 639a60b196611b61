// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "paceline/engines/link.h"
#include "paceline/records/comm_record.h"
#include "paceline/records/run_record.h"

namespace paceline::rank {

/// The emulated link of a case's rank; null where it has none.
std::shared_ptr<engines::Link> make_link(const records::Configuration& c);

/// The text by which a rank sends them to rank 0.  `origin_ns` is subtracted from every time.
std::string to_text(std::vector<engines::LinkedOperation> operations, std::int64_t origin_ns);
std::vector<engines::LinkedOperation> linked_operations_from(const std::string& text);

/// Compares the engine with the emulated link, for the operations that all members recorded.
///
/// An operation begins when its last member issues it and ends when it has ended on all members, so
/// the latest modelled end is compared with the latest real end: a member that issued early waited
/// for the others, not for the engine. The times of all ranks must be on one clock.  Slack and
/// overdue time are divided by `stretch`; the window's length is the caller's to set.
/// Where several operations are overdue at once, that time counts once.
records::LinkCheck check_link(const std::vector<std::vector<engines::LinkedOperation>>& by_rank,
                              double stretch);

/// Whether the median iteration of an operation behind an emulated link is as long as the link
/// makes it, within LinkCheck::kMostOverdue.
bool is_as_long_as_its_link(const records::CommRecord& record);

}  // namespace paceline::rank
