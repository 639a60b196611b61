// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/base/error.h"

namespace paceline::records {

/// What the UsageError that `call` throws says; "accepted" where it throws none.
inline std::string rejection(auto&& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace paceline::records
