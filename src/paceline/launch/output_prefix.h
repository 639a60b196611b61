// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace paceline::launch {

/// A line of a job's output, without what its launcher wrote before it.
struct RankLine {
  std::string text;
  /// The rank that the prefix names.
  std::optional<int> rank{};
  /// Whether the prefix is one that no program writes of itself. A number and a colon, as of `srun
  /// --label`, may be part of the line.
  bool certain = false;
};

/// Takes off "[default0]:" (torchrun --tee), "[rank0]:" (PyTorch), "[1,0]<stdout>:" (Open MPI),
/// "[0] " (MPICH) and "0: " (Slurm), one after the other where there are several. Prefixes that
/// name different ranks, as of torchrun under srun, name none.
RankLine without_prefix(const std::string& line);

}  // namespace paceline::launch
