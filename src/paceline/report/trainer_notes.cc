// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/report/trainers.h"
#include "paceline/stats/quantile.h"

namespace paceline::report {
namespace {

using records::RankSamples;
using records::RunRecord;

/// What all trainers looked up.
records::Lookups all_lookups(const RunRecord& record) {
  records::Lookups all;
  for (const RankSamples& rank : record.ranks) {
    if (!rank.lookups) {
      continue;
    }
    all.rows += rank.lookups->rows;
    all.id_bytes += rank.lookups->id_bytes;
    all.row_bytes += rank.lookups->row_bytes;
    all.gradient_bytes += rank.lookups->gradient_bytes;
    const auto& distinct = rank.lookups->distinct;
    all.distinct.resize(std::max(all.distinct.size(), distinct.size()));
    for (std::size_t server = 0; server < distinct.size(); ++server) {
      all.distinct[server] += distinct[server];
    }
  }
  return all;
}

/// Bytes of a step by what they cross in.  Rows are messages.
std::string pattern_text(const records::WireBytes& wire) {
  std::string text;
  for (const auto& [pattern, bytes] : wire.by_pattern) {
    text += fmt::format("{}{} {}{}", text.empty() ? "; by pattern: " : ", ", pattern, bytes,
                        pattern == "message" ? " (those of rows too)" : "");
  }
  return text;
}

Note phases_note(const RunRecord& record) {
  std::map<std::string, std::vector<double>> phases;
  for (const RankSamples& rank : record.ranks) {
    for (const auto& [phase, times] : rank.phase_ns) {
      for (const std::int64_t time : times) {
        phases[phase].push_back(static_cast<double>(time) * 1e-6);
      }
    }
  }
  std::string text;
  for (const auto& [phase, times] : phases) {
    if (!times.empty()) {
      text += fmt::format("{}{} {:.3f}", text.empty() ? "" : ", ", phase, stats::median(times));
    }
  }
  return {"phases", "median ms of a trainer's step: " + text +
                        "; forward and backward are the dense part, with ddp backward includes its "
                        "reduction; wait is what the training thread stood for; the others go on "
                        "beside, and lookup includes waiting behind other operations"};
}

std::vector<Note> lookup_notes(const RunRecord& record) {
  const records::Lookups all = all_lookups(record);
  if (all.rows == 0) {
    return {};
  }
  const auto distinct = std::accumulate(all.distinct.begin(), all.distinct.end(), std::int64_t{0});
  const auto fullest = std::ranges::max(all.distinct);
  double steps = 0;  // of all trainers; those of a failed run are fewer
  for (const RankSamples& rank : record.ranks) {
    steps += static_cast<double>(rank.step_ns.size());
  }
  const auto by = [&](std::int64_t bytes) { return static_cast<double>(bytes) / steps; };
  return {
      {"bytes",
       fmt::format("of a trainer's step: ids {:.0f}, rows {:.0f}, gradients of rows {:.0f}{}",
                   by(all.id_bytes), by(all.row_bytes), by(all.gradient_bytes),
                   pattern_text(record.wire))},
      {"lookups",
       fmt::format("{:.1f} rows a step, {:.1f} of them distinct{}: deduplication leaves {:.1f} %",
                   by(all.rows), by(distinct), record.configuration.servers > 0 ? " and sent" : "",
                   100.0 * static_cast<double>(distinct) / static_cast<double>(all.rows))},
      {"servers",
       fmt::format("the fullest of {} was asked for {:.2f} times the mean", all.distinct.size(),
                   static_cast<double>(fullest) * static_cast<double>(all.distinct.size()) /
                       static_cast<double>(std::max(distinct, std::int64_t{1})))}};
}

/// How old the rows were that lookups found; empty where none may be.
std::vector<Note> staleness_notes(const RunRecord& record) {
  std::int64_t lookups = 0, stale = 0;
  std::size_t most = 0;
  for (const RankSamples& rank : record.ranks) {
    const auto& missed = rank.averages_by_steps_missed;
    for (std::size_t steps = 0; steps < missed.size(); ++steps) {
      lookups += missed[steps];
      if (steps > 0 && missed[steps] > 0) {
        stale += missed[steps];
        most = std::max(most, steps);
      }
    }
  }
  if (record.configuration.staleness == 0 || lookups == 0) {
    return {};
  }
  return {
      {"staleness", fmt::format("{:.1f} % of the lookups at servers missed updates, of {} at most; "
                                "results differ from run to run",
                                100.0 * static_cast<double>(stale) / static_cast<double>(lookups),
                                counted(static_cast<std::int64_t>(most), "step"))}};
}

}  // namespace

std::vector<Note> trainer_notes(const RunRecord& run) {
  std::vector<Note> notes = {phases_note(run)};
  for (auto more : {lookup_notes(run), staleness_notes(run)}) {
    std::ranges::move(more, std::back_inserter(notes));
  }
  return notes;
}

}  // namespace paceline::report
