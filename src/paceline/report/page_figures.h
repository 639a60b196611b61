// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "paceline/report/cases.h"
#include "paceline/report/page.h"

// What stands behind the figures: every case with its command and its runs,
// and the machines on which they ran.

namespace paceline::report {

/// Machines and programs that are alike in all that does not change from
/// moment to moment.
class Machines {
 public:
  explicit Machines(std::span<const records::RunRecord> records);

  /// The number of the record's machine, from 1.
  std::size_t number_of(const records::RunRecord& record) const;

  /// Every machine with its facts, topology, variables and versions.
  std::string html() const;

 private:
  std::vector<std::string> keys_;
  std::vector<const records::Environment*> first_;  // of each key
};

/// The anchor of case `number`, counted from 1 over all tables.
std::string case_anchor(std::size_t number);

/// Every case of the tables: its command, its configuration and its runs.
std::string cases_html(const std::vector<CaseGroup>& groups,
                       const Page& page,
                       const Machines& machines);

}  // namespace paceline::report
