// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/summary_notes.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/cases.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

bool any(const std::vector<CaseSummary>& cases, bool (*holds)(const CaseSummary& one)) {
  return std::any_of(cases.begin(), cases.end(), holds);
}

/// Explains "[low, high]" in tables of results; empty if there are no intervals.
std::string interval_text(const IntervalKinds& kinds) {
  if (kinds.has_both_kinds()) {
    return "95 % interval over repeated runs; where a * follows, from the steps inside the runs "
           "only: another run may lie outside (give --runs 3 or more)";
  }
  if (kinds.within_run()) {
    return "95 % interval from the steps inside the runs; another run may lie outside (give --runs "
           "3 or more)";
  }
  return kinds.over_runs() ? "95 % interval over repeated runs" : "";
}

bool has_serving_ranks(const CaseSummary& one) {
  return one.training_ranks > 0 && one.training_ranks < one.configuration.ranks;
}

}  // namespace

std::string step_note(const std::vector<CaseSummary>& cases, bool simulated) {
  std::set<std::string> samples;
  for (const CaseSummary& one : cases) {
    if (one.step_s) {
      samples.insert(
          fmt::format("{} of {}", steps_text(one), counted(std::int64_t(one.step_s->runs), "run")));
    }
  }
  return fmt::format("of the slowest rank in each{} step; percentiles over {}",
                     simulated ? " simulated" : "", fmt::join(samples, " or "));
}

std::string efficiency_note(const std::vector<CaseSummary>& cases) {
  std::set<std::string> baselines;
  for (const CaseSummary& one : cases) {
    if (one.baseline && one.efficiency) {
      baselines.insert(*one.baseline);
    }
  }
  return baselines.empty()
             ? ""
             : printable(fmt::format(
                   "examples/s per rank, as a share of those of '{}'; 100 is linear scaling",
                   fmt::join(baselines, "' or '")));
}

bool is_predicted(const CaseSummary& one) { return one.source == records::Source::kPredicted; }

std::string interval_note(const std::vector<CaseSummary>& cases, const CaseColumns& columns) {
  constexpr std::string_view kSimulated =
      "95 % interval from simulated steps, which differ where noise is asked for (--noise) or "
      "plans differ from step to step; how far the prediction is off it does not say";
  const auto note_of = [&](std::span<const CaseSummary> some) {
    return interval_text(columns.interval_kinds(some));
  };
  std::vector<CaseSummary> measured;
  std::ranges::remove_copy_if(cases, std::back_inserter(measured), is_predicted);
  std::string words = note_of(measured);
  if (measured.size() == cases.size()) {
    return words;
  }
  if (note_of(cases).empty()) {
    return "";
  }
  return words.empty() ? std::string(kSimulated)
                       : fmt::format("{}; of predicted cases: {}", words, kSimulated);
}

std::string period_note(const std::vector<CaseSummary>& cases) {
  const auto sends_in_few_steps = [](const CaseSummary& one) {
    const auto spec = known_strategy(one.configuration);
    return spec && std::ranges::any_of(spec->update.options.values(), [](const auto& option) {
             return option.first == "every" && option.second != "1";
           });
  };
  return any(cases, sends_in_few_steps)
             ? "rules with every=H send more in one step of H than in the others: percentiles and "
               "exposed communication are those of most steps, examples/s and wire count all"
             : "";
}

std::string error_bar_note(const std::vector<CaseSummary>& cases) {
  const auto some = [&cases](bool (*holds)(const records::ErrorBar& bar)) {
    return std::ranges::any_of(cases, [holds](const CaseSummary& one) {
      return one.predicted && one.predicted->error_bar && one.predicted->error_bar->known() &&
             holds(*one.predicted->error_bar);
    });
  };
  if (!some([](const records::ErrorBar&) { return true; })) {
    return "";
  }
  return std::string(
             "how far the predicted step may be off; the note says "
             "whose error it is") +
         (some([](const records::ErrorBar& bar) { return !bar.validated; })
              ? "; with ? no published table tells of such a case, and the error of the least "
                "certain kind stands there"
              : "");
}

std::string ranks_note(const std::vector<CaseSummary>& cases) {
  std::vector<std::string> words;
  for (const CaseSummary& one : cases) {
    if (has_serving_ranks(one)) {
      add_once(words, fmt::format("{} of {} train", one.training_ranks, one.configuration.ranks));
    }
  }
  return words.empty() ? ""
                       : fmt::format(
                             "{}; the others are servers and what "
                             "coordinates them",
                             fmt::join(words, ", "));
}

std::string wire_note(const std::vector<CaseSummary>& cases) {
  const bool planned = any(cases, [](const CaseSummary& one) {
    return !one.wire_bytes_per_step && one.planned_wire_bytes_per_step;
  });
  if (!planned && !any_has(cases, &CaseSummary::wire_bytes_per_step)) {
    return "";
  }
  const bool serving = any(cases, has_serving_ranks);
  return std::string("bytes that a rank gives the engine in a step") +
         (serving ? "; of workers and servers, the most that one of them gives" : "") +
         (planned ? "; ~ by the plan, not counted" : "");
}

std::string rate_note(const std::vector<CaseSummary>& cases, bool simulated) {
  const bool several = std::ranges::any_of(
      cases, [](const CaseSummary& one) { return one.step_s && one.step_s->runs > 1; });
  return fmt::format("{}{}",
                     simulated ? "examples / simulated time of all steps"
                               : "examples / wall time of all measured steps",
                     several ? " of a run; the median of the runs" : "");
}

std::string exposed_note(const std::vector<CaseSummary>& cases, bool simulated) {
  if (!any_has(cases, &CaseSummary::exposed_s)) {
    return "";
  }
  return simulated ? "the step minus the same step without communication"
                   : "a step minus the same step without communication, measured in turn, all "
                     "ranks computing at once";
}

std::string memory_note(const std::vector<CaseSummary>& cases) {
  return any_has(cases, &CaseSummary::peak_memory_bytes)
             ? "the most host memory that a rank's process held, of ranks and runs"
             : "";
}

}  // namespace paceline::report
