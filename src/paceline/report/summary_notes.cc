// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/cases.h"
#include "paceline/report/codec_notes.h"
#include "paceline/report/summary_table.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

bool any(const std::vector<CaseSummary>& cases,
         bool (*holds)(const CaseSummary& one)) {
  return std::any_of(cases.begin(), cases.end(), holds);
}

// "10 steps of 1 run"; every distinct one where cases differ.
std::string sample_text(const std::vector<CaseSummary>& cases) {
  std::set<std::string> words;
  for (const CaseSummary& one : cases) {
    words.insert(fmt::format("{} of {}",
                             steps_text(one),
                             counted(std::int64_t(one.step_s->runs), "run")));
  }
  return fmt::format("{}", fmt::join(words, " or "));
}

std::string efficiency_text(const std::vector<CaseSummary>& cases) {
  std::set<std::string> baselines;
  for (const CaseSummary& one : cases) {
    if (one.baseline && one.efficiency) {
      baselines.insert(*one.baseline);
    }
  }
  return baselines.empty()
             ? ""
             : printable(fmt::format(
                   "examples/s per rank, as a share of those of '{}'; 100 is "
                   "linear scaling",
                   fmt::join(baselines, "' or '")));
}

bool is_predicted(const CaseSummary& one) {
  return one.source == records::Source::kPredicted;
}

/// What "[low, high]" means in tables of results; empty where no interval is.
std::string interval_note(const IntervalKinds& kinds) {
  if (kinds.mixed()) {
    return "95 % interval over repeated runs; where a * follows, from the "
           "steps inside the runs only: another run may lie outside (give "
           "--runs 3 or more)";
  }
  if (kinds.within_run()) {
    return "95 % interval from the steps inside the runs; another run may lie "
           "outside (give --runs 3 or more)";
  }
  return kinds.over_runs() ? "95 % interval over repeated runs" : "";
}

std::string interval_text(const std::vector<CaseSummary>& cases,
                          Detail detail) {
  constexpr std::string_view kSimulated =
      "95 % interval from simulated steps, which differ where noise is asked "
      "for (--noise, --stragglers) or plans differ from step to step; how far "
      "the prediction is off it does not say";
  std::vector<CaseSummary> measured;
  std::ranges::remove_copy_if(
      cases, std::back_inserter(measured), is_predicted);
  std::string words = interval_note(interval_kinds(measured, detail));
  if (measured.size() == cases.size()) {
    return words;
  }
  if (interval_note(interval_kinds(cases, detail)).empty()) {
    return "";
  }
  return words.empty()
             ? std::string(kSimulated)
             : fmt::format("{}; of predicted cases: {}", words, kSimulated);
}

/// Where steps of a case differ by the rule that they follow.
std::string period_text(const std::vector<CaseSummary>& cases) {
  const auto sends_in_few_steps = [](const CaseSummary& one) {
    const auto spec = known_strategy(one.configuration);
    return spec && std::ranges::any_of(
                       spec->update.options.values(), [](const auto& option) {
                         return option.first == "every" && option.second != "1";
                       });
  };
  return any(cases, sends_in_few_steps)
             ? "rules with every=H send more in one step of H than in the "
               "others: percentiles and exposed communication are those of "
               "most steps, examples/s and wire count all"
             : "";
}

std::string error_bar_text(const std::vector<CaseSummary>& cases) {
  const auto some = [&cases](bool (*holds)(const records::ErrorBar& bar)) {
    return std::ranges::any_of(cases, [holds](const CaseSummary& one) {
      return one.predicted && one.predicted->error_bar &&
             one.predicted->error_bar->known() &&
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
              ? "; with ? no published table tells of such a case, and the "
                "error of the least certain kind stands there"
              : "");
}

bool serves(const CaseSummary& one) {
  return one.training_ranks > 0 && one.training_ranks < one.configuration.ranks;
}

// How many of the ranks train where not all do.
std::string ranks_note(const std::vector<CaseSummary>& cases) {
  std::vector<std::string> words;
  for (const CaseSummary& one : cases) {
    if (serves(one)) {
      add_once(
          words,
          fmt::format(
              "{} of {} train", one.training_ranks, one.configuration.ranks));
    }
  }
  return words.empty() ? ""
                       : fmt::format(
                             "{}; the others are servers and what "
                             "coordinates them",
                             fmt::join(words, ", "));
}

std::string wire_text(const std::vector<CaseSummary>& cases) {
  const bool planned = any(cases, [](const CaseSummary& one) {
    return !one.wire_bytes_per_step && one.planned_wire_bytes_per_step;
  });
  if (!planned && !any_has(cases, &CaseSummary::wire_bytes_per_step)) {
    return "";
  }
  const bool serving = any(cases, serves);
  return std::string("bytes that a rank gives the engine in a step") +
         (serving ? "; of workers and servers, the most that one of them gives"
                  : "") +
         (planned ? "; ~ by the plan, not counted" : "");
}

std::string memory_text(const std::vector<CaseSummary>& cases) {
  return any_has(cases, &CaseSummary::peak_memory_bytes)
             ? "the most host memory that a rank's process held, of ranks and "
               "runs"
             : "";
}

void add_codecs(const std::vector<CaseSummary>& cases,
                std::vector<Note>& notes) {
  const std::vector<std::string> codecs = codec_notes(cases);
  for (const std::string& note : codecs) {
    notes.push_back({"codec", note});
  }
  if (!codecs.empty()) {
    notes.push_back(
        {"break-even",
         "the link rate below which coding takes less time than the bytes that "
         "it saves, one after the other; what the step gains, overlap "
         "included, "
         "the two step times say"});
  }
}

std::string rate_text(const std::vector<CaseSummary>& cases, bool simulated) {
  const bool several = std::ranges::any_of(cases, [](const CaseSummary& one) {
    return one.step_s && one.step_s->runs > 1;
  });
  return fmt::format("{}{}",
                     simulated ? "examples / simulated time of all steps"
                               : "examples / wall time of all measured steps",
                     several ? " of a run; the median of the runs" : "");
}

}  // namespace

IntervalKinds interval_kinds(const std::vector<CaseSummary>& cases,
                             Detail detail) {
  IntervalKinds kinds;
  for (const CaseSummary& one : cases) {
    kinds.add(one.examples_per_s);
    kinds.add(one.efficiency);
    kinds.add(one.exposed_s);
    kinds.add(one.data_wait_s);
    if (detail == Detail::kFull && one.step_s) {
      kinds.add(one.step_s->median);
    }
  }
  return kinds;
}

std::vector<Note> column_notes(const std::vector<CaseSummary>& cases,
                               Detail detail) {
  std::vector<Note> notes;
  if (cases.empty()) {
    return notes;
  }
  const auto add = [&notes](std::string term, std::string text) {
    if (!text.empty()) {
      notes.push_back({std::move(term), std::move(text)});
    }
  };
  const auto add_of = [&](auto member, const char* term, const char* text) {
    if (any_has(cases, member)) {
      notes.push_back({term, text});
    }
  };
  const bool simulated = std::ranges::all_of(cases, is_predicted);
  add("ranks", ranks_note(cases));
  add("step time",
      fmt::format("of the slowest rank in each{} step; percentiles over {}",
                  simulated ? " simulated" : "",
                  sample_text(cases)));
  if (detail == Detail::kFull) {
    add("median", "over runs, of the median step of each run");
  }
  add("error bar", error_bar_text(cases));
  add_of(&CaseSummary::predicted,
         "bound",
         "what the mean step of no execution of the plan can beat on the "
         "described links, with the algorithm of collectives that was priced "
         "and without noise");
  add("examples/s", rate_text(cases, simulated));
  add("efficiency", efficiency_text(cases));
  add_of(&CaseSummary::exposed_s,
         "exposed",
         simulated
             ? "the step minus the same step without communication"
             : "a step minus the same step without communication, measured "
               "in turn, all ranks computing at once");
  add_of(&CaseSummary::data_wait_s,
         "data wait",
         "what a step waited for its batch to be read, part of its time; the "
         "mean over the steps of the rank that waited longest");
  add("[low, high]", interval_text(cases, detail));
  add("every=H", period_text(cases));
  add("wire", wire_text(cases));
  add_of(&CaseSummary::consensus_distance,
         "consensus",
         "how far the ranks' parameters x are from their mean m after the last "
         "step: |x - m| / |m|, root mean square over the ranks; the largest of "
         "the runs");
  add_of(&CaseSummary::lateness,
         "late by",
         "how many of a neighbor's newest steps an average of what had arrived "
         "missed: the mean over all averages, and the most");
  add_codecs(cases, notes);
  if (detail == Detail::kFull) {
    add("peak memory", memory_text(cases));
  }
  return notes;
}

}  // namespace paceline::report
