// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/pairing.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/case/same.h"

namespace paceline::report {
namespace {

using records::RunRecord;

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
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
  if (!contains(known, key)) {
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
