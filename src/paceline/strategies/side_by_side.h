// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "paceline/plan/profile.h"

namespace paceline::strategies {

using namespace plan;

/// Crossings that may be under way at once, on a clock of their own.
///
/// They begin in the order in which they are added, each when it is ready and
/// fewer than `most` are under way (0: no such limit).  Each waits for its
/// start-up; those that flow have equal shares of the wire.
class SideBySide {
 public:
  explicit SideBySide(std::int32_t most) : most_(most) {}

  /// Ready no earlier than the one before; `flow`: alone on the wire.
  void add(Picoseconds ready, Picoseconds start, Picoseconds flow);

  /// When the next one begins, begins to flow or ends; infinite for none.
  double next_time() const;

  /// On to `time`, which next_time() must not precede.
  void advance(double time);

  /// Of all, in their order; runs until they have ended.  Rounded to the
  /// nearest picosecond.
  const std::vector<Picoseconds>& ends();

  /// As they have ended so far.
  const std::vector<std::size_t>& ended() const { return ended_; }

 private:
  struct Crossing {
    Picoseconds ready = 0, start = 0, flow = 0;
  };
  struct UnderWay {
    std::size_t index = 0;
    double flows_from = 0, left = 0;
  };

  void admit();
  bool may_begin() const;
  std::size_t flowing() const;

  std::int32_t most_;
  std::vector<Crossing> crossings_;
  std::vector<UnderWay> under_way_;
  std::vector<Picoseconds> ends_;
  std::vector<std::size_t> ended_;
  std::size_t next_ = 0;
  double now_ = 0;
};

}  // namespace paceline::strategies
