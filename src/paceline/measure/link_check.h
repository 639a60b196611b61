// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "paceline/engines/link.h"
#include "paceline/records/run_record.h"

namespace paceline::measure {

/// The emulated link of a case's rank; null where it has none.
std::shared_ptr<engines::Link> make_link(const records::Configuration& c);

/// The text by which a rank sends them to rank 0.  `origin_ns` is subtracted
/// from every time.
std::string to_text(std::vector<engines::LinkedOperation> operations,
                    std::int64_t origin_ns);
std::vector<engines::LinkedOperation> linked_operations_from(
    const std::string& text);

/// Compares the engine with the emulated link, for the operations that all
/// members recorded.
///
/// An operation begins when its last member issues it and ends when it has
/// ended on all members, so the latest modelled end is compared with the latest
/// real end: a member that issued early waited for the others, not for the
/// engine. The times of all ranks must be on one clock.  Slack is divided by
/// `stretch`.
records::LinkCheck check_link(
    const std::vector<std::vector<engines::LinkedOperation>>& by_rank,
    double stretch);

}  // namespace paceline::measure
