// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/records/run_record.h"
#include "paceline/report/page_section.h"

namespace paceline::report {

/// Where a record was read.
struct Origin {
  std::string file;
  std::size_t number = 0;  // among the records of that file, from 1
};

/// What one page shows.
struct Page {
  std::string title;
  std::vector<Section> sections;
  std::vector<Meaning> meanings;                // of the tables' columns
  std::vector<std::string> notes;               // that the tables refer to
  std::span<const records::RunRecord> records;  // embedded, with their machines
  std::vector<Origin> origins{};                // of each record, or empty
};

/// A page of the records: for each table its throughput, its efficiency, its
/// distributions of step times and its exposed communication.  More sections
/// can be added.  The records must outlive it.
Page page_of(std::span<const records::RunRecord> records);

/// What the page is made of beside its text: the style, and the scripts in
/// the order in which they run.
struct PageAssets {
  std::string_view style;
  std::vector<std::string_view> scripts;
  std::vector<std::string_view> licences;  // of what others wrote
};

/// The assets that were built into the program.
PageAssets page_assets();

/// One HTML file that needs nothing else: no network, no other file.  Records
/// may come from strangers; none of their text becomes markup or script.
std::string render_page(const Page& page,
                        const PageAssets& assets = page_assets());

}  // namespace paceline::report
