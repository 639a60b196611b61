// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/diff_notes.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/diff_steps.h"
#include "paceline/report/pairing.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

std::string text_of(const Diff& diff, const Difference& difference) {
  const bool command = diff.wall_times && difference.name == "strategy";
  return text_of(command ? Difference{"command", difference.base, difference.test} : difference);
}

// Adds a note for each difference between configurations. If only some cases have the difference,
// the note names them.
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
        if (std::find(theirs.begin(), theirs.end(), difference) != theirs.end()) {
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

// Describes a case: "1M/2G (model resnet50, batch 32, 2 ranks, ddp)".
std::string describe(const CaseRecords& one) {
  const cases::Case& c = one.configuration();
  std::string environment;
  for (const auto& [name, value] : c.env) {
    environment += fmt::format(", {}={}", name, value);
  }
  return fmt::format("{} (model {}, batch {}, {}{}{}{})", c.label.empty() ? c.strategy : c.label,
                     c.states("model") ? c.model : "-",
                     c.states("batch_size") ? fmt::to_string(c.batch_size) : "-",
                     c.states("ranks") ? counted(c.ranks, "rank") : "- ranks",
                     c.label.empty() || c.strategy.empty() ? "" : ", " + c.strategy, environment,
                     c.python.empty() ? "" : ", " + c.python);
}

// Names all cases without a partner in one sentence; empty if there are none.
std::string unpaired_sentence(const Diff& diff) {
  std::vector<std::string> sides;
  for (const auto& [side, cases] :
       {std::pair{"base", &diff.only_base}, {"test", &diff.only_test}}) {
    std::vector<std::string> names;
    std::ranges::transform(*cases, std::back_inserter(names),
                           [](const CaseRecords& one) { return describe(one); });
    if (!names.empty()) {
      sides.push_back(fmt::format("only in the {}: {}", side, fmt::join(names, ", ")));
    }
  }
  return fmt::format("{}{}", fmt::join(sides, "; "),
                     differing_keys_text(diff.only_base, diff.only_test));
}

std::string threshold_clause(const Diff& diff) {
  return diff.options.threshold > 0 ? fmt::format(" beyond {:g} %", 100 * diff.options.threshold)
                                    : "";
}

// Returns a sentence with an upper bound on the change of the cases whose change is not proven;
// empty if no bound is known.
std::string unchanged_sentence(const Diff& diff) {
  const std::vector<std::string> within = names_with(diff, Verdict::kUnchanged);
  const double bound = 100 * diff.unchanged_within();
  if (within.empty()) {
    return bound > 0
               ? fmt::format("not changed by more than {:.1f} % (the widest interval's end)", bound)
               : "";
  }
  return within.size() == diff.rows.size()
             ? fmt::format("not changed by more than {:g} %; no proven regression{}", bound,
                           threshold_clause(diff))
             : fmt::format("not changed by more than {:g} %: {}", bound, fmt::join(within, ", "));
}

std::string verdict_sentence(const Diff& diff) {
  if (diff.rows.empty()) {
    return "not decided: nothing was compared: no case of one side is in the other";
  }
  std::vector<std::string> clauses;
  for (const Verdict verdict : {Verdict::kSlower, Verdict::kFaster}) {
    if (const auto names = names_with(diff, verdict); !names.empty()) {
      clauses.push_back(fmt::format("{}{}, proven: {}", name_of(verdict), threshold_clause(diff),
                                    fmt::join(names, ", ")));
    }
  }
  if (const std::string unchanged = unchanged_sentence(diff); !unchanged.empty()) {
    clauses.push_back(unchanged);
  }
  if (!diff.missing.empty()) {
    clauses.push_back(fmt::format("not decided: {}", fmt::join(diff.missing, "; ")));
  }
  return fmt::format("{}", fmt::join(clauses, "; "));
}

// Returns a note on how many runs are needed to prove which change. Returns nothing with
// DiffOptions::until, which adds runs until a decision.
std::optional<Note> power_note(const Diff& diff) {
  if (diff.options.until || !diff.runs_for_power) {
    return std::nullopt;
  }
  return Note{"power", fmt::format("as much as these runs scatter, about {} a side find a change "
                                   "of {:g} % nine times in ten{}",
                                   counted(std::int64_t(*diff.runs_for_power), "run"),
                                   100 * diff.power_change, threshold_clause(diff))};
}

}  // namespace

std::vector<Note> notes_of(const Diff& diff) {
  std::vector<Note> notes;
  add_configuration(diff, notes);
  if (const std::string unpaired = unpaired_sentence(diff); !unpaired.empty()) {
    notes.push_back({"no partner", unpaired});
  }
  if (!diff.rows.empty()) {
    std::ranges::move(diff_columns(diff, {}).notes(), std::back_inserter(notes));
  }
  for (const records::Warning& w : diff.warnings) {
    notes.push_back({"warning", fmt::format("{}: {}: {}; {}", w.code, w.seen, w.why, w.advice)});
  }
  if (auto note = power_note(diff)) {
    notes.push_back(*std::move(note));
  }
  notes.push_back({"verdict", verdict_sentence(diff)});
  for (Note& note : notes) {
    note.text = printable(note.text);
  }
  return notes;
}

}  // namespace paceline::report
