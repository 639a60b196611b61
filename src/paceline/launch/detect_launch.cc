// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/detect_launch.h"

#include <array>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/base/hash.h"
#include "paceline/base/host_text.h"
#include "paceline/base/node_list.h"
#include "paceline/base/text.h"

namespace paceline::launch {
namespace {

// The ports that are derived from a job's name: kPorts ports from kFirstPort on. They lie above
// most registered services that clusters run, and below the kernel's ephemeral ports (from 32768).
constexpr std::uint32_t kFirstPort = 20'000;
constexpr std::uint32_t kPorts = 12'000;

int number_in(const Environment& environment, const std::string& name) {
  const auto text = environment(name);
  const auto value = number_from<int>(text.value_or(""));
  if (!value || *value < 0) {
    throw UsageError(
        fmt::format("{}='{}' in the environment is not a number", name, text.value_or("")));
  }
  return *value;
}

std::uint16_t derived_port(std::string_view job) {
  return static_cast<std::uint16_t>(kFirstPort + fnv1a_32(job) % kPorts);
}

std::uint16_t to_port(std::string_view text, std::string_view where) {
  const auto port = number_from<int>(text);
  if (!port || *port < 1 || *port > 65535) {
    throw UsageError(fmt::format("{}: '{}' is not a port", where, text));
  }
  return static_cast<std::uint16_t>(*port);
}

// The names of one launcher's environment variables.
struct RankVariableNames {
  const char* launcher;
  const char* rank;
  const char* world;
  const char* local_rank;
  const char* local_world;
};
constexpr RankVariableNames kTorch{"environment", "RANK", "WORLD_SIZE", "LOCAL_RANK",
                                   "LOCAL_WORLD_SIZE"};
constexpr RankVariableNames kOpenMpi{"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                                     "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr RankVariableNames kHydra{"mpirun", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID",
                                   "MPI_LOCALNRANKS"};
constexpr RankVariableNames kMvapich{"mpirun_rsh", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE",
                                     "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"};

// The rank variables of unsupported launchers, whose other variables this file does not use.
constexpr std::array kUnsupportedRankVariables{"PMIX_RANK",     "PMI_RANK",    "MPIRUN_RANK",
                                               "PALS_RANKID",   "ALPS_APP_PE", "JSM_NAMESPACE_RANK",
                                               "FLUX_TASK_RANK"};

class Detection {
 public:
  Detection(const Environment& environment, const std::string& rendezvous, const std::string& host,
            int parent_pid)
      : environment_(environment), rendezvous_(rendezvous), parent_pid_(parent_pid) {
    launch_.self.host = host;
  }

  bool is_launched() const {
    return has_world(kTorch) || has_world(kOpenMpi) || has_world(kMvapich) || in_slurm_step() ||
           has_world(kHydra);
  }

  Launch run() {
    if (has_world(kTorch)) {
      from_torch_variables();
    } else if (has_world(kOpenMpi)) {
      set_self(kOpenMpi);
      from_mpi(value("PMIX_NAMESPACE").value_or("ompi"));
    } else if (has_world(kMvapich)) {
      set_self(kMvapich);
      from_mpi(fmt::format("mvapich-{}", parent_pid_));
    } else if (in_slurm_step()) {
      from_slurm();
    } else if (has_world(kHydra)) {
      set_self(kHydra);
      from_mpi(fmt::format("hydra-{}", parent_pid_));
    } else if (!rendezvous_.empty()) {
      throw UsageError(
          "--rendezvous: no launcher's variables tell this process its rank; start it by torchrun, "
          "mpirun or srun, set RANK and WORLD_SIZE, or name the hosts by -H a:4,b:4");
    } else {
      reject_unknown_launcher();
    }
    return launch_;
  }

 private:
  bool has(const char* name) const { return environment_(name).has_value(); }
  std::optional<std::string> value(const char* name) const { return environment_(name); }

  bool has_world(const RankVariableNames& names) const {
    return has(names.rank) && has(names.world);
  }

  // Throws UsageError for a rank above 0 of an unsupported launcher: it proves that several ranks
  // were started.
  void reject_unknown_launcher() const {
    for (const char* name : kUnsupportedRankVariables) {
      const std::string rank = value(name).value_or("");
      if (number_from<int>(rank).value_or(0) > 0) {
        throw UsageError(
            fmt::format("{}={} in the environment says that a launcher started several ranks, but "
                        "not how many; set RANK and WORLD_SIZE for each, and give --rendezvous "
                        "HOST:PORT, or unset {} for a run of its own",
                        name, rank, name));
      }
    }
  }

  void set_rank(int rank, int world, const char* rank_name) {
    if (rank >= world) {
      throw UsageError(fmt::format("{}={} is not below the world size {}", rank_name, rank, world));
    }
    launch_.self.rank = rank;
    launch_.self.world = world;
  }

  void set_self(const RankVariableNames& names) {
    launch_.self.launcher = names.launcher;
    set_rank(number_in(environment_, names.rank), number_in(environment_, names.world), names.rank);
    if (has(names.local_rank) && has(names.local_world)) {
      launch_.self.local_rank = number_in(environment_, names.local_rank);
      launch_.self.local_world = number_in(environment_, names.local_world);
      launch_.has_local_rank = true;
    }
  }

  TcpRendezvous served_by_rank_0(const std::string& host, std::uint16_t port) const {
    return {host, port, launch_.self.rank == 0, true};
  }

  // Uses the rendezvous of --rendezvous, else that of MASTER_ADDR and MASTER_PORT. Returns false if
  // neither is given.
  bool use_given_rendezvous() {
    if (rendezvous_.starts_with("file:")) {
      launch_.rendezvous = FileRendezvous{rendezvous_.substr(5)};
      return true;
    }
    std::string host, port, where;
    if (!rendezvous_.empty()) {
      where = "--rendezvous " + rendezvous_;
      const HostText split = split_host(rendezvous_);
      if (split.host.empty() || !split.after) {
        throw UsageError(where + ": give HOST:PORT or file:PATH");
      }
      host = split.host;
      port = *split.after;
    } else if (has("MASTER_ADDR")) {
      where = "MASTER_PORT";
      host = without_brackets(*value("MASTER_ADDR"));
      port = value("MASTER_PORT").value_or(std::to_string(derived_port(launch_.job)));
    } else {
      return false;
    }
    launch_.rendezvous = served_by_rank_0(host, to_port(port, where));
    return true;
  }

  void from_torch_variables() {
    set_self(kTorch);
    if (const auto job = value(kLaunchVariable)) {
      launch_.self.launcher = "paceline";
      launch_.self.host = value(kLaunchHostVariable).value_or(launch_.self.host);
      launch_.job = *job;
    } else if (const auto run = value("TORCHELASTIC_RUN_ID")) {
      // After a restart by torchrun the ranks meet in the same store, which still has the keys of
      // the attempt before; so the job's name contains the restart count.
      launch_.self.launcher = "torchrun";
      launch_.job = fmt::format("{}-{}", *run, value("TORCHELASTIC_RESTART_COUNT").value_or("0"));
    } else {
      launch_.job = "environment";
    }
    if (!use_given_rendezvous()) {
      throw UsageError(
          "RANK and WORLD_SIZE are set, but neither MASTER_ADDR with MASTER_PORT nor --rendezvous "
          "tells where the ranks meet");
    }
    const bool agent_serves = launch_.self.launcher == "paceline" ||
                              value("TORCHELASTIC_USE_AGENT_STORE").value_or("") == "True";
    if (agent_serves && rendezvous_.empty()) {
      auto& tcp = std::get<TcpRendezvous>(launch_.rendezvous);
      tcp.serve = tcp.rank_0_serves = false;
    }
  }

  void from_mpi(const std::string& job) {
    launch_.job = job;
    if (use_given_rendezvous()) {
      return;
    }
    if (!launch_.has_local_rank || launch_.self.local_world != launch_.self.world) {
      throw UsageError(launch_.self.launcher +
                       " does not tell the ranks of several hosts where to meet: give --rendezvous "
                       "HOST:PORT (a host that runs rank 0, a free port) or --rendezvous file:PATH "
                       "(a new file that all hosts see)");
    }
    launch_.rendezvous = served_by_rank_0("127.0.0.1", derived_port(job));
  }

  // Whether this process is a task of a Slurm step. Most Slurm variables also exist in batch
  // scripts and allocations; those of a step that has several tasks exist only in such a step. If
  // Hydra was started over srun, the tasks of the step are Hydra's proxies, not ranks.
  bool in_slurm_step() const {
    const auto tasks = value("SLURM_STEP_NUM_TASKS");
    if (!has("SLURM_PROCID") || !has("SLURM_STEP_NODELIST") || !tasks ||
        number_from<int>(*tasks).value_or(0) < 2) {
      return false;
    }
    return !has("PMI_RANK") ||
           (value("PMI_RANK") == value("SLURM_PROCID") && value("PMI_SIZE") == tasks);
  }

  // Returns `expand` of the list in the variable `name`. If that throws UsageError, puts the
  // variable's name before the text and `advice` after it.
  template <class Expand>
  auto of_slurm(const char* name, Expand expand, std::string_view advice = "") const {
    try {
      return expand(*value(name));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}{}", name, error.what(), advice));
    }
  }

  void from_slurm() {
    launch_.self.launcher = "srun";
    set_rank(number_in(environment_, "SLURM_PROCID"),
             number_in(environment_, "SLURM_STEP_NUM_TASKS"), "SLURM_PROCID");
    launch_.job = fmt::format("slurm-{}.{}", value("SLURM_JOB_ID").value_or("0"),
                              value("SLURM_STEP_ID").value_or("0"));
    const auto per_node = value("SLURM_STEP_TASKS_PER_NODE");
    if (per_node && has("SLURM_LOCALID") && has("SLURM_NODEID")) {
      const auto counts = of_slurm("SLURM_STEP_TASKS_PER_NODE", expand_tasks_per_node);
      const auto node = static_cast<std::size_t>(number_in(environment_, "SLURM_NODEID"));
      if (node < counts.size()) {
        launch_.self.local_rank = number_in(environment_, "SLURM_LOCALID");
        launch_.self.local_world = counts[node];
        launch_.has_local_rank = true;
      }
    }
    if (!use_given_rendezvous()) {
      const auto hosts = of_slurm("SLURM_STEP_NODELIST", expand_node_list,
                                  "; --rendezvous HOST:PORT does without it");
      launch_.rendezvous = served_by_rank_0(hosts.front(), derived_port(launch_.job));
    }
  }

  const Environment& environment_;
  const std::string& rendezvous_;
  int parent_pid_;
  Launch launch_;
};

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* text = std::getenv(name.c_str());
    return text ? std::optional<std::string>(text) : std::nullopt;
  };
}

std::string host_name() {
  char buffer[256] = {};
  if (gethostname(buffer, sizeof buffer - 1) != 0 || buffer[0] == '\0') {
    return "localhost";
  }
  return buffer;
}

Launch detect_launch(const Environment& environment, const std::string& rendezvous,
                     const std::string& host, int parent_pid) {
  return Detection(environment, rendezvous, host, parent_pid).run();
}

bool is_launched(const Environment& environment) {
  return Detection(environment, "", "", 0).is_launched();
}

Launch detect_launch(const std::string& rendezvous) {
  return detect_launch(process_environment(), rendezvous, host_name(), getppid());
}

}  // namespace paceline::launch
