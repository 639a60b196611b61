// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "paceline/report/diff.h"
#include "paceline/report/fields.h"
#include "paceline/report/page.h"
#include "paceline/report/table.h"

namespace paceline::report {

/// One output format of a comparison.
struct DiffFormat {
  std::string_view name;
  std::string_view summary;
  std::string (*render)(const Diff& diff);
};

/// Returns every format of `paceline diff`, in the order in which its help prints them.
std::span<const DiffFormat> diff_formats();

/// Renders the comparison for a terminal: one table per model and batch size, and below them the
/// differences, the cases without a partner, how certain the comparison is, and every warning.
std::string render_diff_table(const Diff& diff);

/// Renders the tables and notes of render_diff_table() as GitHub's Markdown.
std::string render_diff_markdown(const Diff& diff);

/// Returns the tables and notes that all formats for people show.
Document diff_document(const Diff& diff);

/// Renders an HTML page that loads no other file.  Its scripts draw a chart of the changes with
/// their intervals, and the tables and notes of diff_json().
std::string render_diff_page(const Diff& diff, const PageAssets& assets);
std::string render_diff_page(const Diff& diff);

/// Returns exactly what diff.py of PyTorch's DDP benchmark prints for the ddp_reports() of both
/// sides.  Reports of several bucket sizes or backends are paired by position.
std::string render_diff_ddp(const Diff& diff);

/// Returns {"version": 1, ...}: every value of every case, the differences, the cases without a
/// partner and the warnings, then the tables and notes of `document`, which is diff_document().
Json diff_json(const Diff& diff, const Document& document);
std::string render_diff_json(const Diff& diff);

/// Renders one line per case, quoted as in RFC 4180; a missing value is an empty field.  Cases
/// without a partner have lines too.
std::string render_diff_csv(const Diff& diff);

}  // namespace paceline::report
