// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/comm_findings.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "paceline/records/json.h"

namespace paceline::measure {
namespace {

using records::Json;

constexpr const char* kEnvironment = "comm/found/environment";
constexpr const char* kHosts = "comm/found/hosts";
constexpr const char* kLine = "comm/found/line";

std::string row_key(std::size_t row) {
  return fmt::format("comm/found/row/{}", row);
}

records::Warning above_line() {
  return {.code = "above-line",
          .seen = "an operation moved bytes faster than the plain stream",
          .why =
              "something else slowed the stream down, or the engine does "
              "not use its path",
          .advice = "measure again on an idle machine"};
}

CommResult with_line(CommResult found, double line_bytes_per_s) {
  for (records::CommRecord& record : found.records) {
    record.line_bytes_per_s = line_bytes_per_s;
    if (record.line_share().value_or(0) > 1) {
      record.warnings.push_back(above_line());
    }
  }
  return found;
}

}  // namespace

void CommFindings::begin(const records::Environment& environment,
                         const std::vector<std::string>& hosts) {
  const std::lock_guard lock(mutex_);
  found_.environment = environment;
  found_.hosts = hosts;
  records::RunRecord shell;
  shell.environment = environment;
  store_->set(kEnvironment, records::to_line(shell));
  store_->set(kHosts, Json(hosts).dump());
}

void CommFindings::add_line(double bytes_per_s) {
  const std::lock_guard lock(mutex_);
  line_bytes_per_s_ = std::max(line_bytes_per_s_, bytes_per_s);
  store_->set(kLine, Json(line_bytes_per_s_).dump());
}

void CommFindings::add(const records::CommRecord& record) {
  const std::lock_guard lock(mutex_);
  store_->set(row_key(found_.records.size()),
              records::to_json(record, {}).dump());
  found_.records.push_back(record);
}

CommResult CommFindings::result() const {
  const std::lock_guard lock(mutex_);
  return with_line(found_, line_bytes_per_s_);
}

CommResult read_findings(launch::KeyValueStore& store) {
  CommResult found;
  if (const auto text = store.get(kEnvironment)) {
    found.environment = records::from_line(*text).environment;
  }
  if (const auto text = store.get(kHosts)) {
    found.hosts = Json::parse(*text).get<std::vector<std::string>>();
  }
  while (const auto text = store.get(row_key(found.records.size()))) {
    found.records.push_back(records::comm_record_from(Json::parse(*text)));
  }
  const auto line = store.get(kLine);
  return with_line(std::move(found),
                   line ? Json::parse(*line).get<double>() : 0);
}

}  // namespace paceline::measure
