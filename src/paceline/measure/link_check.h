// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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
/// engine. The times of all ranks must be on one clock.  Slack and overdue time
/// are divided by `stretch`; the window's length is the caller's to set.
///
/// An operation is overdue until `until`: where several are at once, that time
/// counts once.
enum class Until : std::uint8_t {
  kEngine,  // the engine has ended it
  kCaller   // its caller knows, so that the emulation's own delay counts too
};
records::LinkCheck check_link(
    const std::vector<std::vector<engines::LinkedOperation>>& by_rank,
    double stretch,
    Until until = Until::kEngine);

}  // namespace paceline::measure
