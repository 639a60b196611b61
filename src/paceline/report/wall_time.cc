// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/wall_time.h"

namespace paceline::report {
namespace {

constexpr const char* kExperiment = "ab";
constexpr const char* kModel = "command";  // stands for a whole command; no network has this name

}  // namespace

records::RunRecord one_step_record(const std::string& experiment, const std::string& label,
                                   std::int64_t ns) {
  records::RunRecord one;
  one.source = records::Source::kExternal;
  one.experiment = experiment;
  cases::Case& c = one.configuration;
  c.label = c.model = label;
  c.strategy = c.engine = c.device = c.dtype = c.optimizer = "";
  c.batch_size = c.steps = 1;
  c.bucket_mb = c.learning_rate = c.momentum = c.weight_decay = 0;
  c.warmup = 0;
  one.ranks.resize(1);
  one.ranks[0].step_ns = {ns};
  one.ranks[0].window_ns = ns;
  return one;
}

records::RunRecord wall_time_record(const std::string& command, const std::string& started_at,
                                    const records::HostEnvironment& host, std::int64_t wall_ns) {
  records::RunRecord one = one_step_record(kExperiment, "wall time", wall_ns);
  one.started_at = started_at;
  one.configuration.model = kModel;
  one.configuration.strategy = command;
  one.environment.hosts = {host};
  one.ranks[0].host = host.host;
  return one;
}

bool is_wall_time(const records::RunRecord& record) {
  return record.source == records::Source::kExternal && record.experiment == kExperiment &&
         record.configuration.model == kModel;
}

}  // namespace paceline::report
