// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/summary_data.h"

#include <cmath>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/records/json.h"
#include "paceline/report/codec_notes.h"
#include "paceline/report/csv.h"
#include "paceline/report/link_curves.h"

namespace paceline::report {
namespace {

using SummaryFields = Fields<CaseSummary>;

constexpr double kSecond = 1e-9;  // of a nanosecond

void add_identity(SummaryFields& fields) {
  const auto add = [&fields](const char* name, auto get) {
    fields.push_back(
        {name, [get](const CaseSummary& c) -> Json { return get(c); }});
  };
  add("case", [](const CaseSummary& c) { return c.label; });
  add("source",
      [](const CaseSummary& c) { return records::name_of(c.source); });
  add("experiment", [](const CaseSummary& c) { return c.experiment; });
  add("model", [](const CaseSummary& c) { return c.configuration.model; });
  add("batch_size_per_rank",
      [](const CaseSummary& c) { return c.configuration.batch_size; });
  add("ranks", [](const CaseSummary& c) { return c.configuration.ranks; });
  add("strategy",
      [](const CaseSummary& c) { return c.configuration.strategy; });
  add("engine", [](const CaseSummary& c) { return c.configuration.engine; });
  add("device", [](const CaseSummary& c) { return c.configuration.device; });
  add("dtype", [](const CaseSummary& c) { return c.configuration.dtype; });
  add("runs",
      [](const CaseSummary& c) { return c.failed() ? 0 : c.step_s->runs; });
  add("failed_runs", [](const CaseSummary& c) { return c.failed_runs; });
  add("steps",
      [](const CaseSummary& c) { return c.failed() ? 0 : c.step_s->steps; });
}

void add_times(SummaryFields& fields) {
  using stats::Percentiles;
  for (const auto& [name, member] :
       {std::pair{"step_p50_s", &Percentiles::p50},
        std::pair{"step_p75_s", &Percentiles::p75},
        std::pair{"step_p90_s", &Percentiles::p90},
        std::pair{"step_p95_s", &Percentiles::p95}}) {
    fields.push_back({name, [value = member](const CaseSummary& c) {
                        return c.failed() ? Json()
                                          : Json(c.step_s->percentiles.*value);
                      }});
  }
  add_estimate(
      fields, EstimateKeys::of("step_median", "_s"), [](const CaseSummary& c) {
        return c.failed() ? std::nullopt : std::optional(c.step_s->median);
      });
  fields.push_back({"examples_per_s_per_rank", [](const CaseSummary& c) {
                      return or_null(c.examples_per_s_per_rank());
                    }});
  add_estimate(fields,
               EstimateKeys::of("examples_per_s", ""),
               [](const CaseSummary& c) { return c.examples_per_s; });
  fields.push_back(
      {"baseline", [](const CaseSummary& c) { return or_null(c.baseline); }});
  add_estimate(fields,
               EstimateKeys::of("efficiency", ""),
               [](const CaseSummary& c) { return c.efficiency; });
  add_estimate(fields,
               EstimateKeys::of("exposed_communication", "_s"),
               [](const CaseSummary& c) { return c.exposed_s; });
  add_estimate(fields,
               EstimateKeys::of("data_wait", "_s"),
               [](const CaseSummary& c) { return c.data_wait_s; });
}

void add_counts(SummaryFields& fields) {
  fields.push_back({"wire_bytes_per_rank_per_step", [](const CaseSummary& c) {
                      return or_null(c.wire_bytes_per_step);
                    }});
  fields.push_back(
      {"planned_wire_bytes_per_rank_per_step", [](const CaseSummary& c) {
         return or_null(c.planned_wire_bytes_per_step);
       }});
  fields.push_back({"consensus_distance", [](const CaseSummary& c) {
                      return or_null(c.consensus_distance);
                    }});
  fields.push_back({"averages_mean_steps_missed", [](const CaseSummary& c) {
                      return c.lateness ? Json(c.lateness->mean_steps) : Json();
                    }});
  fields.push_back({"averages_most_steps_missed", [](const CaseSummary& c) {
                      return c.lateness ? Json(c.lateness->most_steps) : Json();
                    }});
  fields.push_back({"peak_memory_bytes", [](const CaseSummary& c) {
                      return or_null(c.peak_memory_bytes);
                    }});
}

void add_coding(SummaryFields& fields) {
  fields.push_back(
      {"coding_s_per_step", [](const CaseSummary& c) {
         return c.coding
                    ? Json(static_cast<double>(c.coding->ns_per_step) * kSecond)
                    : Json();
       }});
  fields.push_back(
      {"plain_wire_bytes_per_rank_per_step", [](const CaseSummary& c) {
         return c.coding ? Json(c.coding->plain_bytes_per_step) : Json();
       }});
  // JSON has no infinity: coding that takes no time has null.
  fields.push_back({"break_even_bits_per_s", [](const CaseSummary& c) {
                      const auto rate = break_even_bits_per_s(c);
                      return rate && std::isfinite(*rate) ? Json(*rate)
                                                          : Json();
                    }});
  fields.push_back({"link_bits_per_s", [](const CaseSummary& c) {
                      const auto link = link_of(c.configuration);
                      return link ? Json(link->bytes_per_s * 8) : Json();
                    }});
  fields.push_back(
      {"last_loss", [](const CaseSummary& c) { return or_null(c.last_loss); }});
}

/// Medians over the runs, of those to the target over the runs that reached it.
void add_training(SummaryFields& fields) {
  for (const auto& [stem, unit, member] :
       {std::tuple{"test_loss", "", &Trained::losses},
        std::tuple{"test_accuracy", "", &Trained::accuracies},
        std::tuple{"steps_to_target", "", &Trained::steps},
        std::tuple{"time_to_target", "_s", &Trained::seconds},
        std::tuple{"sent_bytes_to_target", "", &Trained::bytes}}) {
    add_estimate(fields,
                 EstimateKeys::of(stem, unit),
                 [values = member](const CaseSummary& c) {
                   return c.trained ? median_over(*c.trained.*values)
                                    : std::nullopt;
                 });
  }
  fields.push_back({"runs_at_target", [](const CaseSummary& c) {
                      return c.trained && c.configuration.target != 0
                                 ? Json(c.trained->steps.size())
                                 : Json();
                    }});
}

void add_prediction(SummaryFields& fields) {
  using records::ErrorBar;
  const auto add_bar = [&fields](const char* name, auto get) {
    fields.push_back({name, [get](const CaseSummary& c) -> Json {
                        return c.predicted && c.predicted->error_bar
                                   ? get(*c.predicted->error_bar)
                                   : Json();
                      }});
  };
  const auto seconds = [](const std::optional<std::int64_t>& ns) {
    return ns ? Json(static_cast<double>(*ns) * kSecond) : Json();
  };
  add_bar("error_bar_low_s",
          [=](const ErrorBar& bar) { return seconds(bar.low_ns); });
  add_bar("error_bar_high_s",
          [=](const ErrorBar& bar) { return seconds(bar.high_ns); });
  add_bar("error_bar_examined",
          [](const ErrorBar& bar) { return Json(bar.validated); });
  fields.push_back({"bound_s", [=](const CaseSummary& c) {
                      return c.predicted ? seconds(c.predicted->bound.best_ns())
                                         : Json();
                    }});
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
  Table table = field_table(summary_fields());
  table.columns.push_back({.name = "errors"});
  for (const GroupSummary& group : summarize(records)) {
    for (const CaseSummary& one : group.rows) {
      table.rows.push_back(field_row(summary_fields(), one));
      table.rows.back().cells.push_back(
          fmt::format("{}", fmt::join(one.errors, "; ")));
    }
  }
  return csv_text(table);
}

std::string render_json(std::span<const records::RunRecord> records) {
  Json cases = Json::array();
  for (const GroupSummary& group : summarize(records)) {
    for (const CaseSummary& one : group.rows) {
      Json object = json_object(summary_fields(), one);
      object["configuration"] = records::to_json(one.configuration);
      object["warnings"] = warnings_json(one.warnings);
      object["errors"] = one.errors;
      cases.push_back(std::move(object));
    }
  }
  return json_text({{"version", 1}, {"cases", cases}}, 2) + "\n";
}

}  // namespace paceline::report
