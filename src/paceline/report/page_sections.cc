// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/page_sections.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "paceline/records/json.h"
#include "paceline/report/page_series.h"

namespace paceline::report {
namespace {

/// More lines than that cannot be told apart.
constexpr std::size_t kMostLines = 12;
/// Examples per second of the row's baseline times its ranks.
std::optional<double> linear_rate(const Row& row, const Table& table) {
  for (const Row& base : table.rows) {
    if (row.baseline == base.label && base.label != row.label &&
        base.examples_per_s) {
      return base.examples_per_s->value / base.configuration.ranks *
             row.configuration.ranks;
    }
  }
  return std::nullopt;
}

Chart throughput(const Table& table) {
  Chart chart{.kind = ChartKind::kBars,
              .title = "Throughput, all ranks",
              .value = {"throughput", "examples/s", false, true}};
  const Scale scale = rate_scale(table.rows);
  for (const Row& row : table.rows) {
    if (row.examples_per_s) {
      Point point = point_of(name_with_ranks(row), *row.examples_per_s, scale);
      point.mark = linear_rate(row, table);
      if (point.mark) {
        chart.mark = "linear scaling";
        chart.note =
            "The dashed mark is linear scaling: the baseline's rate times the "
            "ranks.";
      }
      series_for(chart, row).points.push_back(std::move(point));
    }
  }
  explain_whiskers(chart);
  return chart;
}

Chart efficiency(const Table& table) {
  Chart chart{.kind = ChartKind::kBars,
              .title = "Scaling efficiency",
              .note =
                  "Median rate per rank as a share of the baseline's; the "
                  "dashed mark at 100 % is linear scaling.",
              .value = {"efficiency", "%", false, true},
              .mark = "linear scaling"};
  for (const Row& row : table.rows) {
    if (row.efficiency && row.baseline != row.label) {
      Point point =
          point_of(name_with_ranks(row), *row.efficiency, percent_scale());
      point.mark = 100;
      series_for(chart, row).points.push_back(std::move(point));
    }
  }
  explain_whiskers(chart);
  return chart;
}

// What makes two cases points of one curve: all but their ranks.
std::string curve_key(const Row& row) {
  records::Configuration all = row.configuration;
  all.ranks = 1;
  all.ranks_per_host.clear();
  return fmt::format(
      "{} {} {}", records::name_of(row.source), row.experiment, all.key());
}

std::string curve_name(const Row& row) {
  const std::string& strategy = row.configuration.strategy;
  return row.source == records::Source::kMeasured
             ? strategy
             : fmt::format("{} ({})", strategy, records::name_of(row.source));
}

// From one rank to the most that any case has.
void add_linear(Chart& chart, const Table& table) {
  int most = 0;
  std::set<std::string> baselines;
  for (const Row& row : table.rows) {
    if (row.examples_per_s) {
      most = std::max(most, row.configuration.ranks);
    }
    if (row.baseline) {
      baselines.insert(*row.baseline);
    }
  }
  for (const Row& base : table.rows) {
    if (most > 1 && base.examples_per_s && baselines.contains(base.label)) {
      const double rate = base.examples_per_s->value;
      chart.series.push_back(
          {.name = "linear scaling of " + base.label,
           .look = Look::kReference,
           .points = {{.along = 1, .value = rate},
                      {.along = double(most), .value = rate * most}}});
    }
  }
}

// From here on, small worlds would lie upon each other on a linear axis.
void make_logarithmic_where_wide(Chart& chart) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) {
      least = std::min(least, point.along);
      most = std::max(most, point.along);
    }
  }
  if (most >= 8 * least) {
    chart.along.log = true;
    chart.value.log = true;
  }
}

/// Empty where no strategy was measured on two numbers of ranks.
Chart scaling(const Table& table) {
  const Scale scale = rate_scale(table.rows);
  std::map<std::string, std::vector<const Row*>> curves;
  std::vector<std::string> order;
  for (const Row& row : table.rows) {
    if (row.examples_per_s) {
      auto& curve = curves[curve_key(row)];
      if (curve.empty()) {
        order.push_back(curve_key(row));
      }
      curve.push_back(&row);
    }
  }
  Chart chart{.kind = ChartKind::kLines,
              .title = "Throughput by number of ranks",
              .note = "Dashed lines are ideal.",
              .along = {"ranks", ""},
              .value = {"throughput", "examples/s", false, true}};
  for (const std::string& key : order) {
    std::vector<const Row*>& curve = curves[key];
    if (curve.size() < 2) {
      continue;
    }
    std::stable_sort(curve.begin(), curve.end(), [](auto* a, auto* b) {
      return a->configuration.ranks < b->configuration.ranks;
    });
    Series& series = chart.series.emplace_back(
        Series{curve_name(*curve.front()), look_of(*curve.front())});
    for (const Row* row : curve) {
      Point point = point_of(row->label, *row->examples_per_s, scale);
      point.along = row->configuration.ranks;
      series.points.push_back(std::move(point));
    }
  }
  if (!chart.series.empty() && chart.series.size() <= kMostLines) {
    add_linear(chart, table);
  }
  make_logarithmic_where_wide(chart);
  explain_whiskers(chart);
  return chart;
}

void add_unless_empty(std::vector<Chart>& charts, Chart chart) {
  if (!chart.series.empty()) {
    charts.push_back(std::move(chart));
  }
}

}  // namespace

std::vector<Section> table_sections(const TableView& view) {
  const std::string& heading = view.sheet.heading;
  const std::size_t colon = heading.find(": ");
  Section result{
      .title = heading.substr(0, colon),
      .note = colon == std::string::npos ? "" : heading.substr(colon + 2),
      .sheet = view.sheet};
  add_unless_empty(result.charts, throughput(view.table));
  add_unless_empty(result.charts, efficiency(view.table));
  add_unless_empty(result.charts, scaling(view.table));

  Section time{.title = "Where the time of a step goes", .inner = true};
  StepTimes times = step_times(view);
  add_unless_empty(time.charts, std::move(times.boxes));
  if (times.steps.series.size() <= kMostLines) {
    add_unless_empty(time.charts, std::move(times.steps));
  }
  add_unless_empty(time.charts, exposed_communication(view.table));
  if (time.charts.empty()) {
    return {std::move(result)};
  }
  return {std::move(result), std::move(time)};
}

}  // namespace paceline::report
