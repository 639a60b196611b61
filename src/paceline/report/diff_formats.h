// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "paceline/report/command_output.h"
#include "paceline/report/diff.h"
#include "paceline/report/fields.h"
#include "paceline/report/table.h"

namespace paceline::report {

/// One output format of a comparison.
struct DiffFormat {
  std::string_view name;
  std::string_view summary;
};

/// Returns every format of `paceline diff`, in the order in which its help prints them.
std::span<const DiffFormat> diff_formats();

/// Renders the comparison in one of diff_formats().
std::string render_diff(std::string_view format, const Diff& diff);

/// Returns one table per model and batch size; below them the differences, the cases without a
/// partner, how certain the comparison is, and every warning.
CommandOutput diff_output(const Diff& diff);

/// Returns exactly what diff.py of PyTorch's DDP benchmark prints for the ddp_reports() of both
/// sides.  Reports of several bucket sizes or backends are paired by position.
std::string render_diff_ddp(const Diff& diff);

/// Returns {"version": 1, ...}: every value of every case, the differences, the cases without a
/// partner and the warnings.
Json diff_json(const Diff& diff);

/// Returns one row per case; a missing value is an empty cell.
Table diff_csv(const Diff& diff);

}  // namespace paceline::report
