// SPDX-License-Identifier: Apache-2.0
// Reads the facts of this machine: /proc, /sys and nvidia-smi.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <ranges>
#include <regex>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "paceline/base/file.h"
#include "paceline/base/process.h"
#include "paceline/base/text.h"
#include "paceline/records/environment.h"

namespace paceline::records {
namespace {

namespace fs = std::filesystem;
using Facts = std::map<std::string, std::string>;

// Instruction sets that decide how fast a kernel is, or whether a precision is native.
constexpr std::array<std::string_view, 16> kInstructionSets{
    "sse4_2",      "avx",         "avx2",     "fma",      "f16c",     "avx512f",
    "avx512bw",    "avx512_vnni", "avx_vnni", "amx_bf16", "amx_int8", "avx512_bf16",
    "avx512_fp16", "asimd",       "sve",      "bf16"};

void set(Facts& facts, const std::string& key, std::string value) {
  if (!value.empty()) {
    facts[key] = std::move(value);
  }
}

std::string read_trimmed(const fs::path& path) {
  return std::string(trimmed(read_text_if_readable(path).value_or("")));
}

// Returns the value of the first "key : value" or "key=value" line.
std::string value_of(const std::vector<std::string>& lines, std::string_view key, char separator) {
  for (const std::string& line : lines) {
    const auto at = line.find(separator);
    if (at != std::string::npos && trimmed(std::string_view(line).substr(0, at)) == key) {
      return std::string(trimmed(std::string_view(line).substr(at + 1)));
    }
  }
  return "";
}

// Returns such a value from a file; empty if the file cannot be read.
std::string value_in(const fs::path& file, std::string_view key, char separator) {
  return value_of(split_lines(read_text_if_readable(file).value_or("")), key, separator);
}

std::string instruction_sets(std::string_view flags) {
  std::set<std::string> present;
  std::istringstream words{std::string(flags)};
  for (std::string word; words >> word;) {
    present.insert(word);
  }
  std::vector<std::string_view> known;
  for (const std::string_view name : kInstructionSets) {
    if (present.count(std::string(name)) > 0) {
      known.push_back(name);
    }
  }
  return fmt::format("{}", fmt::join(known, " "));
}

// Returns the folders "kind0", "kind1", ... of the CPUs ("cpu") or the NUMA nodes ("node").
std::vector<fs::path> device_folders(const fs::path& root, const std::string& kind) {
  std::map<int, fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / "sys/devices/system" / kind, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(kind)) {
      if (const auto number = number_from<int>(std::string_view(name).substr(kind.size()))) {
        folders.emplace(*number, entry.path());
      }
    }
  }
  std::vector<fs::path> in_order;
  std::ranges::copy(std::views::values(folders), std::back_inserter(in_order));
  return in_order;
}

void collect_cpu(const fs::path& root, Facts& facts) {
  const auto lines = split_lines(read_text_if_readable(root / "proc/cpuinfo").value_or(""));
  std::string flags = value_of(lines, "flags", ':');
  if (flags.empty()) {
    flags = value_of(lines, "Features", ':');  // the key on Arm
  }
  set(facts, "cpu_model", value_of(lines, "model name", ':'));
  set(facts, "cpu_isa", instruction_sets(flags));
  if (fmt::format(" {} ", flags).find(" hypervisor ") != std::string::npos) {
    facts["virtualized"] = "yes";
  }
  std::set<std::string> sockets;
  std::set<std::pair<std::string, std::string>> cores;
  std::size_t threads = 0;
  for (const fs::path& cpu : device_folders(root, "cpu")) {
    const std::string socket = read_trimmed(cpu / "topology/physical_package_id");
    if (!socket.empty()) {  // an offline CPU has no socket
      ++threads;
      sockets.insert(socket);
      cores.emplace(socket, read_trimmed(cpu / "topology/core_id"));
    }
  }
  if (threads > 0) {
    facts["sockets"] = std::to_string(sockets.size());
    facts["cores"] = std::to_string(cores.size());
    facts["threads"] = std::to_string(threads);
  }
  std::vector<std::string> nodes;
  for (const fs::path& node : device_folders(root, "node")) {
    nodes.push_back(read_trimmed(node / "cpulist"));
  }
  set(facts, "numa_cpus", fmt::format("{}", fmt::join(nodes, "; ")));
}

void collect_clocks(const fs::path& root, Facts& facts) {
  constexpr double kKhzPerMhz = 1000;
  std::set<std::string> governors;
  double sum_khz = 0;
  double most_khz = 0;
  int read = 0;
  for (const fs::path& cpu : device_folders(root, "cpu")) {
    const std::string governor = read_trimmed(cpu / "cpufreq/scaling_governor");
    if (!governor.empty()) {
      governors.insert(governor);
    }
    const std::string now = read_trimmed(cpu / "cpufreq/scaling_cur_freq");
    if (!now.empty()) {
      sum_khz += std::strtod(now.c_str(), nullptr);
      ++read;
    }
    const std::string most = read_trimmed(cpu / "cpufreq/cpuinfo_max_freq");
    most_khz = std::max(most_khz, std::strtod(most.c_str(), nullptr));
  }
  set(facts, "governor", fmt::format("{}", fmt::join(governors, "+")));
  if (most_khz > 0) {
    facts["clock_max_mhz"] = fmt::format("{:.0f}", most_khz / kKhzPerMhz);
  }
  if (read > 0) {
    facts["clock_mhz"] = fmt::format("{:.0f}", sum_khz / read / kKhzPerMhz);
    return;
  }
  const std::string mhz = value_in(root / "proc/cpuinfo", "cpu MHz", ':');
  if (!mhz.empty()) {
    facts["clock_mhz"] = fmt::format("{:.0f}", std::strtod(mhz.c_str(), nullptr));
  }
}

void collect_system(const fs::path& root, Facts& facts) {
  set(facts, "kernel", read_trimmed(root / "proc/sys/kernel/osrelease"));
  std::string os = value_in(root / "etc/os-release", "PRETTY_NAME", '=');
  std::erase(os, '"');
  set(facts, "os", os);
  const std::string memory = value_in(root / "proc/meminfo", "MemTotal", ':');
  if (!memory.empty()) {
    constexpr double kKibPerGib = 1024.0 * 1024.0;
    facts["memory_gib"] = fmt::format("{:.0f}", std::strtod(memory.c_str(), nullptr) / kKibPerGib);
  }
  // The mode in brackets is active: "always [madvise] never".
  const std::string pages = read_trimmed(root / "sys/kernel/mm/transparent_hugepage/enabled");
  const auto open = pages.find('[');
  const auto close = pages.find(']');
  if (open != std::string::npos && close != std::string::npos && open < close) {
    facts["transparent_hugepages"] = pages.substr(open + 1, close - open - 1);
  }
  set(facts, "tcp_congestion", read_trimmed(root / "proc/sys/net/ipv4/tcp_congestion_control"));
  set(facts, "affinity", value_in(root / "proc/self/status", "Cpus_allowed_list", ':'));
  const std::string load = read_trimmed(root / "proc/loadavg");
  std::istringstream words(load);
  std::string one;
  std::string five;
  std::string fifteen;
  if (words >> one >> five >> fifteen) {
    facts["load_average"] = fmt::format("{} {} {}", one, five, fifteen);
  }
  const std::string pressure = read_trimmed(root / "proc/pressure/cpu");
  constexpr std::string_view kAverage = "some avg10=";
  if (pressure.starts_with(kAverage)) {
    facts["cpu_pressure_percent"] =
        pressure.substr(kAverage.size(), pressure.find(' ', kAverage.size()) - kAverage.size());
  }
}

// Returns the number of CPUs that the cgroup `folder` grants: "quota period" in cpu.max (cgroup
// v2), or the two files of v1.  Returns nothing if there is no limit.
std::optional<double> cpus_granted(const fs::path& folder) {
  std::istringstream both(read_trimmed(folder / "cpu.max") + " " +
                          read_trimmed(folder / "cpu.cfs_quota_us") + " " +
                          read_trimmed(folder / "cpu.cfs_period_us"));
  double quota = 0;
  double period = 0;
  if (both >> quota >> period && quota > 0 && period > 0) {
    return quota / period;
  }
  return std::nullopt;
}

// The limit of a cgroup is the least of its own and its ancestors'.  Inside a container the path
// may not be visible; the root of the mount replaces it then.
void collect_cpu_limit(const fs::path& root, Facts& facts) {
  std::optional<double> least;
  for (const std::string& line :
       split_lines(read_text_if_readable(root / "proc/self/cgroup").value_or(""))) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_second_version = controllers == ",,";
    if (!is_second_version && controllers.find(",cpu,") == std::string::npos) {
      continue;
    }
    const fs::path mount = root / (is_second_version ? "sys/fs/cgroup" : "sys/fs/cgroup/cpu");
    fs::path group = line.substr(second + 1);
    for (;;) {
      const auto granted = cpus_granted(mount / group.relative_path());
      if (granted && (!least || *granted < *least)) {
        least = granted;
      }
      if (!group.has_relative_path()) {
        break;
      }
      group = group.parent_path();
    }
  }
  if (least) {
    facts["cpu_limit"] = fmt::format("{:g}", *least);
  }
}

std::string host_name() {
  utsname names{};
  return ::uname(&names) == 0 ? names.nodename : "";
}

// Returns the values with the number of devices that have each: "8 x NVIDIA H200".
std::string counted_values(const std::vector<std::string>& values) {
  std::vector<std::pair<std::string, int>> counts;
  for (const std::string& value : values) {
    ++find_or_add(counts, value);
  }
  std::vector<std::string> parts;
  parts.reserve(counts.size());
  for (const auto& [value, count] : counts) {
    parts.push_back(fmt::format("{} x {}", count, value));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> split_fields(std::string_view line) {
  std::vector<std::string> fields = split_at(line, ',');
  std::ranges::transform(fields, fields.begin(),
                         [](const std::string& field) { return std::string(trimmed(field)); });
  return fields;
}

// Adds the facts of the GPUs.  Returns whether nvidia-smi knows any GPU.
bool collect_gpu_facts(const HostSources& sources, Facts& facts) {
  const auto result = run_command({sources.nvidia_smi,
                                   "--query-gpu=driver_version,name,memory.total,clocks.max.sm,"
                                   "power.limit,pcie.link.gen.max,pcie.link.width.max",
                                   "--format=csv,noheader,nounits"},
                                  sources.nvidia_smi_deadline);
  if (!result) {
    return false;  // there is no nvidia-smi
  }
  if (!result->succeeded()) {
    facts["nvidia_smi"] =
        result->timed_out
            ? fmt::format("no answer within {} ms", sources.nvidia_smi_deadline.count())
            : fmt::format("failed with {}", result->exit_code.value_or(-1));
    return false;
  }
  std::vector<std::string> names;
  std::vector<std::string> links;
  std::vector<std::string> first;
  for (const std::string& line : split_lines(result->output)) {
    const auto fields = split_fields(line);
    if (fields.size() == 7) {
      names.push_back(fields[1]);
      links.push_back(fmt::format("gen{} x{}", fields[5], fields[6]));
      first = first.empty() ? fields : first;
    }
  }
  if (!names.empty()) {
    facts["gpus"] = counted_values(names);
    facts["gpu_pcie"] = counted_values(links);
    facts["driver"] = first[0];
    facts["gpu_memory_mib"] = first[2];
    facts["gpu_clock_max_mhz"] = first[3];
    facts["gpu_power_limit_w"] = first[4];
  }
  return !names.empty();
}

// Adds what nvidia-smi reports of the GPUs.  If it fails, a fact says how; if there is no
// nvidia-smi, nothing is added.
void collect_gpus(const HostSources& sources, HostEnvironment& host) {
  if (!collect_gpu_facts(sources, host.facts)) {
    return;
  }
  const auto result = run_command({sources.nvidia_smi, "topo", "-m"}, sources.nvidia_smi_deadline);
  if (result && result->succeeded()) {
    // nvidia-smi underlines the heading by escape sequences even if the output is no terminal.
    static const std::regex escape("\x1b\\[[0-9;]*m");
    host.topology = std::regex_replace(result->output, escape, "");
  }
}

}  // namespace

HostEnvironment collect_host(const HostSources& sources) {
  HostEnvironment host;
  host.host = host_name();
  collect_cpu(sources.root, host.facts);
  collect_clocks(sources.root, host.facts);
  collect_system(sources.root, host.facts);
  collect_cpu_limit(sources.root, host.facts);
  collect_gpus(sources, host);
  return host;
}

}  // namespace paceline::records
