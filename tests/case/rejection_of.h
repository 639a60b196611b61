// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/base/error.h"
#include "paceline/case/experiment.h"

namespace paceline::cases {

/// What is said of an experiment that does not fit the machine.
inline std::string rejection_of(const RawSettings& raw, const MachineFacts& machine) {
  try {
    expand(raw, machine);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace paceline::cases
