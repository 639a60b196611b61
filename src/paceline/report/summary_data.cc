// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/summary_data.h"

#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/records/json.h"
#include "paceline/report/codec_notes.h"
#include "paceline/report/comparison_data.h"
#include "paceline/report/csv.h"
#include "paceline/report/link_curves.h"

namespace paceline::report {
namespace {

using SummaryFields = Fields<CaseSummary>;

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

// JSON has no infinity: coding that takes no time has null.
Json finite(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

/// "code: what was seen", of each.
std::string warnings_text(const std::vector<records::Warning>& warnings) {
  std::vector<std::string> texts;
  for (const records::Warning& one : warnings) {
    texts.push_back(fmt::format("{}: {}", one.code, one.seen));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

void add_identity(SummaryFields& fields) {
  using records::Configuration;
  constexpr auto kAsked = &CaseSummary::configuration;
  fields.add("case", &CaseSummary::label);
  fields.add("source", &CaseSummary::source, records::name_of);
  fields.add("experiment", &CaseSummary::experiment);
  fields.add("model", kAsked, stated("model", &Configuration::model));
  fields.add("batch_size_per_rank",
             kAsked,
             stated("batch_size", &Configuration::batch_size));
  fields.add("ranks", kAsked, stated("ranks", &Configuration::ranks));
  fields.add("strategy", kAsked, stated("strategy", &Configuration::strategy));
  fields.add("engine", kAsked, stated("engine", &Configuration::engine));
  fields.add("device", kAsked, stated("device", &Configuration::device));
  fields.add("dtype", kAsked, stated("dtype", &Configuration::dtype));
  fields.add("runs", [](const CaseSummary& c) {
    return c.failed() ? 0 : c.step_s->runs;
  });
  fields.add("failed_runs", &CaseSummary::failed_runs);
  fields.add("steps", [](const CaseSummary& c) { return c.measured_steps(); });
  fields.add("not_comparable", &CaseSummary::not_comparable);
}

void add_times(SummaryFields& fields) {
  using stats::Percentiles;
  for (const auto& [name, percentile] :
       {std::pair{"step_p50_s", &Percentiles::p50},
        std::pair{"step_p75_s", &Percentiles::p75},
        std::pair{"step_p90_s", &Percentiles::p90},
        std::pair{"step_p95_s", &Percentiles::p95}}) {
    fields.add(name,
               &CaseSummary::step_s,
               &stats::StepSummary::percentiles,
               percentile);
  }
  fields.add_estimate(
      EstimateKeys::of("step_median", "_s"), [](const CaseSummary& c) {
        return c.failed() ? std::nullopt : std::optional(c.step_s->median);
      });
  fields.add("examples_per_s_per_rank", &CaseSummary::examples_per_s_per_rank);
  fields.add_estimate(EstimateKeys::of("examples_per_s", ""),
                      &CaseSummary::examples_per_s);
  fields.add("baseline", &CaseSummary::baseline);
  fields.add_estimate(EstimateKeys::of("efficiency", ""),
                      &CaseSummary::efficiency);
  fields.add_estimate(EstimateKeys::of("exposed_communication", "_s"),
                      &CaseSummary::exposed_s);
  fields.add_estimate(EstimateKeys::of("data_wait", "_s"),
                      &CaseSummary::data_wait_s);
}

void add_counts(SummaryFields& fields) {
  fields.add("wire_bytes_per_rank_per_step", &CaseSummary::wire_bytes_per_step);
  fields.add("planned_wire_bytes_per_rank_per_step",
             &CaseSummary::planned_wire_bytes_per_step);
  fields.add("consensus_distance", &CaseSummary::consensus_distance);
  fields.add("averages_mean_steps_missed",
             &CaseSummary::lateness,
             &Lateness::mean_steps);
  fields.add("averages_most_steps_missed",
             &CaseSummary::lateness,
             &Lateness::most_steps);
  fields.add("peak_memory_bytes", &CaseSummary::peak_memory_bytes);
}

void add_coding(SummaryFields& fields) {
  using records::Coding;
  fields.add(
      "coding_s_per_step", &CaseSummary::coding, &Coding::ns_per_step, seconds);
  fields.add("plain_wire_bytes_per_rank_per_step",
             &CaseSummary::coding,
             &Coding::plain_bytes_per_step);
  fields.add("break_even_bits_per_s", break_even_bits_per_s, finite);
  fields.add(
      "link_bits_per_s",
      &CaseSummary::configuration,
      link_of,
      [](const cluster::LinkSpec& link) { return link.bytes_per_s * 8; });
  fields.add("last_loss", &CaseSummary::last_loss);
}

/// Medians over the runs, of those to the target over the runs that reached it.
void add_training(SummaryFields& fields) {
  for (const auto& [stem, unit, member] :
       {std::tuple{"test_loss", "", &Trained::losses},
        std::tuple{"test_accuracy", "", &Trained::accuracies},
        std::tuple{"steps_to_target", "", &Trained::steps},
        std::tuple{"time_to_target", "_s", &Trained::seconds},
        std::tuple{"sent_bytes_to_target", "", &Trained::bytes}}) {
    fields.add_estimate(
        EstimateKeys::of(stem, unit), [values = member](const CaseSummary& c) {
          return c.trained ? median_over(*c.trained.*values) : std::nullopt;
        });
  }
  fields.add("runs_at_target", [](const CaseSummary& c) {
    return c.trained && c.configuration.target != 0
               ? Json(c.trained->steps.size())
               : Json();
  });
}

void add_prediction(SummaryFields& fields) {
  using records::ErrorBar;
  using records::Predicted;
  constexpr auto kPredicted = &CaseSummary::predicted;
  constexpr auto kBar = &Predicted::error_bar;
  fields.add("error_bar_low_s", kPredicted, kBar, &ErrorBar::low_ns, seconds);
  fields.add("error_bar_high_s", kPredicted, kBar, &ErrorBar::high_ns, seconds);
  fields.add("error_bar_validated", kPredicted, kBar, &ErrorBar::validated);
  fields.add("bound_s",
             kPredicted,
             &Predicted::bound,
             &records::StepBound::best_ns,
             seconds);
}

}  // namespace

const SummaryFields& summary_fields() {
  static const SummaryFields fields = [] {
    SummaryFields all;
    add_identity(all);
    add_times(all);
    add_counts(all);
    add_coding(all);
    add_training(all);
    add_prediction(all);
    return all;
  }();
  return fields;
}

std::string render_csv(std::span<const records::RunRecord> records) {
  Table table = summary_fields().table();
  for (const char* name : {"errors", "warnings"}) {
    table.columns.push_back({.name = name});
  }
  for (const GroupSummary& group : summarize(records)) {
    for (const CaseSummary& one : group.rows) {
      table.rows.push_back(summary_fields().row(one));
      table.rows.back().cells.push_back(
          fmt::format("{}", fmt::join(one.errors, "; ")));
      table.rows.back().cells.push_back(warnings_text(one.warnings));
    }
  }
  return csv_text(table);
}

std::string render_json(std::span<const records::RunRecord> records) {
  Json cases = Json::array();
  for (const GroupSummary& group : summarize(records)) {
    for (const CaseSummary& one : group.rows) {
      Json object = summary_fields().object(one);
      object["configuration"] = records::to_json(one.configuration);
      object["warnings"] = records::to_json(one.warnings);
      object["errors"] = one.errors;
      cases.push_back(std::move(object));
    }
  }
  Json out{{"version", 1}, {"cases", std::move(cases)}};
  out.update(comparison_data(records));
  return json_text(out, 2) + "\n";
}

}  // namespace paceline::report
