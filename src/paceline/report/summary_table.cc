// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/summary_table.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

/// The distinct warnings, numbered in the order of the first cases that have them.
class Footnotes {
 public:
  /// Returns the footnote numbers of the case's warnings: "1,3".
  std::string numbers_of(const CaseSummary& one) {
    std::vector<std::size_t> numbers;
    for (const records::Warning& warning : one.warnings) {
      numbers.push_back(number_of(
          fmt::format("{}: {}: {}; {}", warning.code, warning.seen, warning.why, warning.advice)));
    }
    if (one.predicted && one.predicted->error_bar) {
      numbers.push_back(
          number_of("error bar: " + records::error_basis_text(*one.predicted->error_bar)));
    }
    if (one.failed_runs > 0 && !one.failed()) {
      const auto failed = static_cast<std::int64_t>(one.failed_runs);
      numbers.push_back(number_of(
          fmt::format("{} failed: {}", counted(failed, "run"), fmt::join(one.errors, "; "))));
    }
    std::sort(numbers.begin(), numbers.end());
    return fmt::format("{}", fmt::join(numbers, ","));
  }
  void append_to(std::vector<Note>& notes) const {
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      notes.push_back({fmt::format("[{}]", i + 1), texts_[i]});
    }
  }

 private:
  std::size_t number_of(const std::string& text) {
    const std::string shown = printable(text);
    auto place = std::find(texts_.begin(), texts_.end(), shown);
    if (place == texts_.end()) {
      place = texts_.insert(place, shown);
    }
    return static_cast<std::size_t>(place - texts_.begin()) + 1;
  }
  std::vector<std::string> texts_;
};

/// Returns why the case has no results; empty if it has some.
std::string failure_of(const CaseSummary& one) {
  if (!one.failed()) {
    return "";
  }
  return printable(one.errors.empty() ? "no samples"
                                      : fmt::format("{}: {}", one.not_run ? "not run" : "failed",
                                                    fmt::join(one.errors, "; ")));
}

}  // namespace

Document summary_document(const std::vector<GroupSummary>& groups, Detail detail) {
  std::vector<CaseSummary> measured;
  for (const GroupSummary& group : groups) {
    std::ranges::remove_copy_if(group.rows, std::back_inserter(measured), &CaseSummary::failed);
  }
  const CaseColumns of_all = case_columns(measured, detail);
  const std::string_view mark = of_all.interval_kinds(measured).mark();
  Document document;
  Footnotes footnotes;
  for (const GroupSummary& group : groups) {
    CaseColumns columns = case_columns(group.rows, detail, mark);
    columns.add({.name = "notes"}).cell([&footnotes](const CaseSummary& one) {
      return footnotes.numbers_of(one);
    });
    document.tables.push_back(columns.table(group.rows, failure_of));
    document.tables.back().title = heading_of(group);
  }
  if (!measured.empty()) {
    document.notes = of_all.notes();
  }
  footnotes.append_to(document.notes);
  return document;
}

SummaryReport summary_report(std::span<const records::RunRecord> records, Detail detail) {
  SummaryReport report{
      .groups = summarize(records), .training = training_curves(records), .document = {}};
  report.document = summary_document(report.groups, detail);
  add_accuracy(report.training, report.document);
  return report;
}

}  // namespace paceline::report
