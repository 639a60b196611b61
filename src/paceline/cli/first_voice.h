// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <thread>

namespace paceline::cli {

/// What a rank leaves with that has found a mistake of which another rank tells
/// the user.  Launchers end all ranks once one has left, so it lets that one
/// speak first.
inline int leave_it_to_the_first_rank() {
  constexpr int kUsage = 2;
  std::this_thread::sleep_for(std::chrono::seconds(2));
  return kUsage;
}

}  // namespace paceline::cli
