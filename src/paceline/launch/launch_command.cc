// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/launch_command.h"

#include <algorithm>
#include <string_view>

#include "paceline/base/error.h"
#include "paceline/base/shell.h"

namespace paceline::launch {
namespace {

// PyTorch's default; free on a cluster's nodes as a rule.
constexpr int kPort = 29'500;

bool gives_rendezvous(const std::vector<std::string>& argv) {
  return std::any_of(argv.begin(), argv.end(),
                     [](const std::string& word) { return word.starts_with("--rendezvous"); });
}

// The first rank that fails ends the job.  A rank may use every core of its task.  Open MPI's ranks
// find each other through PMIx.
std::string slurm_command(const LaunchShape& shape) {
  return fmt::format(
      "srun --nodes={} --ntasks-per-node={} --kill-on-bad-exit=1 --cpu-bind=none {}{}", shape.hosts,
      shape.ranks_per_host, shape.open_mpi ? "--mpi=pmix " : "", shell_command(shape.argv));
}

// "FIRST_HOST:4,HOST_2:4", to be replaced.
std::string host_slots(const LaunchShape& shape) {
  auto text = fmt::format("FIRST_HOST:{}", shape.ranks_per_host);
  for (int host = 2; host <= shape.hosts; ++host) {
    text += fmt::format(",HOST_{}:{}", host, shape.ranks_per_host);
  }
  return text;
}

// Open MPI binds two ranks or fewer to one core each, which compute and communication threads would
// then share.
std::string mpirun_command(const LaunchShape& shape) {
  auto line = fmt::format("mpirun -np {}{} --map-by ppr:{}:node --bind-to none {}",
                          shape.hosts * shape.ranks_per_host,
                          shape.hosts > 1 ? " -H " + host_slots(shape) : "", shape.ranks_per_host,
                          shell_command(shape.argv));
  if (shape.hosts > 1 && !gives_rendezvous(shape.argv)) {
    line += fmt::format(" --rendezvous FIRST_HOST:{}", kPort);
  }
  return line;
}

std::string torchrun_command(const LaunchShape& shape) {
  const auto where =
      shape.hosts == 1
          ? std::string("--standalone")
          : fmt::format("--nnodes={} --rdzv-backend=c10d --rdzv-endpoint=FIRST_HOST:{}",
                        shape.hosts, kPort);
  return fmt::format("torchrun {} --nproc-per-node={} --no-python {}", where, shape.ranks_per_host,
                     shell_command(shape.argv));
}

}  // namespace

std::string launch_command(const std::string& kind, const LaunchShape& shape) {
  if (shape.hosts < 1 || shape.ranks_per_host < 1) {
    throw UsageError(fmt::format("{} hosts with {} ranks each cannot be started", shape.hosts,
                                 shape.ranks_per_host));
  }
  if (kind == "slurm") {
    return slurm_command(shape);
  }
  if (kind == "mpirun") {
    return mpirun_command(shape);
  }
  if (kind == "torchrun") {
    return torchrun_command(shape);
  }
  throw UsageError(fmt::format("--print-launch {}: known are slurm, mpirun, torchrun", kind));
}

std::string launch_note(const std::string& kind, const LaunchShape& shape) {
  if (shape.hosts < 2 || kind == "slurm") {
    return "";
  }
  if (kind == "torchrun") {
    return fmt::format(
        "run this line on each of the {} hosts, with the name of the first one in place of "
        "FIRST_HOST\n",
        shape.hosts);
  }
  return fmt::format("put the names of your hosts in place of FIRST_HOST{}HOST_{}\n",
                     shape.hosts == 2 ? " and " : ", HOST_2 ... ", shape.hosts);
}

}  // namespace paceline::launch
