// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/environment.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paceline::records {
namespace {

// Prefixes of variables that set up libraries which move bytes or share cores.
constexpr std::array<std::string_view, 10> kAllowedPrefixes{
    "NCCL_", "TORCH_NCCL_", "GLOO_", "OMP_", "KMP_", "UCX_", "FI_",
    // Of Open MPI's parameters, only those of transports: others hold addresses and keys of the
    // running job.
    "OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_coll"};

constexpr std::array<std::string_view, 14> kAllowedNames{"ATEN_CPU_CAPABILITY",
                                                         "CUDA_DEVICE_MAX_CONNECTIONS",
                                                         "CUDA_DEVICE_ORDER",
                                                         "CUDA_LAUNCH_BLOCKING",
                                                         "CUDA_VISIBLE_DEVICES",
                                                         "DNNL_MAX_CPU_ISA",
                                                         "GOMP_CPU_AFFINITY",
                                                         "MALLOC_ARENA_MAX",
                                                         "MKL_DYNAMIC",
                                                         "MKL_NUM_THREADS",
                                                         "ONEDNN_MAX_CPU_ISA",
                                                         "OPENBLAS_NUM_THREADS",
                                                         "PYTORCH_CUDA_ALLOC_CONF",
                                                         "TORCH_CUDNN_V8_API_DISABLED"};

constexpr std::array<std::string_view, 9> kSecretWords{
    "TOKEN", "SECRET", "PASSWORD", "PASSWD", "KEY", "CREDENTIAL", "AUTH", "CERT", "COOKIE"};

constexpr std::array<std::string_view, 3> kVolatileFacts{"clock_mhz", "load_average",
                                                         "cpu_pressure_percent"};

template <std::size_t n>
bool contains(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool looks_secret(std::string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  });
  return std::any_of(kSecretWords.begin(), kSecretWords.end(),
                     [&](std::string_view word) { return upper.find(word) != std::string::npos; });
}

bool same_amount(const std::string& a, const std::string& b) {
  constexpr double kTolerance = 0.02;
  const double first = std::strtod(a.c_str(), nullptr);
  const double second = std::strtod(b.c_str(), nullptr);
  return std::abs(first - second) <= kTolerance * std::max(first, second);
}

// A value of a fact, with the hosts that have this value.
struct ValueGroup {
  std::string value;
  std::vector<std::string> hosts;
};

std::string difference_text(std::string_view key, const std::vector<ValueGroup>& groups) {
  constexpr std::size_t kNamedHosts = 3;
  std::vector<std::string> parts;
  for (const ValueGroup& group : groups) {
    const std::size_t named = std::min(group.hosts.size(), kNamedHosts);
    std::string hosts = fmt::format(
        "{}", fmt::join(group.hosts.begin(),
                        group.hosts.begin() + static_cast<std::ptrdiff_t>(named), ", "));
    if (named < group.hosts.size()) {
      hosts += fmt::format(" and {} more", group.hosts.size() - named);
    }
    parts.push_back(fmt::format("{} on {}", group.value, hosts));
  }
  return fmt::format("{}: {}", key, fmt::join(parts, "; "));
}

std::vector<ValueGroup> grouped(std::span<const HostEnvironment> hosts, const std::string& key) {
  const bool is_memory = key == "memory_gib" || key == "gpu_memory_mib";
  std::vector<ValueGroup> groups;
  for (const HostEnvironment& host : hosts) {
    const std::string value = fact_of(host.facts, key, "unknown");
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const ValueGroup& g) {
      return g.value == value || (is_memory && same_amount(g.value, value));
    });
    if (same == groups.end()) {
      groups.push_back({.value = value, .hosts = {host.host}});
    } else {
      same->hosts.push_back(host.host);
    }
  }
  return groups;
}

}  // namespace

bool is_allowed_variable(std::string_view name, std::string_view value) {
  const bool has_prefix =
      std::any_of(kAllowedPrefixes.begin(), kAllowedPrefixes.end(),
                  [&](std::string_view prefix) { return name.starts_with(prefix); });
  // An address may contain a user and a password.
  const bool is_address = value.find("://") != std::string_view::npos;
  // The folder of Open MPI's shared memory differs from run to run.
  const bool is_folder = name == "OMPI_MCA_btl_vader_backing_directory";
  return (has_prefix || contains(kAllowedNames, name)) && !looks_secret(name) && !is_address &&
         !is_folder;
}

std::map<std::string, std::string> allowed_variables(const char* const* environment) {
  std::map<std::string, std::string> allowed;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos) {
      continue;
    }
    const auto name = entry.substr(0, equals);
    const auto value = entry.substr(equals + 1);
    if (is_allowed_variable(name, value)) {
      allowed.emplace(name, value);
    }
  }
  return allowed;
}

std::optional<std::string> differences(std::span<const HostEnvironment> hosts) {
  std::map<std::string, bool> keys;
  for (const HostEnvironment& host : hosts) {
    for (const auto& [key, value] : host.facts) {
      keys[key] = true;
    }
  }
  for (const auto& [key, present] : keys) {
    if (contains(kVolatileFacts, key)) {
      continue;
    }
    const auto groups = grouped(hosts, key);
    if (groups.size() > 1) {
      return difference_text(key, groups);
    }
  }
  for (const HostEnvironment& host : hosts) {
    if (host.topology != hosts.front().topology) {
      return fmt::format("topology: that of {} is not that of {}", host.host, hosts.front().host);
    }
  }
  return std::nullopt;
}

}  // namespace paceline::records
