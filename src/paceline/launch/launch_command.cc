// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/launch_command.h"

#include <algorithm>

#include <fmt/format.h>

#include "paceline/base/shell.h"

namespace paceline::launch {
namespace {

// PyTorch's default port, which is usually free on a cluster's nodes.
constexpr int kPort = 29'500;

// The srun flags make the first rank that fails end the job, and let a rank use every core. Open
// MPI's ranks find each other through PMIx.
LaunchLine slurm_line(const LaunchShape& shape) {
  return {.command = fmt::format(
              "srun --nodes={} --ntasks-per-node={} --kill-on-bad-exit=1 --cpu-bind=none {}{}\n",
              shape.hosts, shape.ranks_per_host, shape.open_mpi ? "--mpi=pmix " : "",
              shell_command(shape.argv)),
          .note = ""};
}

// Binding is turned off because Open MPI binds each of at most two ranks to one core, which compute
// and communication threads would then share.
LaunchLine mpirun_line(const LaunchShape& shape) {
  const bool several = shape.hosts > 1;
  std::string hosts = several ? fmt::format(" -H FIRST_HOST:{}", shape.ranks_per_host) : "";
  for (int host = 2; host <= shape.hosts; ++host) {
    hosts += fmt::format(",HOST_{}:{}", host, shape.ranks_per_host);
  }
  const bool meets = std::ranges::any_of(
      shape.argv, [](const std::string& word) { return word.starts_with("--rendezvous"); });
  return {
      .command =
          fmt::format("mpirun -np {}{} --map-by ppr:{}:node --bind-to none {}{}\n",
                      shape.hosts * shape.ranks_per_host, hosts, shape.ranks_per_host,
                      shell_command(shape.argv),
                      several && !meets ? fmt::format(" --rendezvous FIRST_HOST:{}", kPort) : ""),
      .note = several ? fmt::format("put the names of your hosts in place of FIRST_HOST{}HOST_{}\n",
                                    shape.hosts == 2 ? " and " : ", HOST_2 ... ", shape.hosts)
                      : ""};
}

LaunchLine torchrun_line(const LaunchShape& shape) {
  const bool several = shape.hosts > 1;
  const auto where =
      several ? fmt::format("--nnodes={} --rdzv-backend=c10d --rdzv-endpoint=FIRST_HOST:{}",
                            shape.hosts, kPort)
              : std::string("--standalone");
  return {.command = fmt::format("torchrun {} --nproc-per-node={} --no-python {}\n", where,
                                 shape.ranks_per_host, shell_command(shape.argv)),
          .note = several ? fmt::format("run this line on each of the {} hosts, with the name of "
                                        "the first one in place of FIRST_HOST\n",
                                        shape.hosts)
                          : ""};
}

}  // namespace

LaunchLine launch_line(const std::string& kind, const LaunchShape& shape) {
  return kind == "slurm"    ? slurm_line(shape)
         : kind == "mpirun" ? mpirun_line(shape)
                            : torchrun_line(shape);
}

}  // namespace paceline::launch
