// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/same_run.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace paceline::records {
namespace {

bool has_samples(const RunRecord& record) {
  return std::ranges::any_of(record.ranks,
                             [](const RankSamples& rank) { return !rank.step_ns.empty(); });
}

bool ran_in_paceline(const RunRecord& record) {
  return record.source != Source::kImported && record.source != Source::kPredicted;
}

/// What identifies a run besides its samples: source, case, run number and start of the record.
using RunIdentity = std::tuple<Source, std::string, int, std::string>;

RunIdentity run_identity_of(const RunRecord& record) {
  return {record.source, record.configuration.key(), record.run, record.started_at};
}

bool has_equal_ranks(const RunRecord& a, const RunRecord& b) {
  return std::ranges::equal(a.ranks, b.ranks, [](const RankSamples& x, const RankSamples& y) {
    return x.rank == y.rank && x.step_ns == y.step_ns;
  });
}

/// Returns, for each record, false if an earlier record has the same source, case, run number,
/// start and step times.
std::vector<bool> find_first_copies(std::span<const RunRecord> records) {
  std::map<RunIdentity, std::vector<std::size_t>> seen;
  std::vector<bool> first(records.size(), true);
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!has_samples(records[i])) {
      continue;
    }
    std::vector<std::size_t>& alike = seen[run_identity_of(records[i])];
    first[i] = std::ranges::none_of(
        alike, [&](std::size_t other) { return has_equal_ranks(records[other], records[i]); });
    if (first[i]) {
      alike.push_back(i);
    }
  }
  return first;
}

}  // namespace

std::vector<std::size_t> distinct_runs(std::span<const RunRecord> records,
                                       std::span<const std::size_t> file_of) {
  const std::vector<bool> counts = find_first_copies(records);
  using Name = std::tuple<std::size_t, Source, std::string, std::string, int, std::string>;
  std::map<Name, std::size_t> last_of;
  std::set<std::size_t> distinct;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const RunRecord& record = records[i];
    if (!counts[i]) {
      continue;
    }
    if (ran_in_paceline(record)) {
      const auto [last, is_new] = last_of.try_emplace(
          {file_of.empty() ? 0 : file_of[i], record.source, record.experiment,
           record.configuration.key(), record.run, fact_of(record.adapter, kRunOfCommand)},
          i);
      if (!is_new) {
        if (record.error && !records[last->second].error) {
          continue;
        }
        distinct.erase(last->second);
        last->second = i;
      }
    }
    distinct.insert(i);
  }
  return {distinct.begin(), distinct.end()};
}

}  // namespace paceline::records
