// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace paceline::plan {

/// The properties of a communication engine. They are known even in a build without libtorch.
struct EngineTraits {
  std::string_view name;
  std::string_view summary;   // one line
  std::string_view made_for;  // kind of device (cpu, cuda) whose tensors it sends without a copy
  bool moves_cpu = false;     // it moves tensors on the CPU
  bool moves_cuda = false;    // it moves tensors on a GPU
  /// The number of collectives of one communicator that the engine performs at the same time.
  std::int32_t concurrent_collectives = 1;
  /// On a GPU, wait() of a c10d::Work only orders the current stream after the work; it does not
  /// block the thread.
  bool orders_streams = false;
  /// All ranks must issue the operations of all communicators in one order, since each operation
  /// occupies the GPU until its peers have issued it too.
  bool one_issue_order = false;
  /// The engine has a thread for each message in flight, which waits for that message.
  bool thread_per_message = false;
  std::string_view install_hint{};  // how to get the engine, if a build may lack it

  constexpr bool moves(std::string_view device) const {
    return device == "cuda" ? moves_cuda : moves_cpu;
  }
};

/// All engines that can be built, in the order in which `paceline list` prints them.  The code of
/// an engine is a row of engines/engine_table.cc.
inline constexpr auto kEngines = std::to_array<EngineTraits>({
    {.name = "gloo",
     .summary = "TCP between hosts, from the PyTorch wheel",
     .made_for = "cpu",
     .moves_cpu = true,
     .moves_cuda = true,
     .concurrent_collectives = 2,  // one in each of its two threads
     .thread_per_message = true},
    {.name = "nccl",
     .summary = "NVIDIA GPUs, from the PyTorch wheel for CUDA",
     .made_for = "cuda",
     .moves_cuda = true,
     .orders_streams = true,
     .one_issue_order = true},
    {.name = "mpi",
     .summary = "shared memory and networks, from the machine's MPI",
     .made_for = "cpu",
     .moves_cpu = true,
     .concurrent_collectives = 2,
     .install_hint = "`make mpi` installs Open MPI and builds with it"},
});

/// The row of `name`; null for an engine that is only simulated.
constexpr const EngineTraits* find_engine_traits(std::string_view name) {
  const auto* row = std::ranges::find(kEngines, name, &EngineTraits::name);
  return row == kEngines.end() ? nullptr : row;
}

/// Returns the first engine of the table whose EngineTraits::made_for is `device`.
constexpr const EngineTraits& engine_for(std::string_view device) {
  const auto* row = std::ranges::find(kEngines, device, &EngineTraits::made_for);
  return row == kEngines.end() ? kEngines.front() : *row;
}

}  // namespace paceline::plan
