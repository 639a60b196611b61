// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/ddp_tables.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/report/case_differences.h"
#include "paceline/report/ddp.h"

namespace paceline::report {
namespace {

using records::RunRecord;

// The size of the buckets of a case's strategy; of one without buckets the size
// that was asked for.
double bucket_mb_of(const records::Configuration& c) {
  return number_from<double>(option_of(c.strategy, "bucket-mb"))
      .value_or(c.bucket_mb);
}

DdpTable& table_of(std::vector<DdpTable>& tables, const Case& one) {
  const records::Configuration& c = one.configuration();
  const DdpCall call{c.engine, bucket_mb_of(c)};
  const auto found = std::ranges::find_if(tables, [&](const DdpTable& table) {
    return table.call == call && table.group.model == c.model &&
           table.group.batch_size == c.batch_size;
  });
  return found != tables.end()
             ? *found
             : tables.emplace_back(DdpTable{call, {c.model, c.batch_size, {}}});
}

// Of the tables of the same work that have a case without DDP, the first of the
// same engine, else the first.
DdpTable* lender_of(std::vector<DdpTable>& tables, const DdpTable& to) {
  DdpTable* lender = nullptr;
  for (DdpTable& table : tables) {
    if (table.group.model == to.group.model &&
        table.group.batch_size == to.group.batch_size &&
        std::ranges::any_of(table.group.rows, stands_first)) {
      const bool same_engine = table.call.engine == to.call.engine;
      if (lender == nullptr ||
          (same_engine && lender->call.engine != to.call.engine)) {
        lender = &table;
      }
    }
  }
  return lender;
}

// The case without DDP is run once for all buckets: it stands in every table,
// and has none of its own beside them.
void share_cases_without_ddp(std::vector<DdpTable>& tables) {
  std::vector<const DdpTable*> emptied;
  std::vector<std::vector<Case>> borrowed(tables.size());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (std::ranges::any_of(tables[i].group.rows, stands_first)) {
      continue;
    }
    if (DdpTable* lender = lender_of(tables, tables[i])) {
      std::ranges::copy_if(
          lender->group.rows, std::back_inserter(borrowed[i]), stands_first);
      if (borrowed[i].size() == lender->group.rows.size()) {
        emptied.push_back(lender);
      }
    }
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    std::vector<Case>& rows = tables[i].group.rows;
    rows.insert(rows.begin(), borrowed[i].begin(), borrowed[i].end());
  }
  for (const DdpTable* table : emptied) {
    tables[static_cast<std::size_t>(table - tables.data())].group.rows.clear();
  }
  std::erase_if(tables,
                [](const DdpTable& table) { return table.group.rows.empty(); });
}

// In which keys a case differs from an earlier one of its name.
std::string suffix_of(const Case& one, std::span<const Case> earlier) {
  const auto name = [](const Case& it) {
    return std::pair(it.configuration().ranks,
                     padded_label(it.configuration()));
  };
  const auto namesake = std::ranges::find(earlier, name(one), name);
  if (namesake == earlier.end()) {
    return "";
  }
  const std::vector<std::string> strategies =
      short_strategies({&namesake->configuration(), &one.configuration()});
  std::string suffix;
  for (const Difference& difference : differences_of(*namesake, one)) {
    suffix += fmt::format(
        " {}={}",
        difference.name,
        difference.name == "strategy" ? strategies.back() : difference.test);
  }
  return suffix.empty() ? " experiment=" + one.first().experiment : suffix;
}

}  // namespace

bool stands_first(const Case& one) {
  return one.first().source == records::Source::kImported
             ? one.configuration().strategy == "none"
             : is_without_ddp(one.configuration());
}

// The original pads "no ddp" with two blanks and "1M/1G" with three, whatever
// the digits; names that it does not have are set flush with them.
std::string padded_label(const records::Configuration& configuration) {
  const std::string& label = configuration.label.empty()
                                 ? configuration.strategy
                                 : configuration.label;
  const bool machines = label.find("M/") != std::string::npos;
  return machines ? "   " + label : fmt::format("{:>8}", label);
}

std::vector<DdpTable> ddp_tables(std::span<const RunRecord> records) {
  std::vector<DdpTable> tables;
  for (const Case& one : group_cases(records)) {
    table_of(tables, one).group.rows.push_back(one);
  }
  share_cases_without_ddp(tables);
  for (DdpTable& table : tables) {
    const std::span<const Case> rows(table.group.rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      table.suffixes.push_back(suffix_of(rows[i], rows.first(i)));
    }
  }
  return tables;
}

const RunRecord& header_record(const std::vector<DdpTable>& tables,
                               const DdpCall& call) {
  const RunRecord* first = nullptr;
  for (const DdpTable& table : tables) {
    for (const Case& one : table.group.rows) {
      for (const RunRecord* run : one.runs) {
        if (table.call == call &&
            (first == nullptr || (first->error && !run->error))) {
          first = run;
        }
      }
    }
  }
  PACELINE_CHECK(first != nullptr);
  return *first;
}

}  // namespace paceline::report
