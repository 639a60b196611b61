// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "paceline/records/run_record.h"
#include "paceline/report/framework_tables.h"
#include "paceline/report/table.h"

namespace paceline::report {

/// A result table as it is shown.
struct FrameworkResults {
  FrameworkTable data;
  Table throughput{}, speed_up{};
  /// Reasons why cells have no figure.  A cell shows the number of its reason;
  /// "(1)" is the first.
  std::vector<std::string> footnotes{};
  std::vector<Finding> findings{};

  /// Whether a finding keeps the column from being compared.
  bool excludes(const FrameworkColumn& column) const;
  /// Whether one keeps its figure on these devices from being compared.
  bool excludes(const FrameworkColumn& column, const Devices& devices) const;
};

/// The report of DLPerf's anatomy, which Markdown (dlperf.cc) and the page
/// show.
struct FrameworkReport {
  std::string period;
  Table frameworks{};  // version, container, source, exchange, features, data
  std::vector<Note> options{};  // devices, number types, window, figure
  std::vector<Note> remarks{};  // shortened settings, a busy machine
  std::vector<FrameworkResults> results{};
};

/// Everything comes from the records.
FrameworkReport framework_report(std::span<const records::RunRecord> records);

/// "1412.3 [1380.1, 1440.2]"; as its source printed it where there is one;
/// "failed", "not run" or "-" where there is none.
std::string cell_text(const FrameworkCell& cell);

/// "7.87x, 98.4 %"; "-" where there is none.
std::string speed_up_text(const FrameworkColumn& column,
                          const Devices& devices);

}  // namespace paceline::report
