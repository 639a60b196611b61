// SPDX-License-Identifier: Apache-2.0
#include "paceline/bench/warnings.h"

#include <algorithm>
#include <map>
#include <string>
#include <thread>

#include <fmt/format.h>

namespace paceline::bench {

void add_warnings(const record::Configuration& configuration,
                  const record::Environment& /*environment*/,
                  record::RunRecord& record) {
  std::map<std::string, int> ranks_on;
  for (const auto& rank : record.ranks) {
    ++ranks_on[rank.host];
  }
  const int cores =
      std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  for (const auto& [host, ranks] : ranks_on) {
    const int wanted = ranks * std::max(1, configuration.threads);
    if (configuration.device == "cpu" && wanted > cores) {
      record.warnings.push_back(
          {"shared-cores",
           fmt::format("{} threads on {} cores of {}", wanted, cores, host),
           "ranks take cores from each other, so a step is slower than on as "
           "many devices",
           "use fewer ranks or --threads"});
    }
  }
  for (const auto& [check, held] : record.verified) {
    if (!held) {
      record.warnings.push_back({"verification-failed",
                                 check,
                                 "the exchange returned wrong values",
                                 "do not use these numbers; report the case"});
    }
  }
  if (record.wire.measured_per_step && record.wire.planned_per_step &&
      *record.wire.measured_per_step != *record.wire.planned_per_step) {
    record.warnings.push_back(
        {"bytes-differ",
         fmt::format("{} bytes a step entered the engine, the plan says {}",
                     *record.wire.measured_per_step,
                     *record.wire.planned_per_step),
         "what was sent is not what the strategy claims",
         "report the case"});
  }
}

}  // namespace paceline::bench
