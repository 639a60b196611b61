// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "paceline/report/sheet.h"
#include "paceline/stats/interval.h"

// What stands between the page's head and its list of cases: sections of
// charts and a table, as data.  Whoever has something to show (measured cases,
// predictions against published figures, crossing points) fills sections; the
// page draws any list of them.

namespace paceline::report {

enum class ChartKind : std::uint8_t {
  kBars,    // a horizontal bar for every point, its name above it
  kBoxes,   // a box plot for every box, its name above it
  kLines,   // points with intervals, joined within a series
  kPoints,  // points with intervals, not joined
  kSteps    // a step function for every series: distributions
};

/// How a series is drawn; never by its color alone.
enum class Look : std::uint8_t {
  kMeasured,  // filled, solid
  kOther,     // hatched or hollow, dashed: predicted, replayed, imported, ...
  kReference  // a thin dashed line without points: what would be ideal
};

struct Axis {
  std::string label;   // "throughput"
  std::string unit{};  // "examples/s"; empty: a plain number
  bool log = false;
  bool from_zero = false;  // even where all values lie far from it
};

struct Point {
  std::string name{};  // of the bar, or what a pointer over the point shows
  double along = 0;    // where on the `along` axis; bars have none
  double value = 0;
  std::optional<stats::Interval> interval{};  // of the value
  bool within_run = false;  // the interval: from steps, not over runs; dotted
  std::optional<double> mark{};  // a second value to compare with, see `mark`
  std::string text{};  // the value as it is to be read: "9.1 [9, 9.3]"
};

/// Whiskers end at `low` and `high`; what lies outside is in `outside`, or in
/// part if there is much of it.
struct Box {
  std::string name;
  double low = 0;
  double lower_quartile = 0;
  double median = 0;
  double upper_quartile = 0;
  double high = 0;
  std::vector<double> outside{};
  std::string text{};
};

struct Series {
  std::string name;  // in the legend
  Look look = Look::kMeasured;
  std::vector<Point> points{};
  std::vector<Box> boxes{};
};

/// Values are in the units of the axes.  One that is not finite is left out.
struct Chart {
  ChartKind kind = ChartKind::kBars;
  std::string title;
  std::string note{};  // how to read it, one or two sentences
  Axis along{};        // horizontal; bars and boxes have none
  Axis value;          // vertical; horizontal for bars and boxes
  std::string mark{};  // what the points' marks are: "linear scaling"
  std::vector<Series> series{};
};

struct Section {
  std::string title;
  std::string note{};
  std::vector<Chart> charts{};
  std::optional<Sheet> sheet{};
  bool inner = false;  // belongs to the section before it
};

}  // namespace paceline::report
