// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "paceline/records/run_record.h"
#include "paceline/report/accuracy.h"
#include "paceline/report/summary.h"
#include "paceline/report/summary_columns.h"
#include "paceline/report/table.h"

namespace paceline::report {

/// Makes one table per group with one row per case, notes on the columns that hold values, and a
/// numbered footnote "[1]" per distinct warning, which the rows' last cells refer to.
Document summary_document(const std::vector<GroupSummary>& groups, Detail detail);

/// The summary of run records from which every output format is made.
struct SummaryReport {
  std::vector<GroupSummary> groups;
  std::vector<TrainingCurves> training;
  Document document;  // the tables of the groups, then those of `training`
};

SummaryReport summary_report(std::span<const records::RunRecord> records, Detail detail);

/// Returns what all cases of the group share, as the title of its table: "resnet18, batch 8 per
/// rank: fp32 on cpu, gloo".
std::string heading_of(const GroupSummary& group);

}  // namespace paceline::report
