// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "paceline/plan/profile.h"

namespace paceline::simulator {

enum class EventKind : std::uint8_t { kModelWork, kKernel, kIssued, kLatency, kFlow };

struct Event {
  plan::Picoseconds time = 0;
  std::uint32_t sequence = 0;  // number of the push, which orders events of one time
  std::uint32_t subject = 0;   // 29 bits of index, and the kind in the 3 lowest bits

  EventKind kind() const { return static_cast<EventKind>(subject & 7U); }
  std::uint32_t index() const { return subject >> 3U; }
};

/// A priority queue of events, ordered by (time, sequence number).
///
/// Ranks with the same behavior have events at the same times.  So an element of the heap is not an
/// event but a run: a linked list of events of one time, in the order in which they were pushed.  A
/// hash table by time has the newest runs.  An event is appended to the run of its time if the
/// table has that run; otherwise the event begins a new run.  Two runs of one time are ordered by
/// their first events.
class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  plan::Picoseconds next_time() const { return heap_.front().time; }
  void clear() {
    heap_.clear();
    links_.clear();
    free_ = kNone;
    open_.fill({});
    sequence_ = 0;
  }

  /// Adds an event and returns its sequence number.  `time` must not be negative.
  std::uint32_t push(plan::Picoseconds time, EventKind kind, std::uint32_t index) {
    const std::uint32_t sequence = sequence_++;
    const std::uint32_t link =
        take_link({sequence, (index << 3U) | static_cast<std::uint32_t>(kind), kNone});
    AppendableRun& open = appendable_run_at(time);
    if (open.time == time) {
      links_[open.last].next = link;
    } else {
      heap_.push_back({time, sequence, link});
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
      open.time = time;
    }
    open.last = link;
    return sequence;
  }

  Event pop() {
    Run& run = heap_.front();
    const std::uint32_t at = run.first;
    Link& link = links_[at];
    const Event event{run.time, link.sequence, link.subject};
    run.first = link.next;
    if (link.next == kNone) {
      AppendableRun& open = appendable_run_at(run.time);
      open.time = open.last == at ? kNever : open.time;
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      heap_.pop_back();
    }
    link.next = free_;
    free_ = at;
    return event;
  }

  std::uint64_t pushed() const { return sequence_; }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr plan::Picoseconds kNever = -1;

  struct Run {
    plan::Picoseconds time = 0;
    std::uint32_t sequence = 0;  // sequence number of the first event pushed to the run
    std::uint32_t first = 0;     // index of the first event's link

    friend bool operator>(const Run& a, const Run& b) {
      return a.time != b.time ? a.time > b.time : a.sequence > b.sequence;
    }
  };
  struct Link {
    std::uint32_t sequence = 0, subject = 0;
    std::uint32_t next = kNone;  // next link of the run or of the free list
  };
  struct AppendableRun {  // a run to which events can be appended
    plan::Picoseconds time = kNever;
    std::uint32_t last = kNone;
  };

  AppendableRun& appendable_run_at(plan::Picoseconds time) {
    constexpr std::uint64_t kHashMultiplier =
        0x9e3779b97f4a7c15U;  // a multiplier that spreads close times
    return open_[(static_cast<std::uint64_t>(time) * kHashMultiplier) >> 58U];
  }

  std::uint32_t take_link(const Link& link) {
    if (free_ == kNone) {
      links_.push_back(link);
      return static_cast<std::uint32_t>(links_.size() - 1);
    }
    const std::uint32_t at = free_;
    free_ = links_[at].next;
    links_[at] = link;
    return at;
  }

  std::vector<Run> heap_;
  std::vector<Link> links_;
  std::uint32_t free_ = kNone;
  std::array<AppendableRun, 64> open_{};
  std::uint32_t sequence_ = 0;
};

}  // namespace paceline::simulator
