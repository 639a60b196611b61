// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/summary_table.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

using Case = cases::Case;

// Returns `word` followed by `text`, or an empty text if `text` is empty.
std::string with_prefix(const char* word, const std::string& text) {
  return text.empty() ? "" : word + text;
}

// Returns the bucket size from the strategy's canonical text; empty if the strategy has no buckets.
std::string bucket_of(const Case& c) {
  const std::string size = option_of(c.strategy, "bucket-mb");
  return size.empty() ? "" : fmt::format("bucket {} MiB", size);
}

// Returns the name of the data set, or "synthetic data"; empty for predictions, imported results
// and commands, which do not state it.
std::string data_set_name(const CaseSummary& row) {
  const bool trained =
      row.source == records::Source::kMeasured || row.source == records::Source::kExternal;
  const Case& c = row.configuration;
  return !c.data.empty() ? "data " + c.data : trained && c.command.empty() ? "synthetic data" : "";
}

// Returns number type and device, "bf16 on cuda"; imported results may lack either.
std::string type_on_device(const Case& c) {
  const std::string type = c.dtype == "-" ? "" : c.dtype;
  return c.device.empty() ? type : fmt::format("{} on {}", type.empty() ? "-" : type, c.device);
}

// Returns the facts of a case in the order of the heading.  A fact that is not stated is empty.
// The strategy is stated only for predictions with a label; other rows are labelled by it.
std::vector<std::string> heading_facts_of(const CaseSummary& row) {
  const Case& c = row.configuration;
  const bool named = row.source == records::Source::kPredicted && !c.label.empty();
  return {named ? c.strategy : "",
          c.image_size == 0 ? "" : fmt::format("{0} x {0} pixels", c.image_size),
          c.sequence_length == 0 ? "" : fmt::format("sequences of {}", c.sequence_length),
          data_set_name(row),
          type_on_device(c),
          c.engine,
          with_prefix("cluster ", c.cluster),
          with_prefix("link ", c.link),
          with_prefix("replay of ", c.replay),
          c.stretch == 1 ? "" : fmt::format("stretched {} times", c.stretch),
          bucket_of(c),
          c.threads == 0 ? "" : counted(c.threads, "thread") + " per rank"};
}

// Returns the facts that all rows share. The bucket size counts as shared if it is equal in all
// rows that have buckets.
std::vector<std::string> shared_facts(const std::vector<CaseSummary>& rows) {
  std::vector<std::set<std::string>> texts;
  for (const CaseSummary& row : rows) {
    const std::vector<std::string> facts = heading_facts_of(row);
    texts.resize(facts.size());
    for (std::size_t i = 0; i < facts.size(); ++i) {
      const bool no_buckets = facts[i].empty() && i + 2 == facts.size();
      if (!no_buckets) {
        texts[i].insert(facts[i]);
      }
    }
  }
  std::vector<std::string> shared;
  for (const std::set<std::string>& of_rows : texts) {
    if (of_rows.size() == 1 && !of_rows.begin()->empty()) {
      shared.push_back(*of_rows.begin());
    }
  }
  return shared;
}

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

std::string heading_of(const GroupSummary& group) {
  const std::vector<std::string> facts = shared_facts(group.rows);
  const bool batch = std::ranges::none_of(group.rows, [](const CaseSummary& row) {
    return row.configuration.model == "hybrid";  // its steps vary in examples
  });
  return printable(fmt::format("{}{}{}",
                               batch ? model_and_batch(group.model, group.batch_size) : group.model,
                               facts.empty() ? "" : ": ", fmt::join(facts, ", ")));
}

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
