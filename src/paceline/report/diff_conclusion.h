// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "paceline/report/diff.h"
#include "paceline/report/table.h"

// What a comparison comes to, in words.

namespace paceline::report {

/// How many runs find what; of runs until a decision, how many were used.
std::optional<Note> power_note(const Diff& diff);

/// What is proven, what did not change by more than so much, and what is not decided and why.
Note verdict_note(const Diff& diff);

/// "changed", "not changed by more than 2 %", "not decided".
std::string decision_text(const Diff& diff);

}  // namespace paceline::report
