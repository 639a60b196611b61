// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/rank.h"

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/case/job_spec.h"
#include "paceline/engines/run_rank.h"
#include "paceline/launch/detect_launch.h"
#include "paceline/launch/signals.h"
#include "paceline/rank/session.h"

namespace paceline::rank {

std::vector<std::string> rank_command(double timeout, const std::string& interface) {
  std::vector<std::string> words{"paceline", kRankSubcommand, "--timeout",
                                 fmt::format("{}", timeout)};
  if (!interface.empty()) {
    words.insert(words.end(), {"--interface", interface});
  }
  return words;
}

int run_rank(std::chrono::milliseconds timeout, const std::string& interface) {
  const launch::Launch launch = launch::detect_launch("");
  if (launch.self.launcher != "paceline") {
    throw UsageError(
        fmt::format("{} is how paceline run and paceline comm start their ranks", kRankSubcommand));
  }
  const launch::StopSignals stop;
  return engines::run_rank(launch, timeout, [&](const engines::RankContext& context) {
    // The process that started the ranks has set this key.
    cases::JobSpec job = cases::job_spec_from(context.world.store->get(kJobKey).value());
    job.settings.interface = interface;
    return run_session(context, job, {});
  });
}

}  // namespace paceline::rank
