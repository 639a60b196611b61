// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/sheet.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/report/format.h"
#include "paceline/report/scale.h"
#include "paceline/report/sheet_heading.h"

namespace paceline::report {
namespace {

// Numbers the distinct warnings in the order in which they are met.
class Footnotes {
 public:
  // The numbers of the row's warnings: "1,3".
  std::string marks(const Row& row) {
    std::vector<std::size_t> numbers;
    for (const records::Warning& warning : row.warnings) {
      numbers.push_back(number_of(fmt::format("{}: {}: {}; {}",
                                              warning.code,
                                              warning.seen,
                                              warning.why,
                                              warning.advice)));
    }
    if (row.predicted && row.predicted->error_bar) {
      numbers.push_back(number_of(
          "error bar: " + records::basis_words(*row.predicted->error_bar)));
    }
    if (row.failed_runs > 0 && !row.failed()) {
      numbers.push_back(number_of(fmt::format(
          "{} runs failed: {}", row.failed_runs, fmt::join(row.errors, "; "))));
    }
    std::sort(numbers.begin(), numbers.end());
    return fmt::format("{}", fmt::join(numbers, ","));
  }
  std::vector<std::string> take() { return std::move(sentences_); }

 private:
  std::size_t number_of(const std::string& text) {
    const std::string sentence = printable(text);
    auto place = std::find(sentences_.begin(), sentences_.end(), sentence);
    if (place == sentences_.end()) {
      place = sentences_.insert(place, sentence);
    }
    return static_cast<std::size_t>(place - sentences_.begin()) + 1;
  }
  std::vector<std::string> sentences_;
};

std::string wire_bytes(const Row& row) {
  if (row.wire_bytes_per_step) {
    return format_bytes(*row.wire_bytes_per_step);
  }
  return row.planned_wire_bytes_per_step
             ? "~" + format_bytes(*row.planned_wire_bytes_per_step)
             : std::string(kMissing);
}

/// Percent of the step; with ? where it is that of another kind of case.
std::string error_bar(const Row& row) {
  if (!row.predicted || !row.predicted->error_bar ||
      !row.predicted->error_bar->known()) {
    return std::string(kMissing);
  }
  const records::ErrorBar& bar = *row.predicted->error_bar;
  const char* const mark = bar.examined ? "" : "?";
  if (bar.share) {
    return fmt::format("±{:.1f} %{}", *bar.share * 100, mark);
  }
  const auto beyond = [&row](std::int64_t ns) {
    return 100 *
           (static_cast<double>(ns) * 1e-9 / row.step_s->median.value - 1);
  };
  return fmt::format(
      "{:+.1f}, {:+.1f} %{}", beyond(*bar.low_ns), beyond(*bar.high_ns), mark);
}

/// The columns of one table, and the cells of a row in them.
class Writer {
 public:
  Writer(const Table& table,
         Detail detail,
         std::string_view within_run_mark,
         Footnotes& footnotes)
      : time_(time_scale(table.rows)),
        rate_(rate_scale(table.rows)),
        share_(percent_scale()),
        full_(detail == Detail::kFull),
        predicted_(std::ranges::any_of(
            table.rows,
            [](const Row& row) { return row.predicted.has_value(); })),
        footnotes_(footnotes) {
    for (Scale* scale : {&time_, &rate_, &share_}) {
      scale->within_run_mark = within_run_mark;
    }
  }

  std::vector<Grid::Column> columns() const {
    const std::string step = fmt::format("step time, {}", time_.unit);
    std::vector<Grid::Column> columns{{"", "case"}, {"", "ranks"}};
    if (full_) {
      columns.push_back({step, "median"});
    }
    columns.insert(
        columns.end(),
        {{step, "p50"}, {step, "p75"}, {step, "p90"}, {step, "p95"}});
    if (predicted_) {
      columns.insert(columns.end(),
                     {{"prediction", "error bar"},
                      {"prediction", fmt::format("bound, {}", time_.unit)}});
    }
    columns.insert(columns.end(),
                   {{"examples/s", "per rank"},
                    {"examples/s", "all ranks"},
                    {"efficiency", "%"},
                    {"exposed comm.", std::string(time_.unit)},
                    {"wire", "per step"}});
    if (full_) {
      columns.insert(columns.end(),
                     {{"peak memory", "per rank"},
                      {"samples", "runs"},
                      {"samples", "steps"}});
    }
    columns.push_back({"", "notes"});
    return columns;
  }

  Sheet::Line line(const Row& row) const {
    std::vector<std::string> cells{printable(row.label),
                                   fmt::to_string(row.configuration.ranks)};
    if (row.failed()) {
      return {std::move(cells),
              printable(row.errors.empty()
                            ? "no samples"
                            : fmt::format("failed: {}",
                                          fmt::join(row.errors, "; ")))};
    }
    add_times(row, cells);
    cells.push_back(rate_.show(row.examples_per_s_per_rank()));
    cells.push_back(all_ranks(row));
    cells.push_back(row.baseline == row.label ? "baseline"
                                              : share_.show(row.efficiency));
    cells.push_back(time_.show(row.exposed_s));
    cells.push_back(wire_bytes(row));
    if (full_) {
      cells.push_back(row.peak_memory_bytes
                          ? format_bytes(*row.peak_memory_bytes)
                          : std::string(kMissing));
      cells.push_back(fmt::to_string(row.step_s->runs));
      cells.push_back(fmt::to_string(row.step_s->steps));
    }
    cells.push_back(footnotes_.marks(row));
    return {.cells = std::move(cells)};
  }

 private:
  void add_times(const Row& row, std::vector<std::string>& cells) const {
    const stats::Percentiles& p = row.step_s->percentiles;
    if (full_) {
      cells.push_back(time_.show(std::optional(row.step_s->median)));
    }
    for (const double seconds : {p.p50, p.p75, p.p90, p.p95}) {
      cells.push_back(time_.show(seconds));
    }
    if (predicted_) {
      cells.push_back(error_bar(row));
      cells.push_back(
          row.predicted
              ? time_.show_small(
                    static_cast<double>(row.predicted->bound.best_ns()) * 1e-9)
              : std::string(kMissing));
    }
  }
  std::string all_ranks(const Row& row) const {
    if (full_ || !row.examples_per_s) {
      return rate_.show(row.examples_per_s);
    }
    return rate_.show(row.examples_per_s->value);
  }

  Scale time_;
  Scale rate_;
  Scale share_;
  bool full_ = false;
  bool predicted_ = false;  // some row has a bound
  Footnotes& footnotes_;
};

}  // namespace

Sheets make_sheets(const std::vector<Table>& tables, Detail detail) {
  Sheets sheets;
  Footnotes footnotes;
  std::vector<Row> measured;
  for (const Table& table : tables) {
    std::copy_if(table.rows.begin(),
                 table.rows.end(),
                 std::back_inserter(measured),
                 [](const Row& row) { return !row.failed(); });
  }
  const Bases bases = bases_of(measured, detail);
  for (const Table& table : tables) {
    const Writer writer(table, detail, bases.mark(), footnotes);
    Sheet& sheet = sheets.tables.emplace_back();
    sheet.heading = heading_of(table);
    sheet.columns = writer.columns();
    for (const Row& row : table.rows) {
      sheet.lines.push_back(writer.line(row));
    }
  }
  sheets.meanings = meanings_of(measured, detail);
  sheets.notes = footnotes.take();
  return sheets;
}

}  // namespace paceline::report
