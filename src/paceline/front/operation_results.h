// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/case/job_spec.h"
#include "paceline/front/front.h"
#include "paceline/records/comm_record.h"

namespace paceline::front {

/// Collects the results of `paceline comm`, which measures operations.
class OperationResults final : public Front {
 public:
  /// Throws UsageError if the records cannot be written or their file holds records of another
  /// kind.
  explicit OperationResults(const cases::JobSpec& job);

  /// Prints the results. Fits are written only if the run was complete.
  void show(const std::string& ended) override;
  bool has_samples() const override { return !records_.empty(); }
  int status() override;

 private:
  void keep(const std::string& line) override;

  cases::OperationSweep sweep_;
  std::vector<records::CommRecord> records_;
};

}  // namespace paceline::front
