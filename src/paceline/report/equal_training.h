// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "paceline/records/run_record.h"

// Checks whether different programs did the same training, by network sizes, losses and norms
// (docs/adapters.md).

namespace paceline::report {

/// Returns why the times of two records are not comparable: one of them is from an adapter, both
/// were asked for the same training, and a quantity of it differs.  Returns nothing if they are
/// comparable.
std::optional<std::string> unequal_training(const records::RunRecord& base,
                                            const records::RunRecord& test);

/// Returns the records of cases whose training differs from that of others, each with the reason.
/// A quantity is compared with the first case of the same experiment that states it and was asked
/// for the same training.
std::map<const records::RunRecord*, std::string> not_comparable(
    std::span<const records::RunRecord> records);

}  // namespace paceline::report
