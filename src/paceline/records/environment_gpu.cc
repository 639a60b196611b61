// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/file.h"
#include "paceline/base/process.h"
#include "paceline/base/text.h"
#include "paceline/records/environment.h"

namespace paceline::records {
namespace {

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
bool collect_facts(const HostSources& sources, std::map<std::string, std::string>& facts) {
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

}  // namespace

void collect_gpus(const HostSources& sources, HostEnvironment& host) {
  if (!collect_facts(sources, host.facts)) {
    return;
  }
  const auto result = run_command({sources.nvidia_smi, "topo", "-m"}, sources.nvidia_smi_deadline);
  if (result && result->succeeded()) {
    // nvidia-smi underlines the heading by escape sequences even if the output is no terminal.
    static const std::regex escape("\x1b\\[[0-9;]*m");
    host.topology = std::regex_replace(result->output, escape, "");
  }
}

}  // namespace paceline::records
