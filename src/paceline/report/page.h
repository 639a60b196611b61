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

/// Where a record was read.
struct Origin {
  std::string file;
  std::size_t number = 0;  // among the records of that file, from 1
};

/// What a page shows.  The records must outlive it.
struct Page {
  std::span<const records::RunRecord> records;
  std::vector<Origin> origins{};  // of each record, or empty
  std::string title{};            // empty: the names of the experiments
  /// Where the records are longer, as JSON, the page holds what it draws of them.  Browsers open a
  /// page of so much at once.
  std::size_t most_record_bytes = 20'000'000;
};

/// The parts of the page that do not depend on records.
struct PageAssets {
  std::string_view skeleton;  // HTML with {{name}} where text is filled in
  std::string_view style;
  std::vector<std::string_view> scripts;   // in the order in which they run
  std::vector<std::string_view> licences;  // of the libraries among them
};

/// The assets that were built into the program, report/page/.
PageAssets page_assets();

/// What the scripts draw beside the records themselves: summary_json(), and "frameworks", what the
/// report of frameworks is made from, or null; and "text", the tables for readers without scripts.
Json page_data(const Page& page);

/// One HTML file that needs no other file and no network.  Its scripts draw it from `page_data` and
/// the records, which it holds: whole, or where they are too long of each one rank, whose steps are
/// those of the slowest.  Without scripts it shows the tables as text.  No text of a record becomes
/// markup or script.
std::string render_page(const Page& page, const PageAssets& assets = page_assets());

/// What is filled into the skeleton of a page.
struct PageParts {
  std::string title, text;  // `text` is shown without scripts
  Json data;                // what the scripts draw
  std::string records{};    // lines of JSON for a script element
};

std::string page_text(const PageParts& parts, const PageAssets& assets);

/// `json` as a text that may stand inside a script element: it has no "<", and
/// parses to the same value.
std::string script_json(const std::string& json);

}  // namespace paceline::report
