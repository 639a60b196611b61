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

template <class AnyFormat>
std::vector<std::string> names_of(std::span<const AnyFormat> formats) {
  std::vector<std::string> names;
  for (const AnyFormat& format : formats) {
    names.emplace_back(format.name);
  }
  return names;
}

/// Returns the format called `name`.  For any other name, throws UsageError with the known names.
template <class AnyFormat>
const AnyFormat& find_format(std::span<const AnyFormat> formats, std::string_view name) {
  const auto found = std::ranges::find(formats, name, &AnyFormat::name);
  if (found == formats.end()) {
    throw UsageError("--format: " + unknown_name_message("format", name, names_of(formats)));
  }
  return *found;
}
inline const Format& find_format(std::string_view name) { return find_format(formats(), name); }

}  // namespace paceline::report
