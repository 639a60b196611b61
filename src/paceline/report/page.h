// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/records/run_record.h"
#include "paceline/report/fields.h"

namespace paceline::report {

/// The place that a record was read from.
struct Origin {
  std::string file;
  std::size_t number = 0;  // position among the records of that file, from 1
};

/// The input of a page.  The records must outlive it.
struct Page {
  std::span<const records::RunRecord> records;
  std::vector<Origin> origins{};  // one for each record, or empty
  std::string title{};            // empty: the names of the experiments are the title
  /// If the JSON of the records is longer, the page holds only what it draws of them.  Browsers
  /// open a page of this size at once.
  std::size_t most_record_bytes = 20'000'000;
};

/// The parts of the page that do not depend on records.
struct PageAssets {
  std::string_view skeleton;  // HTML with {{name}} as placeholder for a text
  std::string_view style;
  std::vector<std::string_view> scripts;   // in the order in which they run
  std::vector<std::string_view> licences;  // of the libraries among the scripts
};

/// Returns the assets of report/page/, which are built into the program.
PageAssets page_assets();

/// Returns what the scripts draw beside the records themselves: summary_json(); "frameworks", the
/// data of the comparison of frameworks, or null; "text", the tables for readers without scripts.
Json page_data(const Page& page);

/// Renders one HTML file that needs no other file and no network.  Its scripts draw `page_data` and
/// the records, both of which the file contains.  If the records are too long, each is reduced to
/// one rank that has the slowest rank's time of each step.  Without scripts the page shows the
/// tables as text.  No text of a record becomes markup or script.
std::string render_page(const Page& page, const PageAssets& assets = page_assets());

/// The texts that are filled into the skeleton of a page.
struct PageParts {
  std::string title, text;  // `text` is shown without scripts
  Json data;                // what the scripts draw
  std::string records{};    // JSON lines for a script element
};

std::string page_text(const PageParts& parts, const PageAssets& assets);

/// Escapes `json` for a script element: the result has no "<" and parses to the same value.
std::string script_json(const std::string& json);

}  // namespace paceline::report
