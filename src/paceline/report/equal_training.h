// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "paceline/records/run_record.h"

// Whether programs train the same: their parameters, losses and norms (docs/adapters.md).

namespace paceline::report {

/// Why the figures of two records are not comparable: one is an adapter's, both were asked for the
/// same training, and one trained another; nothing where they are.
std::optional<std::string> unequal_training(const records::RunRecord& base,
                                            const records::RunRecord& test);

/// The records of cases that trained otherwise than the first case of their experiment that says
/// the quantity and was asked for the same, with the reason.
std::map<const records::RunRecord*, std::string> not_comparable(
    std::span<const records::RunRecord> records);

}  // namespace paceline::report
