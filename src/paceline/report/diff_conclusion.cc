// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/diff_conclusion.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/diff_verdict.h"

namespace paceline::report {
namespace {

std::string beyond_text(const Diff& diff) {
  return diff.options.threshold > 0 ? fmt::format(" beyond {:g} %", 100 * diff.options.threshold)
                                    : "";
}

// Of the cases without a proof, of which enough is known; empty: there are none.
std::string unchanged_sentence(const Diff& diff) {
  const std::vector<std::string> within = names_with(diff, Verdict::kUnchanged);
  if (!within.empty() && within.size() == diff.rows.size()) {
    return fmt::format("not changed by more than {:g} %", 100 * diff.options.margin());
  }
  if (!within.empty()) {
    return fmt::format("not changed by more than {:g} %: {}", 100 * diff.options.margin(),
                       fmt::join(within, ", "));
  }
  const double within_percent = 100 * diff.unchanged_within();
  return within_percent > 0 ? fmt::format(
                                  "not changed by more than {:.1f} % (the widest "
                                  "interval's end)",
                                  within_percent)
                            : "";
}

// A comparison that finds nothing says what it would have found, or follows the margin within which
// every case lies; empty where there is neither.
std::string no_regression_sentence(const Diff& diff) {
  const std::string sentence = fmt::format("no proven regression{}", beyond_text(diff));
  if (diff.found_change && !diff.options.until) {
    return fmt::format("{}; a change of {:.{}f} % would have been found nine times in ten",
                       sentence, 100 * *diff.found_change, *diff.found_change < 0.1 ? 1 : 0);
  }
  return names_with(diff, Verdict::kUnchanged).size() == diff.rows.size() ? sentence : "";
}

std::string verdict_sentence(const Diff& diff) {
  if (diff.rows.empty()) {
    return "not decided: nothing was compared: no case of one side is in the other";
  }
  std::vector<std::string> clauses;
  const std::vector<std::string> slower = names_with(diff, Verdict::kSlower);
  const std::vector<std::string> faster = names_with(diff, Verdict::kFaster);
  if (!slower.empty()) {
    clauses.push_back(
        fmt::format("slower{}, proven: {}", beyond_text(diff), fmt::join(slower, ", ")));
  }
  if (!faster.empty()) {
    clauses.push_back(
        fmt::format("faster{}, proven: {}", beyond_text(diff), fmt::join(faster, ", ")));
  }
  const std::string unchanged = unchanged_sentence(diff);
  if (!unchanged.empty()) {
    clauses.push_back(unchanged);
  }
  if (const std::string none = no_regression_sentence(diff); slower.empty() && !none.empty()) {
    clauses.push_back(none);
  }
  if (!diff.missing.empty()) {
    clauses.push_back(fmt::format("not decided: {}", fmt::join(diff.missing, "; ")));
  }
  return fmt::format("{}", fmt::join(clauses, "; "));
}

std::string fixed_plan_sentence(const Diff& diff) {
  std::size_t most = 0;
  for (const DiffRow& row : diff.rows) {
    most = std::max(most, std::min(row.base_runs, row.test_runs));
  }
  std::string sentence = fmt::format("{} a side were used", counted(std::int64_t(most), "run"));
  if (diff.fixed_plan) {
    sentence += fmt::format(
        "; at the change and the scatter seen, a plan fixed beforehand that decides as often as up "
        "to {} do needs {}",
        diff.options.until->most, *diff.fixed_plan);
  }
  return sentence;
}

}  // namespace

std::optional<Note> power_note(const Diff& diff) {
  if (diff.options.until) {
    return Note{"runs", fixed_plan_sentence(diff)};
  }
  if (!diff.runs_for_power) {
    return std::nullopt;
  }
  return Note{"power", fmt::format("as much as these runs scatter, about {} a side find a change "
                                   "of {:g} % nine times in ten{}",
                                   counted(std::int64_t(*diff.runs_for_power), "run"),
                                   100 * diff.power_change, beyond_text(diff))};
}

std::string decision_text(const Diff& diff) {
  const Decision decision = diff.decision();
  return decision == Decision::kUnchanged && diff.unchanged_within() > 0
             ? fmt::format("{} by more than {:.3g} %", name_of(decision),
                           100 * diff.unchanged_within())
             : std::string(name_of(decision));
}

Note verdict_note(const Diff& diff) { return {"verdict", verdict_sentence(diff)}; }

}  // namespace paceline::report
