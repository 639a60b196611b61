// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/records/run_record.h"

namespace paceline::report {

/// The parts of the page that do not depend on records.
struct PageAssets {
  std::string_view skeleton;  // HTML with {{name}} as placeholder for a text
  std::string_view style;
  std::vector<std::string_view> scripts;   // JavaScript, in the order of execution
  std::vector<std::string_view> licences;  // of the libraries among the scripts
};

/// Returns the assets of report/page/, which are built into the program.
PageAssets page_assets();

/// Renders one HTML file that needs no other file and no network.  Its scripts draw report_json()
/// of the records, which the file contains.  Without scripts the page shows the tables as text.  No
/// text of a record becomes markup or script.  An empty `title` stands for the names of the
/// experiments.
std::string render_page(std::span<const records::RunRecord> records, const std::string& title = "",
                        const PageAssets& assets = page_assets());

/// Escapes `json` for a script element: the result has no "<" and parses to the same value.
std::string script_json(const std::string& json);

}  // namespace paceline::report
