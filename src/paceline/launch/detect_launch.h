// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

namespace paceline::launch {

/// This process among all ranks of the job.
struct RankInfo {
  int rank = 0;
  int world = 1;
  int local_rank = 0;
  int local_world = 1;
  std::string host;                 // as gethostname says
  std::string launcher = "single";  // paceline, torchrun, mpirun, mpirun_rsh,
                                    // srun, environment, single
};

/// The ranks meet at a TCP store.
struct TcpRendezvous {
  std::string host;
  std::uint16_t port = 0;
  bool serve = false;          // this process serves the store (else it is a client)
  bool rank_0_serves = false;  // else the launcher does
};

/// The ranks meet in a file that all hosts see.
struct FileRendezvous {
  std::string path;
};

/// What the launcher tells this process.
struct Launch {
  RankInfo self;
  bool local_known = false;  // else local ranks follow from the host names
  /// Nothing in a world of one.
  std::variant<std::monostate, TcpRendezvous, FileRendezvous> rendezvous;
  /// A name that is equal on all ranks, and differs from run to run as far as the launcher allows.
  std::string job = "single";
};

/// The value of an environment variable; nothing where it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// The environment of this process.
Environment process_environment();

/// gethostname, never empty.
std::string host_name();

/// Detects the launcher by its variables: RANK and WORLD_SIZE (paceline itself, torchrun, or set by
/// hand), Open MPI's, MVAPICH's, a Slurm step's, Hydra's. Without any of them this process is a
/// world of one.
///
/// `rendezvous` is the flag's value, HOST:PORT or file:PATH, or empty; it
/// overrides the launcher.  Without it the ranks meet at torchrun's own store, at MASTER_ADDR and
/// MASTER_PORT, on a Slurm step's first node, or on the loopback where all ranks of an MPI job are
/// on one host; a port that nothing gives is derived from the job's name.  Throws UsageError that
/// names a wrong variable, that asks for --rendezvous where nothing gives one, or that names the
/// rank above 0 of a launcher that is not known here.
Launch detect_launch(const Environment& environment, const std::string& rendezvous,
                     const std::string& host, int parent_pid);

/// Detects the launch of this process, by its own environment, host and parent.
Launch detect_launch(const std::string& rendezvous);

/// The variable that `launch_job` sets for its ranks; its value is the job's name.
inline constexpr const char* kLaunchMarker = "PACELINE_LAUNCH";

/// The key that `launch_job` sets in the job's store before the ranks start.
inline constexpr const char* kServedKey = "served";

/// The variable in which `launch_job` passes the host's name as the user gave it.
inline constexpr const char* kLaunchHost = "PACELINE_HOST";

/// Whether a launcher's variables tell this process its rank.
bool is_launched(const Environment& environment);

}  // namespace paceline::launch
