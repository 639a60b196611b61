// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/warnings.h"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

namespace paceline::measure {
namespace {

// 0 where it is not known.
int usable_cores_of(const records::Environment& environment,
                    const std::string& host) {
  for (const records::HostEnvironment& known : environment.hosts) {
    const auto cores = known.facts.find("usable_cores");
    if (known.host == host && cores != known.facts.end()) {
      return std::stoi(cores->second);
    }
  }
  return 0;
}

}  // namespace

void add_warnings(const records::Configuration& configuration,
                  const records::Environment& environment,
                  records::RunRecord& record) {
  std::map<std::string, int> ranks_on;
  for (const auto& rank : record.ranks) {
    ++ranks_on[rank.host];
  }
  if (record.ranks.size() ==
      1) {  // a command may tell of all its ranks at once
    ranks_on.begin()->second = configuration.ranks;
  }
  for (const auto& [host, ranks] : ranks_on) {
    const int cores = usable_cores_of(environment, host);
    const int wanted = ranks * std::max(1, configuration.threads);
    if (configuration.device == "cpu" && configuration.replay.empty() &&
        cores > 0 && wanted > cores) {
      record.warnings.push_back(
          {"shared-cores",
           fmt::format(
               "{} threads on {} usable cores of {}", wanted, cores, host),
           fmt::format(
               "{} take cores from each other, so a step is slower than "
               "on as many {}",
               ranks > 1 ? "ranks" : "threads",
               ranks > 1 ? "devices" : "cores"),
           ranks > 1 ? "use fewer ranks, or fewer --threads"
                     : "use fewer --threads"});
    }
  }
}

}  // namespace paceline::measure
