// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "paceline/report/case_differences.h"
#include "paceline/report/cases.h"

namespace paceline::report {

/// A case of the base and what it is compared with.
struct CasePair {
  Case base;
  Case test;
  std::vector<Difference> differences;  // of their configurations
};

struct Pairing {
  std::vector<CasePair> pairs;  // in the base's order
  std::vector<Case> only_base;
  std::vector<Case> only_test;
};

/// Pairs the cases of two sets of records, wherever they stand in them.
///
/// A case is all runs of equal `Configuration::key()` and source.  First, cases of equal key and
/// source are paired, then those whose keys are all equal, as far as a log of ours says them.  Of
/// what is left, two cases are paired when they do the same work (model, batch and image size,
/// classes, ranks, micro-batches) and no other candidate of either differs in as few further keys:
/// a changed bucket size, strategy or precision is then a difference of the pair.  What could be
/// paired in two ways is not paired.
///
/// Records that were imported know few keys; against them only those that both sides know are
/// compared.
Pairing pair_cases(std::span<const records::RunRecord> base,
                   std::span<const records::RunRecord> test);

/// The records whose configuration has `value` at `key`, both as in the JSON form.  A strategy is
/// meant as well where a table of the records says it so; where none does, one is by its parts with
/// some of their options ("ddp", "fusion+ps").  Throws UsageError for an
/// unknown key (with the known ones) and where nothing matches.
std::vector<records::RunRecord> select_records(std::span<const records::RunRecord> records,
                                               std::string_view key, std::string_view value);

}  // namespace paceline::report
