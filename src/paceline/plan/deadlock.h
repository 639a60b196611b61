// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace paceline::plan {

/// A sentence that names the ops which wait for each other.  `blocker` returns what a place waits
/// for; the places are followed from `first` on until one comes again, and the cycle is described.
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
