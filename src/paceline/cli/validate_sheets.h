// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paceline/report/sheet.h"
#include "paceline/validate/examination.h"

// The tables of the page that `paceline validate` writes.

namespace paceline::cli {

inline constexpr const char* kApart = "set apart";

/// A table's cells by family; those that are set apart are one of their own.
using Families = std::map<std::string, std::vector<const validate::Judged*>>;

/// How far off each family is, all of them, and those on several hosts.
report::Sheet sheet_of(const Families& families);

/// A line a table: its errors beside all that cells have decided.
report::Sheet overview_sheet(const std::vector<validate::TableResult>& tables);

}  // namespace paceline::cli
