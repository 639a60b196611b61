// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "paceline/plan/profile.h"

namespace paceline::sim {

enum class EventKind : std::uint8_t {
  kModelWork,
  kKernel,
  kIssued,
  kAgreed,
  kStage,
  kFlow
};

struct Event {
  plan::Picoseconds time = 0;
  std::uint32_t sequence = 0;  // of its making
  std::uint32_t subject = 0;   // 29 bits, below them the kind

  EventKind kind() const { return static_cast<EventKind>(subject & 7U); }
  std::uint32_t index() const { return subject >> 3U; }

  friend bool operator<(const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.sequence < b.sequence;
  }
};

/// Events by (time, sequence number): a heap in which each node has four
/// children, so that the path of a removal is short and in few cache lines.
class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  const Event& top() const { return heap_.front(); }
  void clear() {
    heap_.clear();
    sequence_ = 0;
  }

  /// Returns the event's sequence number.
  std::uint32_t push(plan::Picoseconds time,
                     EventKind kind,
                     std::uint32_t index) {
    const Event event{
        time, sequence_++, (index << 3U) | static_cast<std::uint32_t>(kind)};
    std::size_t hole = heap_.size();
    heap_.push_back(event);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / 4;
      if (!(event < heap_[parent])) {
        break;
      }
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = event;
    return event.sequence;
  }

  Event pop() {
    const Event first = heap_.front();
    const Event last = heap_.back();
    heap_.pop_back();
    const std::size_t size = heap_.size();
    if (size > 0) {
      heap_[sink(size, last)] = last;
    }
    return first;
  }

  std::uint64_t pushed() const { return sequence_; }

 private:
  /// Where `event` belongs when the root is empty.
  std::size_t sink(std::size_t size, const Event& event) {
    std::size_t hole = 0;
    while (true) {
      const std::size_t child = 4 * hole + 1;
      if (child >= size) {
        return hole;
      }
      std::size_t least = child;
      const std::size_t end = child + 4 < size ? child + 4 : size;
      for (std::size_t i = child + 1; i < end; ++i) {
        least = heap_[i] < heap_[least] ? i : least;
      }
      if (!(heap_[least] < event)) {
        return hole;
      }
      heap_[hole] = heap_[least];
      hole = least;
    }
  }

  std::vector<Event> heap_;
  std::uint32_t sequence_ = 0;
};

}  // namespace paceline::sim
