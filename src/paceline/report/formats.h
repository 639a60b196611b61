// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/records/run_record.h"

namespace paceline::report {

/// One output format of run records.
struct Format {
  std::string_view name;
  std::string_view summary;
  std::string (*render)(std::span<const records::RunRecord> records);
  /// Whether rows do not depend on later records: with one run per case, the output for the first
  /// records is then a prefix of the output for all, so that a program can print new rows after
  /// every case.
  bool has_append_only_rows = false;
  bool is_rendered_by_python = false;  // whether a module of the Python package renders the format
};

/// Returns every format, in the order in which `paceline list` prints them.
std::span<const Format> formats();

/// Returns the names of all formats.
std::vector<std::string> format_names();

/// Returns the format called `name`.  For any other name, throws UsageError with the known names.
const Format& find_format(std::string_view name);

}  // namespace paceline::report
