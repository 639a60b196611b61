// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "paceline/records/run_record.h"

namespace paceline::records {

/// Where the facts about a host are read.  Tests give other ones.
struct HostSources {
  std::filesystem::path root = "/";  // of proc/, sys/ and etc/
  std::string nvidia_smi = "nvidia-smi";
  std::chrono::milliseconds nvidia_smi_deadline = std::chrono::seconds(5);
};

/// What this machine is and how it is set.  A fact that cannot be read is absent.  The keys, with
/// their units:
///
///   cpu_model, cpu_isa        instruction sets that decide a kernel's speed
///   sockets, cores, threads   of the whole machine
///   virtualized               "yes" under a hypervisor
///   governor                  of the clocks; values that differ are joined
///   clock_mhz, clock_max_mhz  mean over the threads, now; largest possible
///   memory_gib                rounded
///   transparent_hugepages
///   kernel, os
///   cpu_limit                 CPUs that the cgroups allow, if fewer
///   affinity                  CPUs that this process may run on
///   load_average              of 1, 5 and 15 minutes
///   cpu_pressure_percent      time that some task waited for a CPU, last 10 s
///   tcp_congestion            control of new connections
///   driver, gpus, gpu_memory_mib, gpu_clock_max_mhz, gpu_power_limit_w,
///   gpu_pcie                  of NVIDIA devices; "8 x NVIDIA H200"
///   nvidia_smi                only where it failed: how
///
/// The topology is what `nvidia-smi topo -m` prints, where that works, else
/// `machine_picture()`.
HostEnvironment collect_host(const HostSources& sources = {});

/// Packages, NUMA nodes, caches, cores and hardware threads with their sizes, as hwloc sees them,
/// in at most 40 lines; empty in a build without hwloc.
/// `synthetic` describes a machine in hwloc's own notation, for tests.
std::string machine_picture(const std::optional<std::string>& synthetic = {});

/// Whether the value of environment variable `name` may stand in a record: names of an explicit
/// list, and prefixes of communication libraries less whatever looks like a secret.
bool is_allowed_variable(std::string_view name, std::string_view value);

/// The allowed ones among `environment`, a null-terminated array of "NAME=value" such as POSIX's
/// `environ`.
std::map<std::string, std::string> allowed_variables(const char* const* environment);

/// Names the first fact in which hosts differ, else their topologies:
///   cpu_model: AMD EPYC 9654 on n1, n3; Intel Xeon 8480+ on n2
/// Nothing where they are alike.  Facts that differ from moment to moment (clock_mhz, load_average,
/// cpu_pressure_percent) are not compared, nor are amounts of memory that differ by less than 2 %.
std::optional<std::string> differences(std::span<const HostEnvironment> hosts);

/// What nvidia-smi says of this machine's GPUs: facts, and the topology as its
/// `topo -m` draws it.  Where it does not answer, the facts say why; where
/// there is none, nothing is added.
void collect_gpus(const HostSources& sources, HostEnvironment& host);

}  // namespace paceline::records
