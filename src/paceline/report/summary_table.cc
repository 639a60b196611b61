// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/summary_table.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/text.h"
#include "paceline/report/value_format.h"

namespace paceline::report {
namespace {

/// The distinct warnings, numbered in the order of their first cases.
class Footnotes {
 public:
  /// The numbers of the case's warnings: "1,3".
  std::string numbers_of(const CaseSummary& one) {
    std::vector<std::size_t> numbers;
    for (const records::Warning& warning : one.warnings) {
      numbers.push_back(number_of(fmt::format("{}: {}: {}; {}",
                                              warning.code,
                                              warning.seen,
                                              warning.why,
                                              warning.advice)));
    }
    if (one.predicted && one.predicted->error_bar) {
      numbers.push_back(number_of(
          "error bar: " + records::basis_words(*one.predicted->error_bar)));
    }
    if (one.failed_runs > 0 && !one.failed()) {
      const auto failed = static_cast<std::int64_t>(one.failed_runs);
      numbers.push_back(number_of(fmt::format("{} failed: {}",
                                              counted(failed, "run"),
                                              fmt::join(one.errors, "; "))));
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

std::string bytes_text(const std::optional<std::int64_t>& bytes) {
  return bytes ? format_bytes(*bytes) : std::string(kMissing);
}

std::string wire_bytes(const CaseSummary& one) {
  return !one.wire_bytes_per_step && one.planned_wire_bytes_per_step
             ? "~" + format_bytes(*one.planned_wire_bytes_per_step)
             : bytes_text(one.wire_bytes_per_step);
}

/// Percent of the step; with ? where the validation had no such case.
std::string error_bar(const CaseSummary& one) {
  if (!one.predicted || !one.predicted->error_bar ||
      !one.predicted->error_bar->known()) {
    return std::string(kMissing);
  }
  const records::ErrorBar& bar = *one.predicted->error_bar;
  const char* const mark = bar.validated ? "" : "?";
  if (bar.share) {
    return fmt::format("±{:.1f} %{}", *bar.share * 100, mark);
  }
  const auto deviation = [&one](std::int64_t ns) {
    return 100 *
           (static_cast<double>(ns) * 1e-9 / one.step_s->median.value - 1);
  };
  return fmt::format("{:+.1f}, {:+.1f} %{}",
                     deviation(*bar.low_ns),
                     deviation(*bar.high_ns),
                     mark);
}

/// Builds the table of one group.
class TableBuilder {
 public:
  TableBuilder(const GroupSummary& group,
               Detail detail,
               std::string_view within_run_mark,
               Footnotes& footnotes)
      : group_(group),
        time_(time_format(group.rows)),
        rate_(rate_format(group.rows)),
        share_(percent_format()),
        full_(detail == Detail::kFull),
        predicted_(any_has(group.rows, &CaseSummary::predicted)),
        reads_data_(any_has(group.rows, &CaseSummary::data_wait_s)),
        averages_(any_has(group.rows, &CaseSummary::consensus_distance)),
        late_(any_has(group.rows, &CaseSummary::lateness)),
        footnotes_(footnotes) {
    for (ValueFormat* format : {&time_, &rate_, &share_}) {
      format->within_run_mark = within_run_mark;
    }
  }

  Table table() const {
    Table table{.title = heading_of(group_), .columns = columns()};
    for (const CaseSummary& one : group_.rows) {
      table.rows.push_back(row(one));
    }
    return table;
  }

 private:
  using Percentile = std::pair<const char*, double stats::Percentiles::*>;

  /// Those of a step that the table shows; a terminal's lines are short.
  std::vector<Percentile> percentiles() const {
    using P = stats::Percentiles;
    return full_ ? std::vector<Percentile>{{"p50", &P::p50},
                                           {"p75", &P::p75},
                                           {"p90", &P::p90},
                                           {"p95", &P::p95}}
                 : std::vector<Percentile>{{"p50", &P::p50}, {"p90", &P::p90}};
  }

  std::vector<Column> columns() const {
    const std::string time(time_.unit);
    std::vector<Column> columns{{.name = "case", .align = Align::kLeft},
                                {.name = "ranks"}};
    const auto add = [&columns](const char* group,
                                const char* name,
                                const std::string& unit = "") {
      columns.push_back({.name = name, .group = group, .unit = unit});
    };
    if (full_) {
      add("step time", "median", time);
    }
    for (const auto& [name, value] : percentiles()) {
      add("step time", name, time);
    }
    if (predicted_) {
      add("prediction", "error bar");
      columns.push_back({.name = "bound, " + time, .group = "prediction"});
    }
    if (full_) {
      add("examples/s", "per rank");
    }
    add("examples/s", "all ranks");
    add("efficiency", "", "%");
    add("exposed comm.", "", time);
    if (reads_data_) {
      add("data wait", "", time);
    }
    add("wire", "per step");
    if (averages_) {
      add("consensus", "distance");
    }
    if (late_) {
      add("late by", "mean, most", "steps");
    }
    if (full_) {
      add("peak memory", "per rank");
      add("samples", "runs");
      add("samples", "steps");
    }
    add("", "notes");
    return columns;
  }

  TableRow row(const CaseSummary& one) const {
    const records::Configuration& c = one.configuration;
    TableRow row{
        .cells = {printable(without_ranks(one.label, c.ranks)), ranks_text(c)}};
    if (one.failed()) {
      row.span = printable(one.errors.empty()
                               ? "no samples"
                               : fmt::format("{}: {}",
                                             one.not_run ? "not run" : "failed",
                                             fmt::join(one.errors, "; ")));
      return row;
    }
    const auto add = [&row](std::string cell) {
      row.cells.push_back(std::move(cell));
    };
    if (full_) {
      add(time_.show(std::optional(one.step_s->median)));
    }
    for (const auto& [name, value] : percentiles()) {
      add(time_.show(one.step_s->percentiles.*value));
    }
    if (predicted_) {
      add(error_bar(one));
      add(bound(one));
    }
    if (full_) {
      add(rate_.show(one.examples_per_s_per_rank()));
    }
    add(rate_.show(one.examples_per_s));
    add(one.baseline == one.label ? "baseline" : share_.show(one.efficiency));
    add(time_.show(one.exposed_s));
    if (reads_data_) {
      add(time_.show(one.data_wait_s));
    }
    add(wire_bytes(one));
    if (averages_) {
      add(one.consensus_distance
              ? fmt::format("{:.2g}", *one.consensus_distance)
              : std::string(kMissing));
    }
    if (late_) {
      add(one.lateness ? fmt::format("{:.2f}, {}",
                                     one.lateness->mean_steps,
                                     one.lateness->most_steps)
                       : std::string(kMissing));
    }
    if (full_) {
      add(bytes_text(one.peak_memory_bytes));
      add(fmt::to_string(one.step_s->runs));
      add(fmt::to_string(one.measured_steps()));
    }
    add(footnotes_.numbers_of(one));
    return row;
  }

  std::string bound(const CaseSummary& one) const {
    return one.predicted
               ? time_.show_small(
                     static_cast<double>(one.predicted->bound.best_ns()) * 1e-9)
               : std::string(kMissing);
  }

  const GroupSummary& group_;
  ValueFormat time_;
  ValueFormat rate_;
  ValueFormat share_;
  bool full_ = false;
  bool predicted_ = false;   // a case has a bound
  bool reads_data_ = false;  // a case waited for data
  bool averages_ = false;    // a case has a consensus distance
  bool late_ = false;        // a case has averages that may be late
  Footnotes& footnotes_;
};

}  // namespace

Document summary_document(const std::vector<GroupSummary>& groups,
                          Detail detail) {
  std::vector<CaseSummary> measured;
  for (const GroupSummary& group : groups) {
    std::ranges::remove_copy_if(
        group.rows, std::back_inserter(measured), &CaseSummary::failed);
  }
  const IntervalKinds kinds = interval_kinds(measured, detail);
  Document document;
  Footnotes footnotes;
  for (const GroupSummary& group : groups) {
    document.tables.push_back(
        TableBuilder(group, detail, kinds.mark(), footnotes).table());
  }
  document.notes = column_notes(measured, detail);
  footnotes.append_to(document.notes);
  return document;
}

}  // namespace paceline::report
