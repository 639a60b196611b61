// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/wall_time.h"

namespace paceline::report {
namespace {

constexpr const char* kExperiment = "ab";
constexpr const char* kModel = "command";  // no network has this name

}  // namespace

records::RunRecord wall_time_record(const std::string& command, const std::string& started_at,
                                    const records::HostEnvironment& host, std::int64_t wall_ns) {
  records::RunRecord one;
  one.source = records::Source::kExternal;
  one.experiment = kExperiment;
  one.started_at = started_at;
  records::Configuration& c = one.configuration;
  c.label = "wall time";
  c.model = kModel;
  c.strategy = command;
  c.engine = c.device = c.dtype = c.optimizer = "";
  c.batch_size = c.steps = 1;
  c.bucket_mb = c.learning_rate = c.momentum = c.weight_decay = 0;
  c.warmup = 0;
  one.environment.hosts = {host};
  one.ranks.resize(1);
  one.ranks[0].host = host.host;
  one.ranks[0].step_ns = {wall_ns};
  one.ranks[0].window_ns = wall_ns;
  return one;
}

bool is_wall_time(const records::RunRecord& record) {
  return record.source == records::Source::kExternal && record.experiment == kExperiment &&
         record.configuration.model == kModel;
}

}  // namespace paceline::report
