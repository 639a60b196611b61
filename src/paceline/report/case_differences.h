// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "paceline/report/cases.h"

// Functions that find the configuration keys in which cases differ.

namespace paceline::report {

/// A configuration key whose value differs between the two cases of a comparison, base and test.
struct Difference {
  std::string name;
  std::string base;
  std::string test;

  bool operator==(const Difference&) const = default;
};

/// Returns the difference as text: "bucket_mb: 25 -> 1".
std::string text_of(const Difference& difference);

/// Returns the keys in which two cases differ, and "source" if their sources differ.  Imported
/// records state few keys; with one of them, only the keys that both sides state are compared.
std::vector<Difference> differences_of(const CaseRecords& base, const CaseRecords& test);

/// Returns how far apart two cases are: 0 if key and source are equal; 1 if all keys are equal
/// (with an imported case, all but the number of steps); else 2 plus the number of differences.
/// Returns nothing if the cases do different work.
std::optional<std::size_t> distance_of(const CaseRecords& base, const CaseRecords& test);

/// Returns a clause, for the end of a sentence, that names the keys in which the unpaired cases of
/// the two sides differ; empty if there are none.
std::string differing_keys_text(const std::vector<CaseRecords>& base,
                                const std::vector<CaseRecords>& test);

}  // namespace paceline::report
