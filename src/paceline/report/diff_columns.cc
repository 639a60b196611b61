// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/report/diff_notes.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

bool any_change_over_runs(const Diff& diff) {
  return std::any_of(diff.rows.begin(), diff.rows.end(), [](const DiffRow& row) {
    return row.change && row.change->basis == stats::IntervalBasis::kRuns;
  });
}

std::string_view case_noun(const Diff& diff) { return diff.operations ? "range" : "case"; }

std::string_view change_meaning(const Diff& diff) {
  return diff.options.until
             ? "test / base in the same run, geometric mean over runs; positive is slower"
         : diff.order == RunOrder::kInterleaved
             ? "test / base in the same run, centered over runs; positive is slower"
             : "test's median / base's; positive is slower";
}

std::string interval_sentence(const Diff& diff, const IntervalKinds& kinds) {
  if (!kinds.over_runs() && !kinds.within_run()) {
    return "";
  }
  if (diff.options.until) {
    return fmt::format(
        "95 % interval over runs; of the change, a confidence sequence of the pairs' mean{}, which "
        "holds after every pair at once",
        diff.rows.size() > 1
            ? fmt::format(" ({:.1f} % each)", 100 * (1 - diff.options.significance /
                                                             static_cast<double>(diff.rows.size())))
            : "");
  }
  std::string sentence = "95 % interval";
  if (kinds.over_runs()) {
    sentence += " over runs";
    if (diff.order == RunOrder::kInterleaved && any_change_over_runs(diff)) {
      sentence += "; of the change, over pairs of runs";
    }
  }
  if (kinds.within_run()) {
    sentence +=
        kinds.has_both_kinds() ? "; where a * follows, of fewer than 3 runs, from" : " from";
    sentence +=
        " the steps inside the runs: it speaks of these runs only, and "
        "another run may lie outside";
  }
  return sentence;
}

std::string p_sentence(const Diff& diff) {
  if (diff.options.until) {
    return fmt::format(
        "chance that the evidence ever grows so strong were there no change, at whatever pair one "
        "stops: 1 / e-value of the pairs' t statistic{}",
        diff.rows.size() > 1 ? fmt::format("; times {} (Bonferroni)",
                                           counted(std::ssize(diff.rows), case_noun(diff)))
                             : "");
  }
  const bool interleaved = diff.order == RunOrder::kInterleaved;
  return fmt::format(
      "chance of so large a difference were there none: {} of {}{}, {}{}",
      diff.exact ? "exact permutation" : "permutation", compared_time(diff).run_values,
      interleaved ? " within pairs of runs" : "",
      diff.exact
          ? fmt::format("all {:.0f} arrangements", diff.arrangements)
          : fmt::format("{} of {:.3g} arrangements drawn, since there are too many to look at all",
                        diff.options.draws, diff.arrangements),
      diff.rows.size() > 1 ? fmt::format("; corrected over {} (max-T)",
                                         counted(std::ssize(diff.rows), case_noun(diff)))
                           : "");
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

/// Returns the format that shows four digits of the shortest time of a group.
ValueFormat group_format(const DiffGroup& group) {
  std::optional<double> shortest;
  for (const DiffRow* row : group.rows) {
    for (const auto& estimate : {row->base_s, row->test_s}) {
      if (estimate) {
        shortest = std::min(shortest.value_or(estimate->value), estimate->value);
      }
    }
  }
  return time_format(shortest);
}

/// Returns p as text: "0.031", "< 0.001", or "-" if there is none.
std::string p_text(const std::optional<double>& p) {
  if (!p) {
    return std::string(kMissingValueText);
  }
  return *p < 0.001 ? "< 0.001" : fmt::format("{:.3f}", *p);
}

EstimateKeys side_keys(const std::string& side) {
  EstimateKeys keys = EstimateKeys::of(side + "_step_median", "_s");
  keys.basis = side + "_interval_of";
  return keys;
}

}  // namespace

const ComparedTime& compared_time(const Diff& diff) {
  static constexpr ComparedTime kCommands{
      "wall time", "of the whole command, from its start to its end; median over runs",
      "wall time of commands", "the runs' wall times", "whole commands"};
  static constexpr ComparedTime kOperations{
      "time",
      "of the slowest rank, median of the iterations; geometric mean over the sizes of the range; "
      "median over runs",
      "time of operations", "the runs' times", "operations by range of sizes"};
  static constexpr ComparedTime kMeans{
      "mean step",
      "wall time of all measured steps of a run over their number, slowest rank; median over runs",
      "mean step time", "run means"};
  static constexpr ComparedTime kMedians{
      "step time", "of the slowest rank in each step; median over runs of each run's median",
      "step time", "run medians"};
  return diff.wall_times                             ? kCommands
         : diff.operations                           ? kOperations
         : diff.options.step_time == StepTime::kMean ? kMeans
                                                     : kMedians;
}

DiffColumns diff_columns(const Diff& diff, const DiffGroup& group) {
  constexpr auto kBase = &DiffRow::configuration;
  const IntervalKinds kinds = interval_kinds(diff);
  const ComparedTime& compared = compared_time(diff);
  const std::string name(compared.heading);
  ValueFormat time = group_format(group);
  time.within_run_mark = kinds.mark();
  ValueFormat change = percent_format();
  change.within_run_mark = kinds.mark();
  change.with_sign = true;
  DiffColumns all;
  all.add({.name = "case", .align = Align::kLeft})
      .cell([whole = diff.wall_times](const DiffRow* row) {
        return printable(whole ? row->label
                               : without_ranks(row->label, row->configuration().ranks));
      })
      .data("case", &DiffRow::label);
  all.data("model", kBase, stated_member("model", &cases::Case::model));
  all.data("batch_size_per_rank", kBase, stated_member("batch_size", &cases::Case::batch_size));
  // Cases that are whole commands have no number of ranks.
  all.add({.name = "ranks"})
      .shown(!diff.wall_times)
      .data("ranks", kBase, stated_member("ranks", &cases::Case::ranks));
  all.data("base_strategy", kBase, stated_member("strategy", &cases::Case::strategy));
  all.data("test_strategy",
           [](const DiffRow* row) { return row->cases.test.configuration().strategy; });
  all.data("base_runs", &DiffRow::base_runs);
  all.data("test_runs", &DiffRow::test_runs);
  all.add({"base", name, std::string(time.unit)})
      .estimate(time, side_keys("base"), &DiffRow::base_s)
      .note(name, std::string(compared.meaning));
  all.add({"test", name, std::string(time.unit)})
      .estimate(time, side_keys("test"), &DiffRow::test_s);
  all.add({"", "change", "%"})
      .estimate(change, EstimateKeys::of("change", ""), &DiffRow::change)
      .note("change", std::string(change_meaning(diff)))
      .note("[low, high]", interval_sentence(diff, kinds));
  all.data("p", &DiffRow::p);
  all.add({"p", diff.rows.size() > 1 ? "corrected" : ""})
      .cell([](const DiffRow* row) { return p_text(row->corrected_p); })
      .data("corrected_p", &DiffRow::corrected_p)
      .note("p", p_sentence(diff));
  all.data("pairs_to_go", &DiffRow::pairs_to_go);
  all.add({.name = "verdict"}).data("verdict", [](const DiffRow* row) {
    return name_of(row->verdict);
  });
  all.data("not_comparable", &DiffRow::not_comparable);
  return all;
}

}  // namespace paceline::report
