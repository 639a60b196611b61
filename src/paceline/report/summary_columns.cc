// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/summary_columns.h"

#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "paceline/records/json.h"
#include "paceline/report/cases.h"
#include "paceline/report/summary_notes.h"

namespace paceline::report {
namespace {

constexpr auto kAsked = &CaseSummary::configuration;

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

std::string label_text(const CaseSummary& one) {
  return printable(without_ranks(one.label, one.configuration.ranks));
}

std::string wire_text(const CaseSummary& one) {
  if (one.wire_bytes_per_step) {
    return format_bytes(*one.wire_bytes_per_step);
  }
  return one.planned_wire_bytes_per_step ? "~" + format_bytes(*one.planned_wire_bytes_per_step)
                                         : std::string(kMissingValueText);
}

/// Returns the link rate, in bits per second, below which the codec saves time.  Infinite if coding
/// takes no time; absent without a codec, and if the codec saves no bytes.
std::optional<double> break_even_bits_per_s(const CaseSummary& one) {
  const auto sent =
      one.wire_bytes_per_step ? one.wire_bytes_per_step : one.planned_wire_bytes_per_step;
  if (!one.coding || !sent || one.coding->plain_bytes_per_step <= *sent) {
    return std::nullopt;
  }
  return 8e9 * static_cast<double>(one.coding->plain_bytes_per_step - *sent) /
         static_cast<double>(one.coding->ns_per_step);
}

std::optional<stats::Estimate> median_step(const CaseSummary& one) {
  return one.step_s ? std::optional(one.step_s->median) : std::nullopt;
}

/// Returns the error bar of a prediction in percent of the step, followed by "?" if no published
/// results validate such a case.
std::string error_bar(const CaseSummary& one) {
  if (!one.predicted || !one.predicted->error_bar || !one.predicted->error_bar->known()) {
    return std::string(kMissingValueText);
  }
  const records::ErrorBar& bar = *one.predicted->error_bar;
  const char* const mark = bar.validated ? "" : "?";
  if (bar.share) {
    return fmt::format("±{:.1f} %{}", *bar.share * 100, mark);
  }
  const auto deviation = [&one](std::int64_t ns) {
    return 100 * (seconds(ns) / one.step_s->median.value - 1);
  };
  return fmt::format("{:+.1f}, {:+.1f} %{}", deviation(*bar.low_ns), deviation(*bar.high_ns), mark);
}

/// Builds the columns of a table of cases.
class CaseColumnsBuilder {
 public:
  CaseColumnsBuilder(const std::vector<CaseSummary>& cases, Detail detail,
                     std::string_view within_run_mark)
      : cases_(cases),
        full_(detail == Detail::kFull),
        simulated_(std::ranges::all_of(cases, is_predicted)),
        time_(time_format(cases)),
        rate_(rate_format(cases)),
        share_(percent_format()),
        unit_(time_.unit) {
    for (ValueFormat* format : {&time_, &rate_, &share_}) {
      format->within_run_mark = within_run_mark;
    }
  }

  CaseColumns run() {
    add_identity();
    add_step_times();
    add_prediction();
    add_rates();
    add_waits();
    all_.add_notes(
        {{"[low, high]", interval_note(cases_, all_)}, {"every=H", period_note(cases_)}});
    add_communication();
    add_coding();
    add_training();
    add_samples();
    return std::move(all_);
  }

 private:
  void add_identity() {
    all_.add({.name = "case", .align = Align::kLeft})
        .cell(label_text)
        .data("case", &CaseSummary::label);
    all_.data("source", &CaseSummary::source, records::name_of);
    all_.data("experiment", &CaseSummary::experiment);
    add_setting("model", "model", &cases::Case::model);
    add_setting("batch_size_per_rank", "batch_size", &cases::Case::batch_size);
    all_.add({.name = "ranks"})
        .data("ranks", kAsked, stated_member("ranks", &cases::Case::ranks))
        .note("ranks", ranks_note(cases_));
    add_setting("strategy", "strategy", &cases::Case::strategy);
    add_setting("engine", "engine", &cases::Case::engine);
    add_setting("device", "device", &cases::Case::device);
    add_setting("dtype", "dtype", &cases::Case::dtype);
  }

  template <class Member>
  void add_setting(const char* key, const char* name, Member member) {
    all_.data(key, kAsked, stated_member(name, member));
  }

  void add_samples() {
    all_.add({"per rank", "peak memory"})
        .shown(full_)
        .value(&CaseSummary::peak_memory_bytes, format_bytes)
        .data("peak_memory_bytes", &CaseSummary::peak_memory_bytes)
        .note("peak memory", memory_note(cases_));
    const auto runs = [](const CaseSummary& one) { return one.failed() ? 0 : one.step_s->runs; };
    all_.add({"runs", "samples"}).shown(full_).data("runs", runs);
    all_.data("failed_runs", &CaseSummary::failed_runs);
    all_.add({"steps", "samples"}).shown(full_).data("steps", &CaseSummary::measured_steps);
    all_.data("not_comparable", &CaseSummary::not_comparable);
  }

  void add_step_times() {
    using stats::Percentiles;
    all_.add({"median", "step time", unit_})
        .shown(full_)
        .estimate(time_, EstimateKeys::of("step_median", "_s"), median_step);
    const auto add = [this](const char* name, double Percentiles::*p) -> auto& {
      return all_.add({name, "step time", unit_})
          .number(time_, [p](const CaseSummary& one) { return one.step_s->percentiles.*p; })
          .data(fmt::format("step_{}_s", name), &CaseSummary::step_s,
                &stats::StepSummary::percentiles, p);
    };
    add("p50", &Percentiles::p50)
        .note("step time", step_note(cases_, simulated_))
        .note("median", full_ ? "over runs, of the median step of each run" : "");
    add("p75", &Percentiles::p75).shown(full_);
    add("p90", &Percentiles::p90);
    add("p95", &Percentiles::p95).shown(full_);
  }

  void add_rates() {
    all_.add({"per rank", "examples/s"})
        .shown(full_)
        .number(rate_, &CaseSummary::examples_per_s_per_rank)
        .data("examples_per_s_per_rank", &CaseSummary::examples_per_s_per_rank);
    all_.add({"all ranks", "examples/s"})
        .estimate(rate_, EstimateKeys::of("examples_per_s", ""), &CaseSummary::examples_per_s)
        .note("examples/s", rate_note(cases_, simulated_));
    all_.data("baseline", &CaseSummary::baseline);
    all_.add({"", "efficiency", "%"})
        .estimate(share_, EstimateKeys::of("efficiency", ""), &CaseSummary::efficiency)
        .cell([share = share_](const CaseSummary& one) {
          return one.baseline == one.label ? "baseline" : share.show(one.efficiency);
        })
        .note("efficiency", efficiency_note(cases_));
  }

  void add_waits() {
    all_.add({"", "exposed comm.", unit_})
        .estimate(time_, EstimateKeys::of("exposed_communication", "_s"), &CaseSummary::exposed_s)
        .note("exposed", exposed_note(cases_, simulated_));
    all_.add({"", "data wait", unit_})
        .shown(any_has(cases_, &CaseSummary::data_wait_s))
        .estimate(time_, EstimateKeys::of("data_wait", "_s"), &CaseSummary::data_wait_s)
        .note("data wait",
              "what a step waited for its batch to be read, part of its time; the mean over the "
              "steps of the rank that waited longest");
  }

  void add_communication() {
    all_.add({"per step", "wire"})
        .cell(wire_text)
        .data("wire_bytes_per_rank_per_step", &CaseSummary::wire_bytes_per_step)
        .data("planned_wire_bytes_per_rank_per_step", &CaseSummary::planned_wire_bytes_per_step)
        .note("wire", wire_note(cases_));
    all_.add({"distance", "consensus"})
        .shown(any_has(cases_, &CaseSummary::consensus_distance))
        .value(&CaseSummary::consensus_distance,
               [](double distance) { return fmt::format("{:.2g}", distance); })
        .data("consensus_distance", &CaseSummary::consensus_distance)
        .note("consensus",
              "how far the ranks' parameters x are from their mean m after the last step: |x - m| "
              "/ |m|, root mean square over the ranks; the largest of the runs");
    all_.add({"mean, most", "late by", "steps"})
        .shown(any_has(cases_, &CaseSummary::average_staleness))
        .value(&CaseSummary::average_staleness,
               [](const AverageStaleness& it) {
                 return fmt::format("{:.2f}, {}", it.mean_steps, it.most_steps);
               })
        .data("averages_mean_steps_missed", &CaseSummary::average_staleness,
              &AverageStaleness::mean_steps)
        .data("averages_most_steps_missed", &CaseSummary::average_staleness,
              &AverageStaleness::most_steps)
        .note("late by",
              "how many of a neighbor's newest steps an average of what had arrived missed: the "
              "mean over all averages, and the most");
  }

  void add_coding() {
    using records::CodingCost;
    constexpr auto kCoding = &CaseSummary::coding;
    const bool coded = any_has(cases_, kCoding);
    all_.add({"", "coding", unit_})
        .shown(coded)
        .value(kCoding,
               [time = time_](const CodingCost& it) {
                 return time.show_small(seconds(it.ns_per_step));
               })
        .data("coding_s_per_step", kCoding, &CodingCost::ns_per_step, seconds)
        .note("coding", "what the codec takes of a step to encode and decode, on the slowest rank");
    all_.data("plain_wire_bytes_per_rank_per_step", kCoding, &CodingCost::plain_bytes_per_step);
    all_.add({"", "break-even", "Gbit/s"})
        .shown(coded)
        .value(break_even_bits_per_s,
               [](double rate) {
                 return std::isfinite(rate) ? fmt::format("{:.3g}", rate * 1e-9) : "any";
               })
        .data("break_even_bits_per_s", break_even_bits_per_s, finite_or_null)
        .note("break-even",
              "the link rate below which coding takes less time than the bytes that it saves, one "
              "after the other; - where the codec saves no bytes");
    all_.data("link_bits_per_s", kAsked, link_bytes_per_s,
              [](double bytes_per_s) { return bytes_per_s * 8; });
    all_.data("last_loss", &CaseSummary::last_loss);
  }

  /// Adds medians over the runs.  Steps, time and bytes to the target are medians over the runs
  /// that reached it.
  void add_training() {
    for (const auto& [stem, unit, member] :
         {std::tuple{"test_loss", "", &TrainingResults::losses},
          std::tuple{"test_accuracy", "", &TrainingResults::accuracies},
          std::tuple{"steps_to_target", "", &TrainingResults::steps},
          std::tuple{"time_to_target", "_s", &TrainingResults::seconds},
          std::tuple{"sent_bytes_to_target", "", &TrainingResults::bytes}}) {
      all_.data_estimate(EstimateKeys::of(stem, unit), [values = member](const CaseSummary& one) {
        return one.training_results ? median_over(*one.training_results.*values) : std::nullopt;
      });
    }
    all_.data("runs_at_target", [](const CaseSummary& one) {
      return one.training_results && one.configuration.target != 0
                 ? Json(one.training_results->steps.size())
                 : Json();
    });
  }

  void add_prediction() {
    using records::ErrorBar;
    using records::PredictionDetails;
    constexpr auto kPredicted = &CaseSummary::predicted;
    constexpr auto kBar = &PredictionDetails::error_bar;
    const bool predicted = any_has(cases_, kPredicted);
    all_.add({"error bar", "prediction"})
        .shown(predicted)
        .cell(error_bar)
        .data("error_bar_low_s", kPredicted, kBar, &ErrorBar::low_ns, seconds)
        .data("error_bar_high_s", kPredicted, kBar, &ErrorBar::high_ns, seconds)
        .data("error_bar_validated", kPredicted, kBar, &ErrorBar::validated)
        .note("error bar", error_bar_note(cases_));
    all_.add({"bound, " + unit_, "prediction"})
        .shown(predicted)
        .value(kPredicted,
               [time = time_](const PredictionDetails& it) {
                 return time.show_small(seconds(it.bound.tightest_ns()));
               })
        .data("bound_s", kPredicted, &PredictionDetails::bound, &records::StepBound::tightest_ns,
              seconds)
        .note("bound",
              "what the mean step of no execution of the plan can beat on the described links, "
              "with the algorithm of collectives that was priced and without noise");
  }

  const std::vector<CaseSummary>& cases_;
  bool full_, simulated_;
  ValueFormat time_, rate_, share_;
  std::string unit_;  // the unit of times: s, ms or us
  CaseColumns all_;
};

}  // namespace

ValueFormat time_format(const std::vector<CaseSummary>& rows) {
  std::optional<double> smallest;
  for (const CaseSummary& row : rows) {
    if (row.step_s) {
      smallest =
          std::min(smallest.value_or(row.step_s->percentiles.p50), row.step_s->percentiles.p50);
    }
  }
  return time_format(smallest);
}

ValueFormat rate_format(const std::vector<CaseSummary>& rows) {
  std::optional<double> smallest;
  for (const CaseSummary& row : rows) {
    if (const auto rate = row.examples_per_s_per_rank()) {
      smallest = std::min(smallest.value_or(*rate), *rate);
    }
  }
  return {"/s", 1, decimals_for(smallest.value_or(0))};
}

CaseColumns case_columns(const std::vector<CaseSummary>& cases, Detail detail,
                         std::string_view within_run_mark) {
  return CaseColumnsBuilder(cases, detail, within_run_mark).run();
}

}  // namespace paceline::report
