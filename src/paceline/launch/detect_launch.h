// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

namespace paceline::launch {

/// The rank, the local rank and the host of this process.
struct RankInfo {
  int rank = 0;
  int world = 1;
  int local_rank = 0;
  int local_world = 1;
  std::string host;                 // name from gethostname(), or as the user gave it
  std::string launcher = "single";  // paceline, torchrun, mpirun, mpirun_rsh,
                                    // srun, environment, single
};

/// The address of a TCP store at which the ranks meet.
struct TcpRendezvous {
  std::string host;
  std::uint16_t port = 0;
  bool serve = false;          // whether this process serves the store; else it is a client
  bool rank_0_serves = false;  // whether rank 0 serves the store; else the launcher does
};

/// A file at which the ranks meet and that all hosts see.
struct FileRendezvous {
  std::string path;
};

/// The rank, the rendezvous and the job of this process, by its launcher's variables.
struct Launch {
  RankInfo self;
  bool has_local_rank = false;  // if false, local ranks are derived from host names
  /// The rendezvous; std::monostate if this process is the only rank.
  std::variant<std::monostate, TcpRendezvous, FileRendezvous> rendezvous;
  /// A name that is equal on all ranks, and that differs between runs as far as the launcher
  /// allows.
  std::string job = "single";
};

/// A function that returns the value of an environment variable; nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Returns a function that reads the environment of this process.
Environment process_environment();

/// Returns the result of gethostname(); "localhost" if that fails or is empty.
std::string host_name();

/// Detects the launcher by its environment variables: RANK and WORLD_SIZE (from paceline itself,
/// torchrun, or set by hand), then those of Open MPI, MVAPICH, a Slurm step and Hydra. Without any
/// of them this process is the only rank.
///
/// `rendezvous` is the flag's value, HOST:PORT or file:PATH, or empty; it overrides the launcher.
/// Without it the ranks meet at torchrun's own store; at MASTER_ADDR and MASTER_PORT; on the first
/// node of a Slurm step; or on the loopback if all ranks of an MPI job are on one host. A port that
/// is not given is derived from the job's name. Throws UsageError that names an invalid variable,
/// that asks for --rendezvous if none of these addresses is given, or that names the variable of an
/// unsupported launcher in which the rank is above 0.
Launch detect_launch(const Environment& environment, const std::string& rendezvous,
                     const std::string& host, int parent_pid);

/// Detects the launch of this process by its environment, host and parent.
Launch detect_launch(const std::string& rendezvous);

/// The environment variable that `launch_job` sets for its ranks; its value is the job's name.
inline constexpr const char* kLaunchVariable = "PACELINE_LAUNCH";

/// The key that `launch_job` sets in the store that it serves, before the ranks start.
inline constexpr const char* kServedKey = "served";

/// The environment variable in which `launch_job` passes the host's name as the user gave it.
inline constexpr const char* kLaunchHostVariable = "PACELINE_HOST";

/// Whether the variables of a supported launcher give this process a rank.
bool is_launched(const Environment& environment);

}  // namespace paceline::launch
