// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/records/environment.h"
#include "paceline/records/json.h"
#include "paceline/report/diff_steps.h"
#include "paceline/report/operations.h"
#include "paceline/report/summary.h"

namespace paceline::report {
namespace {

using records::HostEnvironment;
using records::RunRecord;

using Facts = std::map<std::string, std::string>;

// Returns the versions and builds of the software, and the recorded environment variables.
Facts software_facts(const records::Environment& environment) {
  Facts facts = environment.variables;
  const records::Json json = records::to_json(environment);
  for (const auto& [name, value] : json.items()) {
    if (!value.is_structured()) {
      facts[name] = value.is_null() ? "-" : value.get<std::string>();
    }
  }
  return facts;
}

// Returns the hosts in the order of their first appearance.
std::vector<HostEnvironment> hosts_of(std::span<const RunRecord> records) {
  std::vector<HostEnvironment> hosts;
  std::set<std::string> seen;
  for (const RunRecord& r : records) {
    for (const HostEnvironment& host : r.environment.hosts) {
      if (seen.insert(host.host).second) {
        hosts.push_back(host);
      }
    }
  }
  return hosts;
}

std::vector<std::string> names_of(const std::vector<HostEnvironment>& hosts) {
  std::vector<std::string> names;
  for (const HostEnvironment& host : hosts) {
    names.push_back(host.host);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Describes each fact in which the first hosts of the two sides differ.
std::vector<std::string> machine_differences(const std::vector<HostEnvironment>& base,
                                             const std::vector<HostEnvironment>& test) {
  std::vector<std::string> found;
  if (base.empty() || test.empty()) {
    return found;
  }
  if (names_of(base) != names_of(test)) {
    found.push_back(fmt::format("hosts: {} in the base; {} in the test",
                                fmt::join(names_of(base), ", "), fmt::join(names_of(test), ", ")));
  }
  std::vector<HostEnvironment> two{base.front(), test.front()};
  two[0].host = "the base";
  two[1].host = "the test";
  while (const auto difference = records::differences(two)) {
    found.push_back(*difference);
    const std::string key = difference->substr(0, difference->find(':'));
    if (two[0].facts.erase(key) + two[1].facts.erase(key) == 0) {
      break;  // the difference is of the topology, which is compared last
    }
  }
  return found;
}

records::Warning order_warning(RunOrder order) {
  return {
      "not-interleaved",
      order == RunOrder::kUnknown ? "the records do not say when each run was taken"
                                  : "the runs of base and test were not taken in turns",
      "whatever else changed on the machine in between is in the difference, and no test can tell",
      "take turns: paceline ab --runs 6 -- COMMAND_A -- COMMAND_B"};
}

// Adds those warnings of the records that concern the whole comparison, without duplicates.
void add_warnings_of_runs(const std::vector<records::Warning>& of_records,
                          std::vector<records::Warning>& warnings) {
  for (const records::Warning& warning : of_records) {
    const bool is_new = std::ranges::none_of(warnings, [&](const records::Warning& one) {
      return one.code == warning.code && (one.code == "busy-machine" || one == warning);
    });
    if (is_new && (warning.code == "shortened-protocol" || warning.code == "busy-machine")) {
      warnings.push_back(warning);
    }
  }
}

/// Returns the warnings that make one side of a row invalid or doubtful.
std::vector<records::Warning> warnings_of_side(const CaseRecords& side) {
  std::vector<records::Warning> all;
  const auto late = std::ranges::find_if(
      side.runs, [](const RunRecord* run) { return run->link_check && !run->link_check->valid(); });
  if (late != side.runs.end()) {
    all.push_back(slower_than_link(*(*late)->link_check));
  }
  for (const RunRecord* run : side.runs) {
    for (const records::Warning& one : run->warnings) {
      if (one.code == records::kLacksExchange || one.code == records::kNotWholePeriods ||
          one.code == kInvalidOperation) {
        add_once(all, one);
      }
    }
  }
  return all;
}

std::size_t failed_runs(const CaseRecords& one) { return one.runs.size() - one.measured().size(); }

}  // namespace

std::vector<Difference> software_differences(std::span<const RunRecord> base,
                                             std::span<const RunRecord> test) {
  std::array<std::vector<Facts>, 2> sides;
  std::set<std::string> names;
  for (const auto& [side, records] : {std::pair{0U, base}, {1U, test}}) {
    for (const RunRecord& record : records) {
      const Facts& facts = sides.at(side).emplace_back(software_facts(record.environment));
      std::ranges::copy(std::views::keys(facts), std::inserter(names, names.end()));
    }
  }
  std::vector<Difference> differences;
  for (const std::string& name : names) {
    std::array<std::set<std::string>, 2> values;
    for (const std::size_t side : {0, 1}) {
      for (const Facts& facts : sides.at(side)) {
        values.at(side).insert(records::fact_of(facts, name, "-"));
      }
    }
    if (values[0] != values[1]) {
      differences.push_back({name, fmt::format("{}", fmt::join(values[0], ", ")),
                             fmt::format("{}", fmt::join(values[1], ", "))});
    }
  }
  return differences;
}

std::vector<records::Warning> comparison_warnings(const Diff& diff, std::span<const RunRecord> base,
                                                  std::span<const RunRecord> test) {
  std::vector<records::Warning> warnings;
  for (const std::string& difference : machine_differences(hosts_of(base), hosts_of(test))) {
    warnings.push_back({"machines-differ", difference, "the machine is in the difference too",
                        "measure both sides on one machine"});
  }
  if (diff.order != RunOrder::kInterleaved && !diff.rows.empty()) {
    warnings.push_back(order_warning(diff.order));
  }
  for (const std::span<const RunRecord> side : {base, test}) {
    for (const RunRecord& record : side) {
      add_warnings_of_runs(record.warnings, warnings);
    }
  }
  for (const DiffRow& row : diff.rows) {
    for (const CaseRecords* side : {&row.cases.base, &row.cases.test}) {
      for (records::Warning& warning : warnings_of_side(*side)) {
        warning.seen = fmt::format("{}, {}: {}", row.name,
                                   side == &row.cases.base ? "base" : "test", warning.seen);
        warnings.push_back(std::move(warning));
      }
    }
    if (row.not_comparable) {
      warnings.push_back({"not-comparable", fmt::format("{}: {}", row.name, *row.not_comparable),
                          "the programs do not train the same", "do not compare their figures"});
    }
    const std::size_t before = failed_runs(row.cases.base);
    const std::size_t after = failed_runs(row.cases.test);
    if (before + after > 0) {
      warnings.push_back(
          {"failed-runs",
           fmt::format("{}: {} of {} runs failed in the base, {} of {} in the test", row.name,
                       before, row.cases.base.runs.size(), after, row.cases.test.runs.size()),
           "they left no samples, so the comparison does not see them",
           "their errors are in the records"});
    }
  }
  return warnings;
}

}  // namespace paceline::report
