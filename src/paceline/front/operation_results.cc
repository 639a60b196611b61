// SPDX-License-Identifier: Apache-2.0
#include "paceline/front/operation_results.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "paceline/base/exit_status.h"
#include "paceline/base/text.h"
#include "paceline/predict/comm_fit.h"
#include "paceline/rank/case_record.h"
#include "paceline/rank/comm_case.h"
#include "paceline/records/json.h"
#include "paceline/report/comm_table.h"
#include "paceline/report/command_output.h"
#include "paceline/report/formats.h"

namespace paceline::front {
namespace {

records::Warning above_line() {
  return {.code = "above-line",
          .seen = "an operation moved bytes faster than the plain stream",
          .why =
              "something else slowed the stream down, or the engine does "
              "not use its path",
          .advice = "measure again on an idle machine"};
}

// Returns the hosts that were measured, with their numbers of ranks.
std::vector<cluster::ClusterHost> hosts_of(const records::Environment& environment,
                                           const std::vector<int>& ranks_per_host) {
  std::vector<cluster::ClusterHost> hosts;
  for (std::size_t i = 0; i < environment.hosts.size(); ++i) {
    hosts.push_back(
        {.name = environment.hosts[i].host, .slots = ranks_per_host[i], .interface = {}});
  }
  return hosts;
}

}  // namespace

std::vector<records::CommRecord> with_line(std::vector<records::CommRecord> records,
                                           double line_bytes_per_s) {
  for (records::CommRecord& record : records) {
    record.line_bytes_per_s = line_bytes_per_s;
    if (record.line_share().value_or(0) > 1) {
      record.warnings.push_back(above_line());
    }
  }
  return records;
}

OperationResults::OperationResults(const cases::JobSpec& job)
    : sweep_(*job.operations),
      format_(job.settings.format),
      target_(named_records(job.settings.records), job.settings.name,
              records::RecordKind::kOperations) {
  report::find_format(report::output_formats(), format_);
}

void OperationResults::take(launch::KeyValueStore& store) {
  while (const auto line = rank::finished_line(store, 0, records_.size())) {
    records_.push_back(records::comm_record_from_line(*line));
  }
  line_bytes_per_s_ = rank::posted_line(store);
  if (has_samples() && environment_.hosts.empty()) {
    environment_ = rank::posted_environment(store);
  }
}

void OperationResults::show(const std::string& ended) {
  if (!ended.empty() && isatty(STDERR_FILENO) == 1) {
    fmt::print(stderr, "\r\033[K");  // overwrites the progress of a lost rank
  }
  const std::vector<records::CommRecord> shown = with_line(records_, line_bytes_per_s_);
  for (const records::CommRecord& record : shown) {
    target_.append(records::to_line(records::to_json(record, environment_)));
  }
  if (has_samples()) {
    fmt::print("{}", report::rendered(format_, report::comm_output(shown, environment_)));
    std::fflush(stdout);
  }
  if (!ended.empty()) {
    const auto rows = rank::comm_rows(sweep_.operations, sweep_.sizes, sweep_.dtype, sweep_.ranks);
    fmt::print(stderr, "{}{} of {} measured, {}\n", ended, shown.size(),
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
                                   hosts_of(environment_, shown.front().ranks_per_host), shown));
  }
}

int OperationResults::status() {
  return std::ranges::any_of(records_, &records::CommRecord::found_wrong) ? kWrongValuesStatus : 0;
}

}  // namespace paceline::front
