// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "paceline/report/cases.h"

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

/// A case of the base and the case of the test that it is compared with.
struct CasePair {
  CaseRecords base;
  CaseRecords test;
  std::vector<Difference> differences;  // differences between the two configurations
};

struct Pairing {
  std::vector<CasePair> pairs;  // in the order of the base's cases
  std::vector<CaseRecords> only_base;
  std::vector<CaseRecords> only_test;
};

/// Pairs the cases of two sets of records, regardless of their order.
///
/// A case is all runs of equal `cases::Case::key()` and source.  First, cases of equal key and
/// source are paired, then those whose keys are equal as far as a Paceline log states them.  Of the
/// remaining cases, two are paired if they do the same work (model, batch and image size, classes,
/// ranks, micro-batches) and no other candidate of either differs in as few further keys: a changed
/// bucket size, strategy or precision is then a difference of the pair.  Cases that could be paired
/// in two ways are not paired.
///
/// Imported records state few keys; with one of them, only the keys that both sides state are
/// compared.
Pairing pair_cases(std::span<const records::RunRecord> base,
                   std::span<const records::RunRecord> test);

/// Returns a clause, for the end of a sentence, that names the keys in which the unpaired cases of
/// the two sides differ; empty if there are none.
std::string differing_keys_text(const std::vector<CaseRecords>& base,
                                const std::vector<CaseRecords>& test);

/// Returns the records whose configuration has `value` at `key`, both written as in experiments.
/// A strategy may also be written as a table of these records shows it.  If no strategy matches so,
/// `value` may name its parts with some of their options ("ddp", "fusion+ps").  Throws UsageError
/// for an unknown key, with the known ones, and if no record matches.
std::vector<records::RunRecord> select_records(std::span<const records::RunRecord> records,
                                               std::string_view key, std::string_view value);

}  // namespace paceline::report
