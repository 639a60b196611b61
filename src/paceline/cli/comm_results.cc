// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/comm_results.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "paceline/base/file.h"
#include "paceline/base/ranks_per_host.h"
#include "paceline/base/text.h"
#include "paceline/measure/results.h"
#include "paceline/predict/comm_fit.h"
#include "paceline/records/json.h"
#include "paceline/report/comm_table.h"
#include "paceline/report/formats.h"

namespace paceline::cli {
namespace {

std::vector<cluster::ClusterHost> hosts_of(
    const std::vector<std::string>& host_of_rank) {
  std::vector<cluster::ClusterHost> hosts;
  std::size_t first = 0;
  for (const int ranks : ranks_per_host<std::string>(host_of_rank)) {
    hosts.push_back(
        {.name = host_of_rank[first], .slots = ranks, .interface = {}});
    first += static_cast<std::size_t>(ranks);
  }
  return hosts;
}

}  // namespace

CommResults::CommResults(Options options) : options_(std::move(options)) {
  if (const char* named = std::getenv(measure::kRecordsVariable);
      named != nullptr && options_.records.empty()) {
    options_.records = named;
  }
  if (options_.records.empty()) {
    options_.records = measure::default_records_path("comm");
    std::error_code error;
    makes_folder_ = std::filesystem::create_directories("results", error);
  }
  try {
    check_writable("--records", options_.records);
  } catch (...) {
    if (makes_folder_) {
      rmdir("results");
    }
    throw;
  }
}

CommResults::~CommResults() {
  if (makes_folder_) {
    rmdir("results");  // fails where something is in it
  }
}

int CommResults::show(const measure::CommResult& result,
                      const std::string& ended) {
  int code = 0;
  if (!ended.empty() && isatty(STDERR_FILENO) == 1) {
    fmt::print(stderr, "\r\033[K");  // over the progress of a lost rank
  }
  for (const records::CommRecord& record : result.records) {
    append_line(options_.records,
                records::to_line(records::to_json(record, result.environment)));
    code = record.wrong_elements.value_or(0) > 0 ? 3 : code;
  }
  if (!result.records.empty()) {
    fmt::print("{}",
               report::find_format(report::comm_formats(), options_.format)
                   .render(result.records, result.environment));
    std::fflush(stdout);
  }
  if (!ended.empty()) {
    const auto rows = counted(static_cast<std::int64_t>(options_.rows), "row");
    fmt::print(stderr,
               "{}{} of {} measured, {}\n",
               ended,
               result.records.size(),
               rows,
               result.records.empty() ? "so there is no record"
                                      : "recorded in " + options_.records);
    return code;
  }
  fmt::print(stderr, "records: {}\n", options_.records);
  if (!options_.fit.path.empty()) {
    fmt::print(stderr,
               "{}\n",
               predict::write_fits(
                   options_.fit, hosts_of(result.hosts), result.records));
  }
  return code;
}

}  // namespace paceline::cli
