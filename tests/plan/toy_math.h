// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/plan/plan_world.h"

// What ops compute on doubles, for tests.  Everything is a pure function of
// its inputs, so runs that read the same values agree bit for bit.

namespace paceline::plan {

using Values = std::vector<double>;

inline std::size_t size(Elements elements) { return static_cast<std::size_t>(elements); }

/// Buffers of all ranks.
class ToyMemory {
 public:
  /// Parameters start as small integers; the learning rate is 1/4.
  explicit ToyMemory(const PlanWorld& world);

  Values read(Rank rank, const Slice& slice) const;
  void write(Rank rank, const Slice& slice, const Values& values);
  void poison(Rank rank, const Slice& slice);

  /// NaN differs from everything, itself too.
  friend bool operator==(const ToyMemory&, const ToyMemory&) = default;

 private:
  std::vector<std::vector<Values>> buffers_;  // by rank, by buffer
};

/// A gradient that depends on who computes it, when, and on the value.
Values toy_gradient(Rank rank, Step step, const Backward& work, const Values& value);

/// Outputs of a kernel, one per write.  What a codec draws depends on `draw` alone.
std::vector<Values> toy_kernel(const Kernel& work, const std::vector<Values>& reads, Step draw = 0);

/// Outputs of a collective by member.
std::vector<Values> toy_collective(const Communicator& on,
                                   const std::vector<const Collective*>& parts,
                                   const std::vector<Values>& inputs);

}  // namespace paceline::plan
