// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paceline/report/cases.h"

// In which keys cases differ.

namespace paceline::report {

/// A key that has another value in the test than in the base.
struct Difference {
  std::string name;
  std::string base;
  std::string test;

  bool operator==(const Difference&) const = default;
};

/// "bucket_mib: 25.0 -> 1.0".
std::string text_of(const Difference& difference);

using ConfigurationFields = std::vector<std::pair<std::string, std::string>>;

/// What shapes a case's result, by the keys of its JSON form.
ConfigurationFields fields_of(const records::Configuration& c);

/// The names of both, each once.
std::vector<std::string> names_of(const ConfigurationFields& some,
                                  const ConfigurationFields& others);

/// In what two cases differ, the source among it.  Records that were imported know few keys;
/// against them only those that both sides know are compared.
std::vector<Difference> differences_of(const Case& base, const Case& test);

/// How far two cases are from being the same: 0 where key and source are equal, 1 where all keys
/// are that a log of ours says too, then 2 and one for each difference.  Nothing where they do
/// other work.
std::optional<std::size_t> distance_of(const Case& base, const Case& test);

/// The keys in which cases without a partner differ from those of the other side, as a clause that
/// ends a sentence; empty where a side has none.
std::string differing_keys_text(const std::vector<Case>& base, const std::vector<Case>& test);

}  // namespace paceline::report
