// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/records/run_record.h"

namespace paceline::report {

/// One way to show records.
struct Format {
  std::string_view name;
  std::string_view summary;
  std::string (*render)(std::span<const records::RunRecord> records);
  /// Rows do not depend on later records: with one run per case, what is shown of the first records
  /// is the beginning of what is shown of all, so that a program can print the rest after every
  /// case.
  bool grows_by_rows = false;
  bool in_python = false;  // a module of the Python package makes it
};

/// Every format, in the order `paceline list` prints them.
std::span<const Format> formats();

template <class AnyFormat>
std::vector<std::string> names_of(std::span<const AnyFormat> formats) {
  std::vector<std::string> names;
  for (const AnyFormat& format : formats) {
    names.emplace_back(format.name);
  }
  return names;
}

/// The format of this name.  Throws UsageError with the known names for any other.
template <class AnyFormat>
const AnyFormat& find_format(std::span<const AnyFormat> formats, std::string_view name) {
  const auto found = std::ranges::find(formats, name, &AnyFormat::name);
  if (found == formats.end()) {
    throw UsageError("--format: " + unknown_name("format", name, names_of(formats)));
  }
  return *found;
}
inline const Format& find_format(std::string_view name) { return find_format(formats(), name); }

/// The tables for a terminal: one per model and batch size with what its cases share as title;
/// below them what the columns mean, and every warning.
std::string render_table(std::span<const records::RunRecord> records);

/// The tables of render_table() with every interval and the crossovers over link rates, as GitHub's
/// Markdown.
std::string render_markdown(std::span<const records::RunRecord> records);

/// What BlueFog's examples/pytorch_benchmark.py prints of each run, to the character: one line per
/// ten steps with rank 0's rate, one per rank, and the rate of all ranks.  The error is the
/// original's, 1.96 standard deviations of the rates of ten steps: a spread, not a standard error.
///
/// Steps beyond the last full ten are left out.  Runs that failed, and those
/// of fewer than ten steps, have no lines.
std::string render_bluefog(std::span<const records::RunRecord> records);

/// The report of DLPerf's anatomy in GitHub's Markdown, which python/paceline/reports/dlperf.py
/// makes:
/// environment, frameworks with version and features, options, and for each model and number type a
/// table of throughput, one of speed-up and efficiency, a chart of each, and the findings.
std::string render_dlperf(std::span<const records::RunRecord> records);

}  // namespace paceline::report
