// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace paceline::plan {

/// Returns a sentence that names the ops of a cycle in which each op waits for the next. `blocker`
/// returns the op that a given op waits for. The waits are followed from `first` until an op occurs
/// for the second time, which closes the cycle.
template <typename Place, typename Blocker, typename Describe>
std::string deadlock(Place first, const Blocker& blocker, const Describe& describe) {
  std::vector<Place> seen;
  while (std::ranges::find(seen, first) == seen.end()) {
    seen.push_back(first);
    first = blocker(first);
  }
  std::string text = "ops wait for each other: ";
  for (auto it = std::ranges::find(seen, first); it != seen.end(); ++it) {
    text += describe(*it) + "; waits for ";
  }
  return text + describe(first);
}

}  // namespace paceline::plan
