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

}  // namespace paceline::report
