// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/outlook_output.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/plan/profile.h"
#include "paceline/report/fields.h"
#include "paceline/report/result_column.h"
#include "paceline/report/table.h"

namespace paceline::cli {
namespace {

using plan::milliseconds_of;
using plan::seconds_of;
using predict::NextMeasurement;
using predict::ScaledWorld;
using report::Json;

bool has_interval(const ScaledWorld& world) { return world.advice.bar.known(); }

/// Returns a function that applies `get` to a number of ranks whose predicted step has an interval,
/// and that returns null for others.
template <class Get>
auto if_has_interval(Get get) {
  return [get](const ScaledWorld& it) { return has_interval(it) ? Json(get(it)) : Json(); };
}

report::ResultColumns<ScaledWorld> world_columns() {
  report::ResultColumns<ScaledWorld> columns;
  columns.add({.name = "ranks"}).data("ranks", &ScaledWorld::ranks);
  columns.add({.name = "step", .unit = "ms"})
      .cell([](const ScaledWorld& it) {
        return fmt::format("{:.2f}", milliseconds_of(it.advice.step));
      })
      .data("step_s", &ScaledWorld::advice, &predict::Advice::step, seconds_of);
  columns.add({.name = "[with its error]"})
      .cell([](const ScaledWorld& it) {
        return has_interval(it) ? fmt::format("[{:.2f}, {:.2f}]", milliseconds_of(it.advice.low),
                                              milliseconds_of(it.advice.high))
                                : "-";
      })
      .data("error_bar_low_s",
            if_has_interval([](const ScaledWorld& it) { return seconds_of(it.advice.low); }))
      .data("error_bar_high_s",
            if_has_interval([](const ScaledWorld& it) { return seconds_of(it.advice.high); }));
  columns.add({.name = "efficiency", .unit = "%"})
      .cell([](const ScaledWorld& it) { return fmt::format("{:.1f}", 100 * it.efficiency); })
      .data("efficiency", &ScaledWorld::efficiency);
  columns.add({.name = "[with the step's error]"})
      .cell([](const ScaledWorld& it) {
        return has_interval(it) ? fmt::format("[{:.1f}, {:.1f}]", 100 * it.low, 100 * it.high)
                                : "-";
      })
      .data("efficiency_low", if_has_interval([](const ScaledWorld& it) { return it.low; }))
      .data("efficiency_high",
            if_has_interval([](const ScaledWorld& it) { return report::finite_or_null(it.high); }));
  return columns;
}

std::string base_text(const predict::ScalingBase& base) {
  return base.measured
             ? fmt::format("{} with a batch of {} each, as measured", counted(base.ranks, "rank"),
                           base.batch_size)
             : fmt::format("one device with a batch of {}, as predicted", base.batch_size);
}

/// Returns the range of the numbers of ranks at which scaling may end, as text. The range follows
/// from the interval of the step time.
std::string knee_range_text(const predict::Scaling& scaling) {
  const auto earliest = scaling.earliest_knee(), latest = scaling.latest_knee();
  const auto bare = std::ranges::find_if_not(scaling.worlds, has_interval);
  if (bare != scaling.worlds.end()) {
    return fmt::format("without a band: {}", bare->advice.bar.why);
  }
  if (latest) {
    return fmt::format("between {} and {}", *earliest, *latest);
  }
  if (earliest) {
    return fmt::format("from {} on at the slower end of the step's interval{}", *earliest,
                       scaling.knee() ? fmt::format(", not up to {} at its faster end",
                                                    scaling.worlds.back().ranks)
                                      : "");
  }
  return "nor at the slower end of the step's interval";
}

std::string knee_text(const predict::Scaling& scaling) {
  const auto knee = scaling.knee();
  const plan::Rank most = scaling.worlds.back().ranks;
  std::string text = fmt::format(
      "{}: efficiency {} {:.0f} % {} ({})\nefficiency: a rank's rate as a share of that of {}",
      scaling.strategy, knee ? "falls below" : "does not fall below",
      100 * predict::kKneeEfficiency,
      knee ? fmt::format("from {} on", counted(*knee, "rank"))
           : fmt::format("up to {}", counted(most, "rank")),
      knee_range_text(scaling), base_text(scaling.base));
  if (most > scaling.described) {
    text +=
        fmt::format("\nmore than {}: more hosts like the cluster's, behind switches without limit",
                    counted(scaling.described, "rank"));
  }
  if (!scaling.end.empty()) {
    text += fmt::format("\nno more than {}: {}", counted(most, "rank"), scaling.end);
  }
  return text;
}

/// Returns what the user must type to make and use a measurement: the flag --measured that passes
/// it to `paceline advise`, or the commands that fit the collectives.
std::string measurement_text(const NextMeasurement& one) {
  return one.figure.empty()
             ? "paceline comm, paceline calibrate FILE -o mine.toml, then --cluster mine.toml"
             : fmt::format("--measured \"{} step=...\"", one.figure);
}

std::string next_text(const predict::NextMeasurements& next) {
  const auto within = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
  const NextMeasurement* best = next.best();
  if (best == nullptr) {
    return fmt::format("no further figure of these narrows the interval of the step of {}, {}",
                       next.strategy, within(next.present_half_width.value_or(0)));
  }
  std::string text =
      fmt::format("{} next: {}, {}\nthe step of {} is then known to {}, now {}",
                  next.measured ? "measure" : "nothing was measured of the job; measure",
                  best->what, measurement_text(*best), next.strategy, within(best->half_width),
                  next.present_half_width ? fmt::format("to {}", within(*next.present_half_width))
                                          : std::string("its error is not known"));
  if (best->is_asked) {
    const NextMeasurement* other = next.best(true);
    text += other == nullptr
                ? "; it is that step itself, and nothing else narrows the interval"
                : fmt::format("; it is that step itself\nshort of it: {}, {}\nwhich gives {}",
                              other->what, measurement_text(*other), within(other->half_width));
  }
  return text;
}

report::ResultColumns<NextMeasurement> candidate_columns() {
  report::ResultColumns<NextMeasurement> columns;
  columns.add({.name = "measurement", .align = report::Align::kLeft})
      .data("measurement", &NextMeasurement::what);
  columns.add({.name = "ranks"}).data("ranks", &NextMeasurement::ranks);
  columns.add({.name = "step then known to", .unit = "%"})
      .cell([](const NextMeasurement& it) { return fmt::format("{:.1f}", 100 * it.half_width); })
      .data("error", &NextMeasurement::half_width);
  columns.data("figure", [](const NextMeasurement& it) {
    return it.figure.empty() ? Json() : Json(it.figure);
  });
  columns.data("is_asked_step", &NextMeasurement::is_asked);
  return columns;
}

}  // namespace

void add_scaling(const predict::Scaling& scaling, report::CommandOutput& output) {
  const bool banded = std::ranges::all_of(scaling.worlds, has_interval);
  const auto columns = world_columns();
  output.json["scaling"] = {
      {"strategy", scaling.strategy},
      {"base",
       {{"ranks", scaling.base.ranks},
        {"batch_size", scaling.base.batch_size},
        {"step_s", scaling.base.step_s},
        {"measured", scaling.base.measured}}},
      {"threshold", predict::kKneeEfficiency},
      {"below_from_ranks", report::or_null(scaling.knee())},
      {"below_from_ranks_earliest", banded ? report::or_null(scaling.earliest_knee()) : Json()},
      {"below_from_ranks_latest", banded ? report::or_null(scaling.latest_knee()) : Json()},
      {"described_ranks", scaling.described},
      {"no_larger_because", scaling.end.empty() ? Json() : Json(scaling.end)},
      {"worlds", columns.fields().array(scaling.worlds)}};
  if (!scaling.worlds.empty()) {
    report::Table table = columns.table(scaling.worlds);
    table.text = knee_text(scaling);
    output.tables.push_back(std::move(table));
  }
}

void add_next_measurements(const predict::NextMeasurements& next, report::CommandOutput& output) {
  const auto columns = candidate_columns();
  output.json["measure_next"] = {{"strategy", next.strategy},
                                 {"error_now", report::or_null(next.present_half_width)},
                                 {"candidates", columns.fields().array(next.candidates)}};
  if (!next.candidates.empty()) {
    report::Table table = columns.table(next.candidates);
    table.text = next_text(next);
    output.tables.push_back(std::move(table));
  }
}

}  // namespace paceline::cli
