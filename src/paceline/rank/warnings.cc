// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/warnings.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <thread>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/case/outside.h"
#include "paceline/case/protocols.h"

namespace paceline::rank {
namespace {

// Returns the usable cores of a host; 0 if they are not known.
int usable_cores_of(const records::Environment& environment, const std::string& host) {
  for (const records::HostEnvironment& known : environment.hosts) {
    const auto cores = known.facts.find("usable_cores");
    if (known.host == host && cores != known.facts.end()) {
      return std::stoi(cores->second);
    }
  }
  return 0;
}

// Returns whether the case computed on the cores of its hosts.  A command may print the log of
// another machine, or say that it computes on another device.
bool computed_on_cores(const records::RunRecord& record) {
  const auto device = record.adapter.find("device");
  return record.configuration.device == "cpu" && record.configuration.replay.empty() &&
         (device == record.adapter.end() || device->second == "cpu") &&
         std::ranges::count(record.warnings, "times-of-a-log", &records::Warning::code) == 0;
}

}  // namespace

void add_warnings(records::RunRecord& record) {
  if (!computed_on_cores(record)) {
    return;
  }
  const cases::Case& configuration = record.configuration;
  std::map<std::string, int> ranks_on;
  for (const auto& rank : record.ranks) {
    ++ranks_on[rank.host];
  }
  if (record.ranks.size() == 1) {  // one command may report for all its ranks
    ranks_on.begin()->second = configuration.ranks;
  }
  for (const auto& [host, ranks] : ranks_on) {
    const int cores = usable_cores_of(record.environment, host);
    const int wanted = ranks * std::max(1, configuration.threads);
    if (cores > 0 && wanted > cores) {
      record.warnings.push_back(
          {"shared-cores",
           fmt::format("{} threads on {} of {}", wanted, counted(cores, "usable core"), host),
           fmt::format("{} take cores from each other, so a step is slower than "
                       "on as many {}",
                       ranks > 1 ? "ranks" : "threads", ranks > 1 ? "devices" : "cores"),
           ranks > 1 ? "use fewer ranks, or fewer --threads" : "use fewer --threads"});
    }
  }
}

std::optional<records::Warning> busy_host_warning(const std::string& host, double load, int cores,
                                                  int own) {
  if (load <= cores || load < own + 1) {
    return std::nullopt;
  }
  int above = cores;  // cores times a power of 2, so that equal loads give equal texts
  while (2 * above < load) {
    above *= 2;
  }
  return records::Warning{
      "busy-machine",
      fmt::format("a load average above {} on {} cores of {}, at most {} of it by this program",
                  above, cores, host, own),
      "other programs compute at the same time, so figures are slower than they would be alone, "
      "and scatter",
      "measure again when nothing else runs"};
}

std::optional<records::Warning> busy_machine_warning(const records::Environment& environment,
                                                     const std::string& here, int own) {
  double now = 0;
  std::optional<records::Warning> busy;
  if (getloadavg(&now, 1) == 1) {
    busy = busy_host_warning(here, now, static_cast<int>(std::thread::hardware_concurrency()), own);
  }
  for (const records::HostEnvironment& host : environment.hosts) {
    const auto load = host.facts.find("load_average");
    const auto cores = host.facts.find("cores");
    if (!busy && load != host.facts.end() && cores != host.facts.end()) {
      busy = busy_host_warning(
          host.host, std::strtod(load->second.c_str(), nullptr),
          std::max(std::atoi(cores->second.c_str()), usable_cores_of(environment, host.host)), own);
    }
  }
  return busy;
}

std::optional<records::Warning> above_line_rate_warning(const records::CommRecord& record) {
  if (record.line_rate_fraction().value_or(0) <= 1) {
    return std::nullopt;
  }
  return records::Warning{
      "above-line", "an operation moved bytes faster than the plain stream",
      "something else slowed the stream down, or the engine does not use its path",
      "measure again on an idle machine"};
}

std::optional<records::Warning> shortened_protocol(const cases::Case& configuration, int runs) {
  const std::string seen = cases::dlperf_deviation_text(configuration, runs);
  if (seen.empty()) {
    return std::nullopt;
  }
  return records::Warning{
      "shortened-protocol", seen,
      fmt::format("DLPerf's protocol skips {} steps, times {} and has {} runs",
                  cases::kDlperfWarmup, cases::kDlperfSteps, cases::kDlperfRuns),
      "leave out --warmup, --steps and --runs for figures to publish"};
}

int most_threads(std::span<const cases::Case> cases, int local_ranks, int cores) {
  int most = 0;
  for (const cases::Case& c : cases) {
    const int ranks = cases::starts_its_ranks(c) ? c.ranks : std::min(c.ranks, local_ranks);
    most = std::max(most, ranks * (cases::runs_external_program(c) ? std::max(cores, c.threads)
                                                                   : std::max(1, c.threads)));
  }
  return most;
}

}  // namespace paceline::rank
