// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "paceline/plan/profile.h"

namespace paceline::plan {

/// When crossings end that may be under way at once.
///
/// They begin in the order in which they are added, each when it is ready and
/// fewer than `most` are under way (0: no such limit).  Each waits for its
/// start-up; those that flow have equal shares of the wire.
class SideBySide {
 public:
  explicit SideBySide(std::int32_t most) : most_(most) {}

  /// Ready no earlier than the one before; `flow`: alone on the wire.
  void add(Picoseconds ready, Picoseconds start, Picoseconds flow);

  /// Of all, in their order; rounded to the nearest picosecond.
  const std::vector<Picoseconds>& ends();

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
  double next_time() const;
  std::size_t flowing() const;
  void advance(double to);

  std::int32_t most_;
  std::vector<Crossing> crossings_;
  std::vector<UnderWay> under_way_;
  std::vector<Picoseconds> ends_;
  std::size_t next_ = 0;
  double now_ = 0;
};

}  // namespace paceline::plan
