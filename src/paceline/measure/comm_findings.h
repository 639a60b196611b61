// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "paceline/launch/key_value_store.h"
#include "paceline/records/comm_record.h"

namespace paceline::measure {

/// The measurements of an engine, complete or up to where the run ended.
struct CommResult {
  std::vector<records::CommRecord> records;
  records::Environment environment;
  std::vector<std::string> hosts;  // by rank
};

/// Rank 0's measurements so far.  They are in the job's store as well, so that
/// they outlive the rank.  Another thread may ask for the result.
class CommFindings {
 public:
  explicit CommFindings(std::shared_ptr<launch::KeyValueStore> store)
      : store_(std::move(store)) {}

  void begin(const records::Environment& environment,
             const std::vector<std::string>& hosts);
  /// Adds a measurement of the line rate; the fastest one counts.
  void add_line(double bytes_per_s);
  void add(const records::CommRecord& record);

  /// All records so far, each with the line rate and the warnings that follow
  /// from it.
  CommResult result() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<launch::KeyValueStore> store_;
  CommResult found_;
  double line_bytes_per_s_ = 0;
};

/// CommFindings::result() of a job that wrote its findings to `store`.
CommResult read_findings(launch::KeyValueStore& store);

}  // namespace paceline::measure
