// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <vector>

#include <fmt/format.h>

#include "paceline/records/run_record.h"

namespace paceline::cli {

/// Prints each warning as one line on standard error.
inline void print_warnings(const std::vector<records::Warning>& warnings) {
  for (const records::Warning& warning : warnings) {
    fmt::print(stderr, "{}: {}: {}{}{}\n", warning.code, warning.seen, warning.why,
               warning.advice.empty() ? "" : "; ", warning.advice);
  }
}

}  // namespace paceline::cli
