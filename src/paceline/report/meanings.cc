// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/sheet.h"

namespace paceline::report {
namespace {

bool any(const std::vector<Row>& rows, bool (*holds)(const Row& row)) {
  return std::any_of(rows.begin(), rows.end(), holds);
}

// "10 steps of 1 run", or all of them where cases differ.
std::string sample_words(const std::vector<Row>& rows) {
  std::set<std::string> words;
  for (const Row& row : rows) {
    words.insert(fmt::format("{} of {}",
                             counted(std::int64_t(row.step_s->steps), "step"),
                             counted(std::int64_t(row.step_s->runs), "run")));
  }
  return fmt::format("{}", fmt::join(words, " or "));
}

std::string efficiency_words(const std::vector<Row>& rows) {
  std::set<std::string> baselines;
  for (const Row& row : rows) {
    if (row.baseline && row.efficiency) {
      baselines.insert(*row.baseline);
    }
  }
  return baselines.empty()
             ? ""
             : printable(fmt::format(
                   "median rate per rank, as a share of that of '{}'; 100 is "
                   "linear scaling",
                   fmt::join(baselines, "' or '")));
}

bool is_predicted(const Row& row) {
  return row.source == records::Source::kPredicted;
}

// Simulated steps are equal but for noise that was asked for.
std::string interval_text(const std::vector<Row>& rows, Detail detail) {
  constexpr std::string_view kSimulated =
      "95 % interval from simulated steps, which differ where noise is asked "
      "for (--noise, --stragglers); how far the prediction is off it does not "
      "say";
  std::vector<Row> measured;
  std::ranges::remove_copy_if(rows, std::back_inserter(measured), is_predicted);
  std::string words = interval_words(bases_of(measured, detail));
  if (measured.size() == rows.size()) {
    return words;
  }
  if (interval_words(bases_of(rows, detail)).empty()) {
    return "";
  }
  return words.empty()
             ? std::string(kSimulated)
             : fmt::format("{}; of predicted cases: {}", words, kSimulated);
}

std::string error_bar_words(const std::vector<Row>& rows) {
  const auto some = [&rows](bool (*holds)(const records::ErrorBar& bar)) {
    return std::ranges::any_of(rows, [holds](const Row& row) {
      return row.predicted && row.predicted->error_bar &&
             row.predicted->error_bar->known() &&
             holds(*row.predicted->error_bar);
    });
  };
  if (!some([](const records::ErrorBar&) { return true; })) {
    return "";
  }
  return std::string(
             "how far the predicted step may be off; the note says "
             "whose error it is") +
         (some([](const records::ErrorBar& bar) { return !bar.examined; })
              ? "; with ? no published table tells of such a case, and the "
                "error of the least certain kind stands there"
              : "");
}

std::string wire_words(const std::vector<Row>& rows) {
  const bool planned = any(rows, [](const Row& row) {
    return !row.wire_bytes_per_step && row.planned_wire_bytes_per_step;
  });
  return std::string("bytes that a rank gives the engine in a step") +
         (planned ? "; ~ by the plan, not counted" : "");
}

}  // namespace

Bases bases_of(const std::vector<Row>& rows, Detail detail) {
  Bases bases;
  for (const Row& row : rows) {
    bases.add(row.efficiency);
    bases.add(row.exposed_s);
    if (detail == Detail::kFull) {
      bases.add(row.examples_per_s);
      if (row.step_s) {
        bases.add(row.step_s->median);
      }
    }
  }
  return bases;
}

std::vector<Meaning> meanings_of(const std::vector<Row>& rows, Detail detail) {
  std::vector<Meaning> meanings;
  if (rows.empty()) {
    return meanings;
  }
  const auto add = [&meanings](std::string term, std::string text) {
    if (!text.empty()) {
      meanings.push_back({std::move(term), std::move(text)});
    }
  };
  const bool simulated = std::ranges::all_of(rows, is_predicted);
  add("step time",
      fmt::format("of the slowest rank in each{} step; percentiles over {}",
                  simulated ? " simulated" : "",
                  sample_words(rows)));
  if (detail == Detail::kFull) {
    add("median", "over runs, of the median step of each run");
  }
  add("error bar", error_bar_words(rows));
  if (any(rows, [](const Row& row) { return row.predicted.has_value(); })) {
    add("bound",
        "what no execution of the plan can beat on the described links, with "
        "the algorithm of collectives that was priced and without noise");
  }
  add("examples/s",
      simulated ? "examples / simulated time of all steps"
                : "examples / wall time of all measured steps");
  add("efficiency", efficiency_words(rows));
  if (any(rows, [](const Row& row) { return row.exposed_s.has_value(); })) {
    add("exposed",
        "median step minus that of the same step without communication, all "
        "ranks computing at once");
  }
  add("[low, high]", interval_text(rows, detail));
  add("wire", wire_words(rows));
  if (detail == Detail::kFull &&
      any(rows, [](const Row& r) { return r.peak_memory_bytes.has_value(); })) {
    add("peak memory",
        "the most host memory that a rank's process held, of ranks and runs");
  }
  return meanings;
}

}  // namespace paceline::report
