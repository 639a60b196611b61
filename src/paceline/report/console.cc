// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/console.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/report/format.h"
#include "paceline/report/layout.h"
#include "paceline/report/summary.h"

namespace paceline::report {
namespace {

constexpr std::string_view kMissing = "-";

// Unit and decimals of a column, chosen once for all of its rows so that they
// can be compared by eye: four figures of the smallest value.
struct Scale {
  std::string_view unit = "";
  double factor = 1;  // shown = value * factor
  int decimals = 0;

  std::string show(double value) const {
    return fmt::format("{:.{}f}", value * factor, decimals);
  }
  std::string show(const std::optional<double>& value) const {
    return value ? show(*value) : std::string(kMissing);
  }
  std::string show(const std::optional<stats::Estimate>& e) const {
    if (!e) {
      return std::string(kMissing);
    }
    if (!e->interval) {
      return show(e->value);
    }
    return fmt::format("{} [{}, {}]",
                       show(e->value),
                       show(e->interval->low),
                       show(e->interval->high));
  }
};

int decimals_for(double smallest) {
  int decimals = 3;
  for (double limit = 10; decimals > 0 && smallest >= limit; limit *= 10) {
    --decimals;
  }
  return decimals;
}

Scale time_scale(const std::vector<Row>& rows) {
  std::optional<double> smallest;
  for (const Row& row : rows) {
    if (row.step_s) {
      smallest = std::min(smallest.value_or(row.step_s->percentiles.p50),
                          row.step_s->percentiles.p50);
    }
  }
  Scale scale{"ms", 1e3, 0};
  if (smallest && *smallest >= 10) {
    scale = {"s", 1, 0};
  } else if (smallest && *smallest < 1e-3) {
    scale = {"us", 1e6, 0};
  }
  scale.decimals = decimals_for(smallest.value_or(0) * scale.factor);
  return scale;
}

Scale rate_scale(const std::vector<Row>& rows) {
  std::optional<double> smallest;
  for (const Row& row : rows) {
    if (const auto rate = row.examples_per_s_per_rank()) {
      smallest = std::min(smallest.value_or(*rate), *rate);
    }
  }
  return {"/s", 1, decimals_for(smallest.value_or(0))};
}

// The one text that all rows share, or nothing.
template <class Show>
std::optional<std::string> common(const std::vector<Row>& rows, Show show) {
  std::set<std::string> texts;
  for (const Row& row : rows) {
    texts.insert(show(row.configuration));
  }
  return texts.size() == 1 && !texts.begin()->empty()
             ? std::optional(*texts.begin())
             : std::nullopt;
}

// What all cases of the table have in common.
std::string heading(const Table& table) {
  using record::Configuration;
  const std::vector<Row>& rows = table.rows;
  std::vector<std::string> facts;
  const auto add = [&](const std::optional<std::string>& fact) {
    if (fact) {
      facts.push_back(*fact);
    }
  };
  add(common(rows, [](const Configuration& c) {
    return c.image_size == 0 ? ""
                             : fmt::format("{0} x {0} pixels", c.image_size);
  }));
  add(common(rows, [](const Configuration& c) {
    return fmt::format("{} on {}", c.dtype, c.device);
  }));
  add(common(rows, [](const Configuration& c) { return c.engine; }));
  add(common(rows, [](const Configuration& c) {
    return fmt::format("bucket {} MiB", c.bucket_mb);
  }));
  add(common(rows, [](const Configuration& c) {
    return c.threads == 0 ? ""
                          : fmt::format("{} {} per rank",
                                        c.threads,
                                        c.threads == 1 ? "thread" : "threads");
  }));
  return printable(fmt::format("{}, batch {} per rank: {}",
                               table.model,
                               table.batch_size,
                               fmt::join(facts, ", "))) +
         "\n";
}

// Numbers the distinct warnings of a table in the order they are met.
class Footnotes {
 public:
  // The numbers of the row's warnings: "1,3".
  std::string marks(const Row& row) {
    std::vector<std::size_t> numbers;
    for (const record::Warning& warning : row.warnings) {
      numbers.push_back(number_of(fmt::format("{}: {}: {}; {}",
                                              warning.code,
                                              warning.seen,
                                              warning.why,
                                              warning.advice)));
    }
    if (row.failed_runs > 0 && !row.failed()) {
      numbers.push_back(number_of(fmt::format(
          "{} runs failed: {}", row.failed_runs, fmt::join(row.errors, "; "))));
    }
    std::sort(numbers.begin(), numbers.end());
    return fmt::format("{}", fmt::join(numbers, ","));
  }
  std::string text() const {
    std::string text;
    for (std::size_t i = 0; i < sentences_.size(); ++i) {
      text += hanging(fmt::format("{:<12}", fmt::format("[{}]", i + 1)),
                      printable(sentences_[i]));
    }
    return text;
  }

 private:
  std::size_t number_of(const std::string& sentence) {
    auto place = std::find(sentences_.begin(), sentences_.end(), sentence);
    if (place == sentences_.end()) {
      place = sentences_.insert(place, sentence);
    }
    return static_cast<std::size_t>(place - sentences_.begin()) + 1;
  }
  std::vector<std::string> sentences_;
};

std::string wire_bytes(const Row& row) {
  if (row.wire_bytes_per_step) {
    return format_bytes(*row.wire_bytes_per_step);
  }
  return row.planned_wire_bytes_per_step
             ? "~" + format_bytes(*row.planned_wire_bytes_per_step)
             : std::string(kMissing);
}

Grid make_grid(const Table& table, Footnotes& footnotes) {
  const Scale time = time_scale(table.rows);
  const Scale rate = rate_scale(table.rows);
  const Scale percent{"%", 100, 1};
  const std::string step = fmt::format("step time, {}", time.unit);
  Grid grid({{"", "case"},
             {"", "ranks"},
             {step, "p50"},
             {step, "p75"},
             {step, "p90"},
             {step, "p95"},
             {"examples/s", "per rank"},
             {"examples/s", "all ranks"},
             {"efficiency", "%"},
             {"exposed comm.", std::string(time.unit)},
             {"wire", "per step"},
             {"", "notes"}});
  for (const Row& row : table.rows) {
    const std::string label = printable(row.label);
    const std::string ranks = fmt::to_string(row.configuration.ranks);
    if (row.failed()) {
      grid.add_sentence(
          {label, ranks},
          printable(
              row.errors.empty()
                  ? "no samples"
                  : fmt::format("failed: {}", fmt::join(row.errors, "; "))));
      continue;
    }
    const stats::Percentiles& p = row.step_s->percentiles;
    grid.add_row(
        {label,
         ranks,
         time.show(p.p50),
         time.show(p.p75),
         time.show(p.p90),
         time.show(p.p95),
         rate.show(row.examples_per_s_per_rank()),
         row.examples_per_s ? rate.show(row.examples_per_s->value)
                            : std::string(kMissing),
         row.baseline == row.label ? "baseline" : percent.show(row.efficiency),
         time.show(row.exposed_s),
         wire_bytes(row),
         footnotes.marks(row)});
  }
  return grid;
}

// What the brackets stand for, said of the estimates that are shown.
std::string interval_words(const std::vector<Row>& rows) {
  bool within_run = false;
  bool over_runs = false;
  for (const Row& row : rows) {
    for (const auto& estimate : {row.efficiency, row.exposed_s}) {
      if (estimate && estimate->interval) {
        const bool runs = estimate->basis == stats::Basis::kRuns;
        (runs ? over_runs : within_run) = true;
      }
    }
  }
  if (within_run) {
    return "95 % interval from the steps inside the runs; another run may lie "
           "outside (give --runs 3 or more)";
  }
  return over_runs ? "95 % interval over repeated runs" : "";
}

std::string plural(std::size_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

// "10 steps of 1 run", or all of them where cases differ.
std::string sample_words(const std::vector<Row>& rows) {
  std::set<std::string> words;
  for (const Row& row : rows) {
    words.insert(fmt::format("{} of {}",
                             plural(row.step_s->steps, "step"),
                             plural(row.step_s->runs, "run")));
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

bool any(const std::vector<Row>& rows, bool (*holds)(const Row& row)) {
  return std::any_of(rows.begin(), rows.end(), holds);
}

// What the columns mean, for the rows that have figures in them.
std::string explain(const std::vector<Row>& rows) {
  if (rows.empty()) {
    return "";
  }
  std::string text =
      hanging("step time   ",
              "of the slowest rank in each step; percentiles over " +
                  sample_words(rows));
  text += hanging("examples/s  ", "examples / wall time of all measured steps");
  if (const std::string words = efficiency_words(rows); !words.empty()) {
    text += hanging("efficiency  ", words);
  }
  if (any(rows, [](const Row& row) { return row.exposed_s.has_value(); })) {
    text += hanging("exposed     ",
                    "median step minus that of the same step without "
                    "communication, all ranks computing at once");
  }
  if (const std::string words = interval_words(rows); !words.empty()) {
    text += hanging("[low, high] ", words);
  }
  const bool planned = any(rows, [](const Row& row) {
    return !row.wire_bytes_per_step && row.planned_wire_bytes_per_step;
  });
  text += hanging("wire        ",
                  std::string("bytes that a rank gives the engine in a step") +
                      (planned ? "; ~ by the plan, not counted" : ""));
  return text;
}

}  // namespace

std::string render_table(std::span<const record::RunRecord> records) {
  std::string text;
  Footnotes footnotes;
  std::vector<Row> measured;
  for (const Table& table : summarize(records)) {
    text += heading(table) + "\n" + make_grid(table, footnotes).text() + "\n";
    std::copy_if(table.rows.begin(),
                 table.rows.end(),
                 std::back_inserter(measured),
                 [](const Row& row) { return !row.failed(); });
  }
  return text + explain(measured) + footnotes.text();
}

}  // namespace paceline::report
