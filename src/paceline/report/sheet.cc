// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/sheet.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/report/format.h"
#include "paceline/report/scale.h"

namespace paceline::report {
namespace {

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

// Of a strategy that has a bucket its canonical text says which; the key
// beside it is only what a strategy without one would have taken.
std::string bucket_of(const record::Configuration& c) {
  constexpr std::string_view kKey = "bucket-mb=";
  const std::size_t at = c.strategy.find(kKey);
  if (at == std::string::npos) {
    return "";
  }
  const std::string rest = c.strategy.substr(at + kKey.size());
  return fmt::format("bucket {} MiB", rest.substr(0, rest.find_first_of(",+")));
}

std::optional<std::string> common_bucket(const std::vector<Row>& rows) {
  std::vector<Row> with_bucket;
  std::ranges::copy_if(
      rows, std::back_inserter(with_bucket), [](const Row& row) {
        return !bucket_of(row.configuration).empty();
      });
  return with_bucket.empty() ? std::nullopt : common(with_bucket, bucket_of);
}

// Of predictions, whose names do not tell it; those of runs are called by it.
std::optional<std::string> common_strategy(const std::vector<Row>& rows) {
  const bool named = std::ranges::any_of(rows, [](const Row& row) {
    return row.source != record::Source::kPredicted ||
           row.configuration.label.empty();
  });
  return named ? std::nullopt
               : common(rows, [](const record::Configuration& c) {
                   return c.strategy;
                 });
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
  add(common_strategy(rows));
  add(common(rows, [](const Configuration& c) {
    return c.image_size == 0 ? ""
                             : fmt::format("{0} x {0} pixels", c.image_size);
  }));
  add(common(rows, [](const Configuration& c) {
    return fmt::format("{} on {}", c.dtype, c.device);
  }));
  add(common(rows, [](const Configuration& c) { return c.engine; }));
  add(common(rows, [](const Configuration& c) {
    return c.cluster.empty() ? "" : fmt::format("cluster {}", c.cluster);
  }));
  add(common(rows, [](const Configuration& c) {
    return c.link.empty() ? "" : fmt::format("link {}", c.link);
  }));
  add(common(rows, [](const Configuration& c) {
    return c.replay.empty() ? "" : fmt::format("replay of {}", c.replay);
  }));
  add(common(rows, [](const Configuration& c) {
    return c.stretch == 1 ? "" : fmt::format("stretched {} times", c.stretch);
  }));
  add(common_bucket(rows));
  add(common(rows, [](const Configuration& c) {
    return c.threads == 0 ? ""
                          : fmt::format("{} {} per rank",
                                        c.threads,
                                        c.threads == 1 ? "thread" : "threads");
  }));
  return printable(fmt::format("{}, batch {} per rank: {}",
                               table.model,
                               table.batch_size,
                               fmt::join(facts, ", ")));
}

// Numbers the distinct warnings in the order in which they are met.
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
  std::vector<std::string> take() { return std::move(sentences_); }

 private:
  std::size_t number_of(const std::string& text) {
    const std::string sentence = printable(text);
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

/// The columns of one table, and the cells of a row in them.
class Writer {
 public:
  Writer(const Table& table,
         Detail detail,
         std::string_view within_run_mark,
         Footnotes& footnotes)
      : time_(time_scale(table.rows)),
        rate_(rate_scale(table.rows)),
        share_(percent_scale()),
        full_(detail == Detail::kFull),
        footnotes_(footnotes) {
    for (Scale* scale : {&time_, &rate_, &share_}) {
      scale->within_run_mark = within_run_mark;
    }
  }

  std::vector<Grid::Column> columns() const {
    const std::string step = fmt::format("step time, {}", time_.unit);
    std::vector<Grid::Column> columns{{"", "case"}, {"", "ranks"}};
    if (full_) {
      columns.push_back({step, "median"});
    }
    columns.insert(columns.end(),
                   {{step, "p50"},
                    {step, "p75"},
                    {step, "p90"},
                    {step, "p95"},
                    {"examples/s", "per rank"},
                    {"examples/s", "all ranks"},
                    {"efficiency", "%"},
                    {"exposed comm.", std::string(time_.unit)},
                    {"wire", "per step"}});
    if (full_) {
      columns.insert(columns.end(),
                     {{"peak memory", "per rank"},
                      {"samples", "runs"},
                      {"samples", "steps"}});
    }
    columns.push_back({"", "notes"});
    return columns;
  }

  Sheet::Line line(const Row& row) const {
    std::vector<std::string> cells{printable(row.label),
                                   fmt::to_string(row.configuration.ranks)};
    if (row.failed()) {
      return {std::move(cells),
              printable(row.errors.empty()
                            ? "no samples"
                            : fmt::format("failed: {}",
                                          fmt::join(row.errors, "; ")))};
    }
    add_times(row, cells);
    cells.push_back(rate_.show(row.examples_per_s_per_rank()));
    cells.push_back(all_ranks(row));
    cells.push_back(row.baseline == row.label ? "baseline"
                                              : share_.show(row.efficiency));
    cells.push_back(time_.show(row.exposed_s));
    cells.push_back(wire_bytes(row));
    if (full_) {
      cells.push_back(row.peak_memory_bytes
                          ? format_bytes(*row.peak_memory_bytes)
                          : std::string(kMissing));
      cells.push_back(fmt::to_string(row.step_s->runs));
      cells.push_back(fmt::to_string(row.step_s->steps));
    }
    cells.push_back(footnotes_.marks(row));
    return {.cells = std::move(cells)};
  }

 private:
  void add_times(const Row& row, std::vector<std::string>& cells) const {
    const stats::Percentiles& p = row.step_s->percentiles;
    if (full_) {
      cells.push_back(time_.show(std::optional(row.step_s->median)));
    }
    for (const double seconds : {p.p50, p.p75, p.p90, p.p95}) {
      cells.push_back(time_.show(seconds));
    }
  }
  std::string all_ranks(const Row& row) const {
    if (full_ || !row.examples_per_s) {
      return rate_.show(row.examples_per_s);
    }
    return rate_.show(row.examples_per_s->value);
  }

  Scale time_;
  Scale rate_;
  Scale share_;
  bool full_ = false;
  Footnotes& footnotes_;
};

}  // namespace

Sheets make_sheets(const std::vector<Table>& tables, Detail detail) {
  Sheets sheets;
  Footnotes footnotes;
  std::vector<Row> measured;
  for (const Table& table : tables) {
    std::copy_if(table.rows.begin(),
                 table.rows.end(),
                 std::back_inserter(measured),
                 [](const Row& row) { return !row.failed(); });
  }
  const Bases bases = bases_of(measured, detail);
  for (const Table& table : tables) {
    const Writer writer(table, detail, bases.mark(), footnotes);
    Sheet& sheet = sheets.tables.emplace_back();
    sheet.heading = heading(table);
    sheet.columns = writer.columns();
    for (const Row& row : table.rows) {
      sheet.lines.push_back(writer.line(row));
    }
  }
  sheets.meanings = meanings_of(measured, detail);
  sheets.notes = footnotes.take();
  return sheets;
}

}  // namespace paceline::report
