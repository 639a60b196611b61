// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace paceline::launch {

/// A line of a job's output without the prefix that its launcher wrote.
struct RankLine {
  std::string text;
  /// The rank that the prefix names.
  std::optional<int> rank{};
  /// Whether the prefix is certainly the launcher's. A number and a colon, as of `srun --label`,
  /// may be part of the program's own line.
  bool certain = false;
};

/// Removes "[default0]:" (torchrun --tee), "[rank0]:" (PyTorch), "[1,0]<stdout>:" (Open MPI), "[0]
/// " (MPICH) and "0: " (Slurm), one after the other if there are several. If prefixes name
/// different ranks, as with torchrun under srun, the result has no rank.
RankLine without_prefix(const std::string& line);

}  // namespace paceline::launch
