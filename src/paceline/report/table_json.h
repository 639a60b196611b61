// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/report/fields.h"
#include "paceline/report/table.h"

// The JSON form of tables and notes, from which the page's scripts draw them.

namespace paceline::report {

inline Json table_json(const Table& table) {
  Json out{{"title", table.title},
           {"columns", Json::array()},
           {"rows", Json::array()},
           {"text", table.text}};
  for (const Column& column : table.columns) {
    out["columns"].push_back({{"heading", column.heading()}, {"header", column.header()}});
  }
  for (const TableRow& row : table.rows) {
    out["rows"].push_back({{"cells", row.cells}, {"span", row.span}});
  }
  return out;
}

/// Returns the notes that have a text.
inline Json notes_json(const std::vector<Note>& notes) {
  Json all = Json::array();
  for (const Note& note : notes) {
    if (!note.text.empty()) {
      all.push_back({{"term", note.term}, {"text", note.text}});
    }
  }
  return all;
}

}  // namespace paceline::report
