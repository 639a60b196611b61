// SPDX-License-Identifier: Apache-2.0
#include "paceline/front/operation_results.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "paceline/base/exit_status.h"
#include "paceline/base/text.h"
#include "paceline/predict/comm_fit.h"
#include "paceline/rank/comm_case.h"
#include "paceline/records/json.h"
#include "paceline/report/comm_table.h"
#include "paceline/report/command_output.h"

namespace paceline::front {
namespace {

// Returns the hosts that were measured, with their numbers of ranks.
std::vector<cluster::ClusterHost> measured_hosts(const records::CommRecord& record) {
  std::vector<cluster::ClusterHost> hosts;
  for (std::size_t i = 0; i < record.environment.hosts.size(); ++i) {
    hosts.push_back({.name = record.environment.hosts[i].host,
                     .slots = record.ranks_per_host[i],
                     .interface = {}});
  }
  return hosts;
}

}  // namespace

OperationResults::OperationResults(const cases::JobSpec& job)
    : Front(job.settings, records::RecordKind::kOperations), sweep_(*job.operations) {}

void OperationResults::keep(const std::string& line) {
  records_.push_back(records::comm_record_from_line(line));
}

void OperationResults::show(const std::string& ended) {
  if (!ended.empty() && isatty(STDERR_FILENO) == 1) {
    fmt::print(stderr, "\r\033[K");  // overwrites the progress of a lost rank
  }
  if (has_samples()) {
    fmt::print("{}",
               report::render_output(settings_.format,
                                     report::comm_output(records_, records_.front().environment)));
    std::fflush(stdout);
  }
  if (!ended.empty()) {
    const auto rows = rank::comm_rows(sweep_.operations, sweep_.sizes, sweep_.dtype, sweep_.ranks);
    fmt::print(stderr, "{}{} of {} measured, {}\n", ended, records_.size(),
               counted(std::ssize(rows), "row"),
               has_samples() ? "recorded in " + target_.path() : "so there is no record");
    return;
  }
  if (!has_samples()) {
    return;
  }
  fmt::print(stderr, "records: {}\n", target_.path());
  if (!sweep_.fit.empty()) {
    fmt::print(stderr, "{}\n",
               predict::write_fits({.path = sweep_.fit, .command = sweep_.command},
                                   measured_hosts(records_.front()), records_));
  }
}

int OperationResults::status() {
  return std::ranges::any_of(records_, &records::CommRecord::has_wrong_values) ? kWrongValuesStatus
                                                                               : 0;
}

}  // namespace paceline::front
