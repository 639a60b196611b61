// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "paceline/report/fields.h"
#include "paceline/report/table.h"
#include "paceline/report/text.h"
#include "paceline/report/value_format.h"
#include "paceline/stats/interval.h"

namespace paceline::report {

/// The kinds of intervals that one table has: over repeated runs, or over the steps within runs.
class IntervalKinds {
 public:
  /// Notes the kind of the estimate's interval. Estimates without an interval are ignored.
  void add(const std::optional<stats::Estimate>& estimate) {
    if (estimate && estimate->interval) {
      const bool runs = estimate->basis == stats::IntervalBasis::kRuns;
      (runs ? over_runs_ : within_run_) = true;
    }
  }

  bool over_runs() const { return over_runs_; }
  bool within_run() const { return within_run_; }
  bool has_both_kinds() const { return over_runs_ && within_run_; }

  /// Returns the mark after an interval over the steps within runs: a star if the table also has
  /// intervals over runs, else nothing.
  std::string_view mark() const { return has_both_kinds() ? "*" : ""; }

 private:
  bool over_runs_ = false;
  bool within_run_ = false;
};

/// One column of results for one kind of row: its cells in tables for people, its values in JSON
/// and CSV, and its notes below tables.
template <class Row>
struct ResultColumn {
  Column head{};
  bool in_tables = false;
  std::function<std::string(const Row&)> text{};  // empty: the cell shows the first of `fields`
  std::function<std::optional<stats::Estimate>(const Row&)> with_interval{};
  Fields<Row> fields{};
  std::vector<Note> notes{};

  ResultColumn& shown(bool in_these_tables) {
    in_tables = in_these_tables;
    return *this;
  }
  ResultColumn& cell(std::function<std::string(const Row&)> shown) {
    text = std::move(shown);
    return *this;
  }
  /// Sets the cell to the value that `get` returns for a row.
  template <class Get>
  ResultColumn& number(const ValueFormat& format, Get get) {
    return cell([format, get](const Row& row) { return format.show(std::invoke(get, row)); });
  }
  /// Sets the cell to what `format` returns for the optional value that `get` returns for a row.
  template <class Get, class Format>
  ResultColumn& value(Get get, Format format) {
    return cell([get, format](const Row& row) -> std::string {
      const auto& found = std::invoke(get, row);
      return found ? format(*found) : std::string(kMissingValueText);
    });
  }
  /// Adds a field to the JSON and CSV forms. `path` leads to its value as in Fields::add().
  template <class... Path>
  ResultColumn& data(std::string key, Path... path) {
    fields.add(std::move(key), path...);
    return *this;
  }
  /// Shows the estimate that `get` returns for a row in the cell, and adds it to the JSON and CSV
  /// forms.
  template <class Get>
  ResultColumn& estimate(const ValueFormat& format, const EstimateKeys& keys, Get get) {
    with_interval = get;
    fields.add_estimate(keys, get);
    return number(format, get);
  }
  /// Adds a note below the tables that have this column; a note without `meaning` is not shown.
  ResultColumn& note(std::string term, std::string meaning) {
    notes.push_back({std::move(term), std::move(meaning)});
    return *this;
  }

  std::string cell_of(const Row& row) const {
    if (text) {
      return text(row);
    }
    std::string datum = fields.row(row).cells.front();
    return datum.empty() ? std::string(kMissingValueText) : datum;
  }
};

/// All columns for one kind of row, from which every output format is made, in the order in which
/// they were added.
template <class Row>
class ResultColumns {
 public:
  /// Adds a column. The caller sets its cells, fields and notes through the returned reference.
  ResultColumn<Row>& add(Column head) {
    ResultColumn<Row>& column = columns_.emplace_back();
    column.head = std::move(head);
    return column.shown(true);
  }
  /// Adds a field that only the JSON and CSV forms have.
  template <class... Path>
  void data(std::string key, Path... path) {
    columns_.emplace_back().data(std::move(key), path...);
  }
  template <class Get>
  void data_estimate(const EstimateKeys& keys, Get get) {
    columns_.emplace_back().fields.add_estimate(keys, get);
  }
  /// Adds notes that do not belong to a single column.
  void add_notes(std::vector<Note> notes) { columns_.emplace_back().notes = std::move(notes); }

  Fields<Row> fields() const {
    Fields<Row> all;
    for (const ResultColumn<Row>& column : columns_) {
      all.append(column.fields);
    }
    return all;
  }

  /// If `span_of` returns a text for a row, only the first two columns have cells in that row; the
  /// text takes the place of the others.
  Table table(std::span<const Row> rows, std::string (*span_of)(const Row&) = nullptr) const {
    Table table;
    table.rows.resize(rows.size());
    for (std::size_t i = 0; span_of != nullptr && i < rows.size(); ++i) {
      table.rows[i].span = span_of(rows[i]);
    }
    for (const ResultColumn<Row>& column : columns_) {
      if (!column.in_tables) {
        continue;
      }
      table.columns.push_back(column.head);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (table.rows[i].span.empty() || table.columns.size() <= 2) {
          table.rows[i].cells.push_back(column.cell_of(rows[i]));
        }
      }
    }
    return table;
  }

  /// Returns the notes that explain the columns of tables.
  std::vector<Note> notes() const {
    std::vector<Note> notes;
    for (const ResultColumn<Row>& column : columns_) {
      if (column.in_tables || column.head == Column()) {
        std::ranges::remove_copy_if(column.notes, std::back_inserter(notes), &std::string::empty,
                                    &Note::text);
      }
    }
    return notes;
  }

  /// Returns the kinds of the intervals that a table of these rows shows.
  IntervalKinds interval_kinds(std::span<const Row> rows) const {
    IntervalKinds kinds;
    for (const ResultColumn<Row>& column : columns_) {
      for (const Row& row : rows) {
        if (column.in_tables && column.with_interval) {
          kinds.add(column.with_interval(row));
        }
      }
    }
    return kinds;
  }

 private:
  std::vector<ResultColumn<Row>> columns_;
};

}  // namespace paceline::report
