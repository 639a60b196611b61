// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "paceline/base/error.h"
#include "paceline/cluster/cluster.h"

namespace paceline::cluster {

/// What the UsageError of a cluster file says, which is named c.toml; "no error" where the file is
/// accepted.
inline std::string message_of(std::string_view text) {
  try {
    parse_cluster(text, "c.toml");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace paceline::cluster
