// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/pairing.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/case/field.h"
#include "paceline/case/same.h"
#include "paceline/records/json.h"

namespace paceline::report {
namespace {

using records::RunRecord;
using records::Source;

template <class Names>
bool has_name(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Keys of the configuration that define the work of a case. Cases that differ in one of them are
// not compared.
constexpr std::array<std::string_view, 8> kWorkKeys{"model",   "batch_size",      "image_size",
                                                    "classes", "sequence_length", "as_original",
                                                    "ranks",   "accumulate"};
// The configuration keys that an imported record of PyTorch's DDP benchmark states.
constexpr std::array<std::string_view, 6> kImported{"model",    "batch_size", "ranks",
                                                    "strategy", "bucket_mb",  "engine"};

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

// Returns the keys in which two cases differ, and "source" if their sources differ.
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

// Returns how far apart two cases are: 0 if key and source are equal; 1 if all keys are equal (with
// an imported case, all but the number of steps); else 2 plus the number of differences.  Returns
// nothing if the cases do different work.
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

// Returns the text of a configuration key as select_records() compares it.  A missing `framework`,
// which the JSON form omits, is "paceline".
std::optional<std::string> value_of(const cases::Case& c, std::string_view key) {
  if (key == "framework" && c.framework.empty()) {
    return "paceline";
  }
  for (const auto& [name, text] : cases::texts_of(c)) {
    if (name == key) {
      return text;
    }
  }
  return std::nullopt;
}

// Returns the strategies of the records, shortened as tables show them.
std::vector<std::string> short_strategies_of(std::span<const RunRecord> records) {
  std::vector<const cases::Case*> configurations;
  for (const RunRecord& record : records) {
    configurations.push_back(&record.configuration);
  }
  return short_strategies(configurations);
}

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

// Returns, for each base case, the index of the test case with which it is paired, or kNever.  The
// nearest cases are paired first.  Two cases are paired only if neither has another candidate at
// this or a smaller distance.
std::vector<std::size_t> partners_of(const std::vector<CaseRecords>& base,
                                     const std::vector<CaseRecords>& test) {
  // Distances[index of base case][index of test case].
  std::vector<std::vector<std::size_t>> distances;
  std::set<std::size_t> levels;
  for (const CaseRecords& one : base) {
    std::vector<std::size_t>& row = distances.emplace_back();
    for (const CaseRecords& other : test) {
      row.push_back(distance_of(one, other).value_or(kNever));
    }
    levels.insert(row.begin(), row.end());
  }
  levels.erase(kNever);
  std::vector<std::size_t> partners(base.size(), kNever);
  std::vector<bool> taken(test.size());
  const auto bases = std::views::iota(std::size_t{0}, base.size());
  const auto tests = std::views::iota(std::size_t{0}, test.size());
  for (const std::size_t level : levels) {
    const auto is_candidate = [&](std::size_t b, std::size_t t) {
      return partners[b] == kNever && !taken[t] && distances[b][t] <= level;
    };
    for (bool paired = true; std::exchange(paired, false);) {
      for (const std::size_t b : bases) {
        const auto is_mine = [&](std::size_t t) { return is_candidate(b, t); };
        const auto found = std::ranges::find_if(tests, is_mine);
        if (found == tests.end() || std::ranges::count_if(tests, is_mine) > 1 ||
            std::ranges::count_if(bases,
                                  [&](std::size_t one) { return is_candidate(one, *found); }) > 1) {
          continue;
        }
        partners[b] = *found;
        taken[*found] = true;
        paired = true;
      }
    }
  }
  return partners;
}

}  // namespace

std::string text_of(const Difference& difference) {
  return fmt::format("{}: {} -> {}", difference.name, difference.base, difference.test);
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

Pairing pair_cases(std::span<const RunRecord> base, std::span<const RunRecord> test) {
  std::vector<CaseRecords> before = group_across_experiments(base);
  std::vector<CaseRecords> after = group_across_experiments(test);
  const std::vector<std::size_t> partners = partners_of(before, after);
  Pairing pairing;
  std::set<std::size_t> taken;
  for (std::size_t b = 0; b < before.size(); ++b) {
    if (partners[b] == kNever) {
      pairing.only_base.push_back(before[b]);
      continue;
    }
    const CaseRecords& other = after[partners[b]];
    taken.insert(partners[b]);
    pairing.pairs.push_back({before[b], other, differences_of(before[b], other)});
  }
  for (std::size_t t = 0; t < after.size(); ++t) {
    if (!taken.contains(t)) {
      pairing.only_test.push_back(after[t]);
    }
  }
  return pairing;
}

std::vector<RunRecord> select_records(std::span<const RunRecord> records, std::string_view key,
                                      std::string_view value) {
  cases::FieldTexts all = cases::texts_of(cases::Case{});
  for (const RunRecord& record : records) {
    std::ranges::move(cases::texts_of(record.configuration), std::back_inserter(all));
  }
  std::vector<std::string> known;
  for (const auto& [name, text] : all) {
    add_once(known, name);
  }
  if (!has_name(known, key)) {
    throw UsageError(unknown_name_message("key", key, known));
  }
  const bool strategy = key == "strategy";
  const std::vector<std::string> shown =
      strategy ? short_strategies_of(records) : std::vector<std::string>(records.size());
  const std::string wanted = strategy ? with_implied_parts(value) : "";
  std::set<std::string> values;
  std::vector<RunRecord> exact, named;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto found = value_of(records[i].configuration, key);
    if (!found) {
      continue;
    }
    values.insert(strategy ? shown[i] : *found);
    if (*found == value || (strategy && shown[i] == value)) {
      exact.push_back(records[i]);
    } else if (strategy && matches_strategy(wanted, *found)) {
      named.push_back(records[i]);
    }
  }
  std::vector<RunRecord> selected = exact.empty() ? std::move(named) : std::move(exact);
  if (selected.empty()) {
    throw UsageError(fmt::format(
        "no record has {} '{}'; there are {}", key, value,
        values.empty() ? "no records" : fmt::format("'{}'", fmt::join(values, "', '"))));
  }
  return selected;
}

}  // namespace paceline::report
