// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/case_differences.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/case/field.h"
#include "paceline/case/same.h"
#include "paceline/records/json.h"

namespace paceline::report {
namespace {

using records::Source;

// Keys of the configuration that define the work of a case. Cases that differ in one of them are
// not compared.
constexpr std::array<std::string_view, 8> kWorkKeys{"model",   "batch_size",      "image_size",
                                                    "classes", "sequence_length", "as_original",
                                                    "ranks",   "accumulate"};
// The configuration keys that an imported record of PyTorch's DDP benchmark states.
constexpr std::array<std::string_view, 6> kImported{"model",    "batch_size", "ranks",
                                                    "strategy", "bucket_mb",  "engine"};

template <class Names>
bool has_name(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Returns the text of a name.  Returns "-" if it is missing, as optional keys such as `link` are at
// their defaults.
std::string field_text(const cases::FieldTexts& texts, const std::string& name) {
  const auto found = std::ranges::find(texts, name, &cases::FieldTexts::value_type::first);
  return found == texts.end() || found->second.empty() ? "-" : found->second;
}

// Adds the differences in one field.
void add_differences(const cases::Field& field, const cases::Case& base, const cases::Case& test,
                     std::vector<Difference>& differences) {
  const cases::FieldTexts before = cases::texts_of(field, base);
  const cases::FieldTexts after = cases::texts_of(field, test);
  for (const cases::FieldTexts* texts : {&before, &after}) {
    for (const auto& [name, text] : *texts) {
      if (field_text(before, name) != field_text(after, name)) {
        add_once(differences, Difference{name, field_text(before, name), field_text(after, name)});
      }
    }
  }
}

// Whether two strategies are equal apart from their options, since an imported case states no
// options.
bool same_imported_strategy(const std::string& a, const std::string& b) {
  return matches_strategy(a, b) || matches_strategy(b, a);
}

bool is_imported(const CaseRecords& one) { return one.first().source == Source::kImported; }

// Whether two cases have equal keys. If one of them is imported, the number of steps is not
// compared, because imported logs may state iterations instead.
bool has_equal_fields(const CaseRecords& base, const CaseRecords& test) {
  const auto equal_except = [&](cases::Fields but) {
    return cases::equal_except(base.configuration(), test.configuration(), but);
  };
  return is_imported(base) || is_imported(test) ? equal_except({&cases::Case::steps})
                                                : equal_except({});
}

// Whether two cases with this difference do different work (kWorkKeys).
bool changes_work(const Difference& difference) { return has_name(kWorkKeys, difference.name); }

}  // namespace

std::string text_of(const Difference& difference) {
  return fmt::format("{}: {} -> {}", difference.name, difference.base, difference.test);
}

std::vector<Difference> differences_of(const CaseRecords& base, const CaseRecords& test) {
  const bool imported = is_imported(base) || is_imported(test);
  const cases::Case& before = base.configuration();
  const cases::Case& after = test.configuration();
  std::vector<Difference> differences;
  for (const cases::Field& field : cases::fields()) {
    const bool same_strategy = imported && field.name == "strategy" &&
                               same_imported_strategy(before.strategy, after.strategy);
    if (field.in_key && cases::is_stated(field, before) && cases::is_stated(field, after) &&
        !same_strategy && (!imported || has_name(kImported, field.name))) {
      add_differences(field, before, after, differences);
    }
  }
  if (base.first().source != test.first().source) {
    differences.push_back({"source", std::string(records::name_of(base.first().source)),
                           std::string(records::name_of(test.first().source))});
  }
  return differences;
}

std::optional<std::size_t> distance_of(const CaseRecords& base, const CaseRecords& test) {
  if (base.first().source == test.first().source &&
      cases::equal_except(base.configuration(), test.configuration(), {})) {
    return 0;
  }
  const std::vector<Difference> differences = differences_of(base, test);
  if (std::ranges::any_of(differences, changes_work)) {
    return std::nullopt;
  }
  return has_equal_fields(base, test) ? 1 : 2 + differences.size();
}

std::string differing_keys_text(const std::vector<CaseRecords>& base,
                                const std::vector<CaseRecords>& test) {
  std::vector<std::string> keys;
  for (const CaseRecords& one : base) {
    for (const CaseRecords& other : test) {
      for (const Difference& difference : differences_of(one, other)) {
        add_once(keys, difference.name);
      }
    }
  }
  return keys.empty() ? ""
                      : fmt::format(
                            "; they differ in {}: --base KEY=VALUE and --test KEY=VALUE "
                            "choose among cases of the same work",
                            fmt::join(keys, ", "));
}

}  // namespace paceline::report
