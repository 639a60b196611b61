// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/case/job_spec.h"
#include "paceline/front/front.h"
#include "paceline/front/record_target.h"
#include "paceline/records/comm_record.h"

namespace paceline::front {

/// The front of a job of operations.
class OperationResults final : public Front {
 public:
  /// Throws UsageError if the records cannot be written, their file holds records of another kind,
  /// or the format is unknown.
  explicit OperationResults(const cases::JobSpec& job);

  void begin(launch::KeyValueStore& /*store*/, int /*run*/) override {}
  void take(launch::KeyValueStore& store) override;
  std::optional<std::string> add_failed(launch::KeyValueStore& /*store*/,
                                        const std::string& /*why*/) override {
    return {};
  }
  /// Writes no fits if the run ended early.
  void show(const std::string& ended) override;
  bool has_samples() const override { return !records_.empty(); }
  std::string failures_in() const override { return {}; }
  int status() override;

 private:
  cases::OperationSweep sweep_;
  std::string format_;
  RecordTarget target_;
  std::vector<records::CommRecord> records_;
};

}  // namespace paceline::front
