// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace paceline::simulator {

/// What waits for its turn: the least order first, of equals the least id.  A
/// heap that keeps its memory.
class LeastFirst {
 public:
  bool empty() const { return heap_.empty(); }
  std::uint32_t first() const { return heap_.front().second; }

  /// Whether its first goes before that of `other`; neither is empty.
  bool goes_before(const LeastFirst& other) const {
    return heap_.front() < other.heap_.front();
  }

  void add(std::int64_t order, std::uint32_t id) {
    heap_.emplace_back(order, id);
    std::ranges::push_heap(heap_, std::greater{});
  }

  void remove_first() {
    std::ranges::pop_heap(heap_, std::greater{});
    heap_.pop_back();
  }

 private:
  std::vector<std::pair<std::int64_t, std::uint32_t>> heap_;
};

}  // namespace paceline::simulator
