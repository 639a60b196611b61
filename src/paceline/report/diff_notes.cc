// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/diff_notes.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/diff_conclusion.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

std::string text_of(const Diff& diff, const Difference& difference) {
  const bool command = diff.wall_times && difference.name == "strategy";
  return text_of(command
                     ? Difference{"command", difference.base, difference.test}
                     : difference);
}

// Each difference once, with the cases that have it where not all do.
void add_configuration(const Diff& diff, std::vector<Note>& notes) {
  std::vector<Difference> seen;
  for (const DiffRow& row : diff.rows) {
    for (const Difference& difference : row.cases.differences) {
      if (!add_once(seen, difference)) {
        continue;
      }
      std::vector<std::string> labels;
      for (const DiffRow& other : diff.rows) {
        const auto& theirs = other.cases.differences;
        if (std::find(theirs.begin(), theirs.end(), difference) !=
            theirs.end()) {
          labels.push_back(other.name);
        }
      }
      std::string sentence = text_of(diff, difference);
      if (labels.size() < diff.rows.size()) {
        sentence += fmt::format(" (in {})", fmt::join(labels, ", "));
      }
      notes.push_back({"differs", sentence});
    }
  }
  for (const Difference& difference : diff.software) {
    notes.push_back({"differs", text_of(diff, difference)});
  }
}

void add_unpaired(const std::vector<Case>& cases,
                  const std::vector<Case>& others,
                  bool is_base,
                  std::vector<Note>& notes) {
  for (const Case& one : cases) {
    const std::string nearest = nearest_text(one, others, is_base);
    notes.push_back({"no partner",
                     fmt::format("only in the {}: {}{}{}",
                                 is_base ? "base" : "test",
                                 describe(one),
                                 nearest.empty() ? "" : "; ",
                                 nearest)});
  }
}

bool any_change_over_runs(const Diff& diff) {
  return std::any_of(
      diff.rows.begin(), diff.rows.end(), [](const DiffRow& row) {
        return row.change && row.change->basis == stats::Basis::kRuns;
      });
}

bool compares_means(const Diff& diff) {
  return diff.options.step_time == StepTime::kMean;
}

std::string_view case_noun(const Diff& diff) {
  return diff.operations ? "range" : "case";
}

std::string interval_sentence(const Diff& diff) {
  if (diff.options.until) {
    return fmt::format(
        "95 % interval over runs; of the change, a confidence sequence of the "
        "pairs' mean{}, which holds after every pair at once",
        diff.rows.size() > 1
            ? fmt::format(" ({:.1f} % each)",
                          100 * (1 - diff.options.significance /
                                         static_cast<double>(diff.rows.size())))
            : "");
  }
  const IntervalKinds kinds = interval_kinds(diff);
  std::string sentence = "95 % interval";
  if (kinds.over_runs()) {
    sentence += " over runs";
    if (diff.order == RunOrder::kInterleaved && any_change_over_runs(diff)) {
      sentence += "; of the change, over pairs of runs";
    }
  }
  if (kinds.within_run()) {
    sentence += kinds.mixed()
                    ? "; where a * follows, of fewer than 3 runs, from"
                    : " from";
    sentence +=
        " the steps inside the runs: it speaks of these runs only, and "
        "another run may lie outside";
  }
  return sentence;
}

std::string p_sentence(const Diff& diff) {
  if (diff.options.until) {
    return fmt::format(
        "chance that the evidence ever grows so strong were there no change, "
        "at whatever pair one stops: 1 / e-value of the pairs' t statistic{}",
        diff.rows.size() > 1
            ? fmt::format("; times {} (Bonferroni)",
                          counted(std::ssize(diff.rows), case_noun(diff)))
            : "");
  }
  const bool interleaved = diff.order == RunOrder::kInterleaved;
  return fmt::format(
      "chance of so large a difference were there none: {} of {}{}, {}{}",
      diff.exact ? "exact permutation" : "permutation",
      diff.wall_times        ? "the runs' wall times"
      : diff.operations      ? "the runs' times"
      : compares_means(diff) ? "run means"
                             : "run medians",
      interleaved ? " within pairs of runs" : "",
      diff.exact ? fmt::format("all {:.0f} arrangements", diff.arrangements)
                 : fmt::format("{} of {:.3g} arrangements drawn, since there "
                               "are too many to look at all",
                               diff.options.draws,
                               diff.arrangements),
      diff.rows.size() > 1
          ? fmt::format("; corrected over {} (max-T)",
                        counted(std::ssize(diff.rows), case_noun(diff)))
          : "");
}

void add_columns(const Diff& diff, std::vector<Note>& notes) {
  const std::string_view meaning =
      diff.wall_times ? "of the whole command, from its start to its end; "
                        "median over runs"
      : diff.operations
          ? "of the slowest rank, median of the iterations; geometric mean "
            "over the sizes of the range; median over runs"
      : compares_means(diff)
          ? "wall time of all measured steps of a run over their number, "
            "slowest rank; median over runs"
          : "of the slowest rank in each step; median over runs of each run's "
            "median";
  notes.push_back({std::string(time_name(diff)), std::string(meaning)});
  notes.push_back(
      {"change",
       diff.options.until ? "test / base in the same run, geometric mean over "
                            "runs; positive is slower"
       : diff.order == RunOrder::kInterleaved
           ? "test / base in the same run, centered over runs; positive is "
             "slower"
           : "test's median / base's; positive is slower"});
  if (const IntervalKinds kinds = interval_kinds(diff);
      kinds.over_runs() || kinds.within_run()) {
    notes.push_back({"[low, high]", interval_sentence(diff)});
  }
  notes.push_back({"p", p_sentence(diff)});
}

}  // namespace

std::vector<Note> notes_of(const Diff& diff) {
  std::vector<Note> notes;
  add_configuration(diff, notes);
  add_unpaired(diff.only_base, diff.only_test, true, notes);
  add_unpaired(diff.only_test, diff.only_base, false, notes);
  if (!diff.rows.empty()) {
    add_columns(diff, notes);
  }
  for (const std::string& jump : diff.jumps) {
    notes.push_back({"jump", jump});
  }
  for (const records::Warning& w : diff.warnings) {
    notes.push_back(
        {"warning",
         fmt::format("{}: {}: {}; {}", w.code, w.seen, w.why, w.advice)});
  }
  if (auto note = power_note(diff)) {
    notes.push_back(*std::move(note));
  }
  notes.push_back(verdict_note(diff));
  for (Note& note : notes) {
    note.text = printable(note.text);
  }
  return notes;
}

std::string describe(const Case& one) {
  const records::Configuration& c = one.configuration();
  std::string environment;
  for (const auto& [name, value] : c.env) {
    environment += fmt::format(", {}={}", name, value);
  }
  return fmt::format(
      "{} (model {}, batch {}, {}{}{}{})",
      c.label.empty() ? c.strategy : c.label,
      c.states("model") ? c.model : "-",
      c.states("batch_size") ? fmt::to_string(c.batch_size) : "-",
      c.states("ranks") ? counted(c.ranks, "rank") : "- ranks",
      c.label.empty() || c.strategy.empty() ? "" : ", " + c.strategy,
      environment,
      c.python.empty() ? "" : ", " + c.python);
}

std::string describe(const std::vector<Case>& cases) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < cases.size() && i < kMost; ++i) {
    words.push_back(describe(cases[i]));
  }
  std::string text = printable(fmt::format("{}", fmt::join(words, ", ")));
  if (cases.size() > kMost) {
    text += fmt::format(" and {} more", cases.size() - kMost);
  }
  return text.empty() ? "no case" : text;
}

std::vector<DiffGroup> group_rows(const Diff& diff) {
  std::vector<DiffGroup> groups;
  if (diff.operations) {  // one table, whatever their names
    groups.emplace_back();
    for (const DiffRow& row : diff.rows) {
      groups.back().rows.push_back(&row);
    }
    return groups;
  }
  for (const DiffRow& row : diff.rows) {
    add_to_table(groups, row.configuration(), &row);
  }
  return groups;
}

std::string_view time_name(const Diff& diff) {
  if (diff.wall_times) {
    return "wall time";
  }
  if (diff.operations) {
    return "time";
  }
  return compares_means(diff) ? "mean step" : "step time";
}

IntervalKinds interval_kinds(const Diff& diff) {
  IntervalKinds kinds;
  for (const DiffRow& row : diff.rows) {
    for (const auto& estimate : {row.base_s, row.test_s, row.change}) {
      kinds.add(estimate);
    }
  }
  return kinds;
}

ValueFormat time_format(const DiffGroup& group, std::string_view mark) {
  std::optional<double> shortest;
  for (const DiffRow* row : group.rows) {
    for (const auto& estimate : {row->base_s, row->test_s}) {
      if (estimate) {
        shortest =
            std::min(shortest.value_or(estimate->value), estimate->value);
      }
    }
  }
  ValueFormat format = time_format(shortest);
  format.within_run_mark = mark;
  return format;
}

std::string change_text(const DiffRow& row, std::string_view mark) {
  if (!row.change) {
    return std::string(kMissing);
  }
  const std::string value = fmt::format("{:+.1f}", 100 * row.change->value);
  const bool within = row.change->basis == stats::Basis::kWithinRun;
  return row.change->interval ? fmt::format("{} [{:+.1f}, {:+.1f}]{}",
                                            value,
                                            100 * row.change->interval->low,
                                            100 * row.change->interval->high,
                                            within ? mark : "")
                              : value;
}

std::string p_text(const std::optional<double>& p) {
  if (!p) {
    return std::string(kMissing);
  }
  return *p < 0.001 ? "< 0.001" : fmt::format("{:.3f}", *p);
}

}  // namespace paceline::report
