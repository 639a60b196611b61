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

/// The places from which the facts about a host are read.  Tests use others.
struct HostSources {
  std::filesystem::path root = "/";  // contains proc/, sys/ and etc/
  std::string nvidia_smi = "nvidia-smi";
  std::chrono::milliseconds nvidia_smi_deadline = std::chrono::seconds(5);
};

/// Returns what this machine is and how it is configured.  A fact that cannot be read is absent.
/// The keys, with their units:
///
///   cpu_model, cpu_isa        cpu_isa: the instruction sets that decide a kernel's speed
///   sockets, cores, threads   of the whole machine
///   numa_cpus                 of each NUMA node: "0-15; 16-31"
///   virtualized               "yes" under a hypervisor
///   governor                  of the clocks; different values are joined by "+"
///   clock_mhz, clock_max_mhz  current mean over the threads; highest possible
///   memory_gib                rounded to whole GiB
///   transparent_hugepages
///   kernel, os
///   cpu_limit                 CPUs that the cgroups allow, if fewer
///   affinity                  CPUs that this process may run on
///   load_average              of 1, 5 and 15 minutes
///   cpu_pressure_percent      share of the last 10 s in which some task waited for a CPU
///   tcp_congestion            congestion control of new connections
///   driver, gpus, gpu_memory_mib, gpu_clock_max_mhz, gpu_power_limit_w,
///   gpu_pcie                  of NVIDIA devices; "8 x NVIDIA H200"
///   nvidia_smi                how it failed; absent if it did not
///
/// The topology is the output of `nvidia-smi topo -m`, and empty without GPUs.
HostEnvironment collect_host(const HostSources& sources = {});

/// Whether a record may contain the environment variable `name` with this value.  Allowed are names
/// of an explicit list and names with prefixes of communication libraries, except what looks like a
/// secret.
bool is_allowed_variable(std::string_view name, std::string_view value);

/// Returns the allowed variables of `environment`, a null-terminated array of "NAME=value" such as
/// POSIX's `environ`.
std::map<std::string, std::string> allowed_variables(const char* const* environment);

/// Describes the first fact in which hosts differ, or else that their topologies do:
///   cpu_model: AMD EPYC 9654 on n1, n3; Intel Xeon 8480+ on n2
/// Returns nothing if the hosts are alike.  Facts that change from moment to moment (clock_mhz,
/// load_average, cpu_pressure_percent) are not compared, nor are amounts of memory that differ by
/// less than 2 %.
std::optional<std::string> differences(std::span<const HostEnvironment> hosts);

}  // namespace paceline::records
