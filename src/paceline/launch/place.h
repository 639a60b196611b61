// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

namespace paceline::launch {

/// This process's place among all that run the same command.
struct Place {
  int rank = 0;
  int world = 1;
  int local_rank = 0;
  int local_world = 1;
  std::string host;                 // as gethostname says
  std::string launcher = "single";  // paceline, torchrun, mpirun, srun,
                                    // environment, single
};

/// Where ranks meet: a TCP store.
struct TcpMeeting {
  std::string host;
  std::uint16_t port = 0;
  bool serve = false;  // this process owns the store (else it is a client)
  bool rank_0_serves = false;  // else the launcher owns it
};

/// Where ranks meet: a file that all hosts see.
struct FileMeeting {
  std::string path;
};

/// All that the launcher tells: place, meeting, and a job name that is equal
/// on all ranks and differs from run to run as far as the launcher allows.
struct Launch {
  Place place;
  bool local_known = false;  // else local ranks follow from the host names
  std::variant<std::monostate, TcpMeeting, FileMeeting> meeting;  // none: alone
  std::string job = "single";
};

/// A look at one environment variable.
using Environment =
    std::function<std::optional<std::string>(const std::string& name)>;

/// The environment of this process.
Environment process_environment();

/// gethostname, never empty.
std::string host_name();

/// Reads who started this process from the launchers' variables: RANK and
/// WORLD_SIZE (our own launcher, torchrun, or set by hand), Open MPI's, a
/// Slurm step's, Hydra's; none of them: a world of one.
///
/// `rendezvous` is the flag's value, HOST:PORT or file:PATH, or empty; it
/// overrides what the launcher says.  Without it: torchrun's own store,
/// MASTER_ADDR and MASTER_PORT, a Slurm step's first node, or the loopback
/// where all ranks of an MPI job are on one host; ports come from the job's
/// identity.  Throws UsageError that names the variable, or asks for
/// --rendezvous where nothing tells where to meet.
Launch detect_launch(const Environment& environment,
                     const std::string& rendezvous,
                     const std::string& host,
                     int parent_pid);

/// The same for this very process.
Launch detect_launch(const std::string& rendezvous);

/// The variable by which our own launcher marks the ranks it starts; its value
/// is the job's name.
inline constexpr const char* kLaunchMarker = "PACELINE_LAUNCH";

/// The variable by which it tells them their host's name, as the user gave it.
inline constexpr const char* kLaunchHost = "PACELINE_HOST";

/// Whether a launcher's variables tell this process its rank.
bool is_launched(const Environment& environment);

}  // namespace paceline::launch
