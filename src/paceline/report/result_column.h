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

/// The kinds of intervals that stand in one table: over repeated runs, or from the steps inside of
/// runs.
class IntervalKinds {
 public:
  /// Ignores estimates without an interval.
  void add(const std::optional<stats::Estimate>& estimate) {
    if (estimate && estimate->interval) {
      const bool runs = estimate->basis == stats::Basis::kRuns;
      (runs ? over_runs_ : within_run_) = true;
    }
  }

  bool over_runs() const { return over_runs_; }
  bool within_run() const { return within_run_; }
  bool mixed() const { return over_runs_ && within_run_; }

  /// The mark behind an interval from the steps inside the runs: a star where intervals over runs
  /// stand beside it, else nothing.
  std::string_view mark() const { return mixed() ? "*" : ""; }

 private:
  bool over_runs_ = false;
  bool within_run_ = false;
};

/// One column of results of a kind of row: its cells in tables for people, its values in JSON and
/// CSV, and its notes below tables.
template <class Row>
struct ResultColumn {
  Column head{};
  bool in_tables = false;
  int place_in_tables = 0;  // columns of equal places stand as they are listed
  std::function<std::string(const Row&)> text{};  // empty: that of the data
  std::function<std::optional<stats::Estimate>(const Row&)> with_interval{};
  Fields<Row> fields{};
  std::vector<Note> notes{};

  ResultColumn& place(int at) {
    place_in_tables = at;
    return *this;
  }
  ResultColumn& shown(bool in_these_tables) {
    in_tables = in_these_tables;
    return *this;
  }
  ResultColumn& cell(std::function<std::string(const Row&)> shown) {
    text = std::move(shown);
    return *this;
  }
  /// The value that `get` has of a row as the cell.
  template <class Get>
  ResultColumn& number(const ValueFormat& format, Get get) {
    return cell([format, get](const Row& row) { return format.show(std::invoke(get, row)); });
  }
  /// A key with what Fields::add() says of the path.
  template <class... Path>
  ResultColumn& data(std::string key, Path... path) {
    fields.add(std::move(key), path...);
    return *this;
  }
  /// The estimate that `get` has of a row as the cell and as data.
  template <class Get>
  ResultColumn& estimate(const ValueFormat& format, const EstimateKeys& keys, Get get) {
    with_interval = get;
    fields.add_estimate(keys, get);
    return number(format, get);
  }
  /// Stands below tables that have the column; left out where it is empty.
  ResultColumn& note(std::string term, std::string meaning) {
    notes.push_back({std::move(term), std::move(meaning)});
    return *this;
  }

  std::string cell_of(const Row& row) const {
    if (text) {
      return text(row);
    }
    std::string datum = fields.row(row).cells.front();
    return datum.empty() ? std::string(kMissing) : datum;
  }
};

/// All columns of a kind of row, which every way to show its rows is made from. JSON and CSV have
/// them in the order of the list, tables and notes in that of their places.
template <class Row>
class ResultColumns {
 public:
  /// A column of tables, which further calls describe.
  ResultColumn<Row>& add(Column head) {
    ResultColumn<Row>& column = columns_.emplace_back();
    column.head = std::move(head);
    return column.shown(true);
  }
  /// Values that tables do not have.
  template <class... Path>
  void data(std::string key, Path... path) {
    columns_.emplace_back().data(std::move(key), path...);
  }
  template <class Get>
  void data_estimate(const EstimateKeys& keys, Get get) {
    columns_.emplace_back().fields.add_estimate(keys, get);
  }
  /// Notes that are not on a column alone.
  void add_notes(int place, std::vector<Note> notes) {
    columns_.emplace_back().place(place).notes = std::move(notes);
  }

  Fields<Row> fields() const {
    Fields<Row> all;
    for (const ResultColumn<Row>& column : columns_) {
      all.append(column.fields);
    }
    return all;
  }

  /// Of a row that `span_of` has a text for, only the first two columns have cells; the text stands
  /// in place of the others.
  Table table(std::span<const Row> rows, std::string (*span_of)(const Row&) = nullptr) const {
    Table table;
    table.rows.resize(rows.size());
    for (std::size_t i = 0; span_of != nullptr && i < rows.size(); ++i) {
      table.rows[i].span = span_of(rows[i]);
    }
    for (const ResultColumn<Row>* column : by_place()) {
      if (!column->in_tables) {
        continue;
      }
      table.columns.push_back(column->head);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (table.rows[i].span.empty() || table.columns.size() <= 2) {
          table.rows[i].cells.push_back(column->cell_of(rows[i]));
        }
      }
    }
    return table;
  }

  /// What the columns of tables mean.
  std::vector<Note> notes() const {
    std::vector<Note> notes;
    for (const ResultColumn<Row>* column : by_place()) {
      if (column->in_tables || column->head == Column()) {
        std::ranges::remove_copy_if(column->notes, std::back_inserter(notes), &std::string::empty,
                                    &Note::text);
      }
    }
    return notes;
  }

  /// The kinds of the intervals that a table of the rows shows.
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
  std::vector<const ResultColumn<Row>*> by_place() const {
    std::vector<const ResultColumn<Row>*> all;
    for (const ResultColumn<Row>& column : columns_) {
      all.push_back(&column);
    }
    std::ranges::stable_sort(all, {}, &ResultColumn<Row>::place_in_tables);
    return all;
  }

  std::vector<ResultColumn<Row>> columns_;
};

}  // namespace paceline::report
