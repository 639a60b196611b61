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

/// One way to show a comparison.
struct DiffFormat {
  std::string_view name;
  std::string_view summary;
  std::string (*render)(const Diff& diff);
};

/// Every format of `paceline diff`, in the order its help prints them.
std::span<const DiffFormat> diff_formats();

/// For a terminal: one table per model and batch size; below it what differs, which cases have no
/// partner, how certain the comparison is, every warning.
std::string render_diff_table(const Diff& diff);

/// The tables and notes of render_diff_table() in GitHub's Markdown.
std::string render_diff_markdown(const Diff& diff);

/// The tables and notes, as every way to show them for people has them.
Document diff_document(const Diff& diff);

/// A page for a browser, which loads nothing: its scripts draw a chart of the changes with their
/// intervals, the tables and notes of diff_json().
std::string render_diff_page(const Diff& diff, const PageAssets& assets);
std::string render_diff_page(const Diff& diff);

/// What diff.py of PyTorch's DDP benchmark prints of ddp_reports() of both sides, to the
/// character.  Reports of several bucket sizes or backends are paired by position.
std::string render_diff_ddp(const Diff& diff);

/// {"version": 1, ...}: every value of every case, what differs, which cases have no partner,
/// warnings; then the tables and notes of its `document`, diff_document().
Json diff_json(const Diff& diff, const Document& document);
std::string render_diff_json(const Diff& diff);

/// One line a case, quoted as in RFC 4180; a missing value is an empty field. Cases without a
/// partner have lines too.
std::string render_diff_csv(const Diff& diff);

}  // namespace paceline::report
