// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/cli/advise_output.h"

namespace paceline::cli {
namespace {

using plan::milliseconds_of;
using report::Table;

constexpr std::string_view kNotValidated = "not validated";

/// What a reader must know of a row beside its numbers.
std::string remark_of(const predict::Advice& row) {
  std::vector<std::string_view> words;
  if (row.bar.known() && !row.bar.validated) {
    words.emplace_back(kNotValidated);
  }
  if (const auto caution = predict::caution(row.guarantee); !caution.empty()) {
    words.push_back(caution);
  }
  return words.empty() ? "" : fmt::format("  ({})", fmt::join(words, "; "));
}

/// What the intervals of the rows mean, or why there are none.
std::string bars_text(std::span<const predict::Advice> rows) {
  const auto barred = std::ranges::find_if(
      rows, [](const predict::Advice& row) { return row.bar.known(); });
  if (barred == rows.end()) {
    return rows.front().bar.why.empty()
               ? ""
               : fmt::format("no error bars: {}", rows.front().bar.why);
  }
  const bool validated = std::ranges::any_of(
      rows, [](const predict::Advice& row) { return row.bar.validated; });
  const auto apart =
      predict::distinguishable_by(rows.front().bar, rows.front().bar);
  return fmt::format(
      "* cannot be told from the first: {}{}",
      apart ? fmt::format("at most {:.1f} % slower, which published pairs of "
                          "such strategies do not tell apart, or of another "
                          "kind with an interval that overlaps",
                          *apart * 100)
            : "their intervals overlap",
      validated ? "\n[]: 9 of 10 published cells of such strategies are within"
                : "");
}

/// Why rows are marked as not validated; empty: none is.
std::string not_validated_text(std::span<const predict::Advice> rows) {
  std::vector<std::string_view> whys;
  bool largest = false;
  for (const predict::Advice& row : rows) {
    const predict::ErrorBar& bar = row.bar;
    if (!bar.known() || bar.validated) {
      continue;
    }
    largest = largest || bar.of != nullptr;
    add_once(whys, bar.why);
  }
  return whys.empty()
             ? ""
             : fmt::format(
                   "\n{}: no published table tells of {}{}",
                   kNotValidated,
                   fmt::join(whys, ", nor of "),
                   largest ? "; the largest known error stands there" : "");
}

/// The meaning of the marks that the first `count` rows bear.
std::string marks_text(const predict::AdviceTable& table, std::size_t count) {
  const std::span rows = std::span(table.rows).first(count);
  return bars_text(rows) + not_validated_text(rows);
}

/// The step with its error; a row without a bar has none.
std::string interval_text(const predict::Advice& row) {
  return row.bar.known() ? fmt::format("[{:.2f}, {:.2f}]",
                                       milliseconds_of(row.low),
                                       milliseconds_of(row.high))
                         : "-";
}

std::string megabytes(std::int64_t bytes) {
  return fmt::format("{:.2f}", static_cast<double>(bytes) * 1e-6);
}

/// The first `top` rows (0: all), what their marks mean, and what cannot be.
Table strategies_table(const predict::AdviceTable& table, int top) {
  const std::size_t all = table.rows.size();
  const std::size_t count =
      top > 0 ? std::min(static_cast<std::size_t>(top), all) : all;
  Table shown{.columns = {{.name = "", .align = report::Align::kLeft},
                          {.name = "step", .unit = "ms"},
                          {.name = "[with its error]"},
                          {.name = "exposed", .unit = "ms"},
                          {.name = "strategy", .align = report::Align::kLeft}}};
  for (std::size_t i = 0; i < count; ++i) {
    const predict::Advice& row = table.rows[i];
    shown.rows.push_back(
        {.cells = {row.like_best ? " *" : "",
                   fmt::format("{:.2f}", milliseconds_of(row.step)),
                   interval_text(row),
                   fmt::format("{:.2f}", milliseconds_of(row.exposed)),
                   row.configuration.strategy + remark_of(row)}});
  }
  for (const predict::Unfit& unfit : table.unfit) {
    shown.rows.push_back(
        {.cells = {"", "-", "-", "-", unfit.strategy + ": " + unfit.why}});
  }
  shown.text = marks_text(table, count);
  if (count < all) {
    shown.text =
        fmt::format("{} more, the last {:.2f} ms: --top 0 shows all{}{}",
                    all - count,
                    milliseconds_of(table.rows.back().step),
                    shown.text.empty() ? "" : "\n\n",
                    shown.text);
  }
  return shown;
}

std::string pays_text(const predict::CodecAdvice& row) {
  const double change = row.change;
  const std::string percent = fmt::format("{:.1f} %", std::abs(100 * change));
  if (percent == "0.0 %") {
    return "no difference";
  }
  if (row.like_none) {
    return fmt::format("undecided, {}{}", change < 0 ? "-" : "+", percent);
  }
  return change < 0 ? fmt::format("yes, -{}", percent)
                    : fmt::format("no, +{}", percent);
}

/// Whether codecs pay whose coding times were measured; no rows: none were.
Table codecs_table(const predict::CodecTable& table) {
  if (table.rows.empty()) {
    return {};
  }
  Table shown{.columns = {{.name = "codec", .align = report::Align::kLeft},
                          {.name = "coding", .group = "a step", .unit = "ms"},
                          {.name = "sent", .group = "a step", .unit = "MB"},
                          {.name = "break-even", .unit = "Gbit/s"},
                          {.name = "step", .group = "fusion", .unit = "ms"},
                          {.name = "exposed", .group = "fusion", .unit = "ms"},
                          {.name = "pays", .group = "fusion"}}};
  shown.rows.push_back(
      {.cells = {"none",
                 "0.00",
                 megabytes(table.bytes),
                 "-",
                 fmt::format("{:.2f}", milliseconds_of(table.step)),
                 fmt::format("{:.2f}", milliseconds_of(table.exposed)),
                 ""}});
  for (const predict::CodecAdvice& row : table.rows) {
    shown.rows.push_back(
        {.cells = {row.codec,
                   fmt::format("{:.2f}", milliseconds_of(row.coding)),
                   megabytes(row.bytes),
                   row.break_even
                       ? fmt::format("{:.3g}", *row.break_even * 8e-9)
                       : "saves none",
                   fmt::format("{:.2f}", milliseconds_of(row.step)),
                   fmt::format("{:.2f}", milliseconds_of(row.exposed)),
                   pays_text(row)}});
  }
  for (const predict::Unfit& unfit : table.unfit) {
    shown.rows.push_back(
        {.cells = {unfit.strategy, "-", "-", "-", "-", "-", unfit.why}});
  }
  shown.legend =
      "coding: as `paceline profile --codecs` measured it, on one core "
      "that the layers leave\nfree; break-even: the link rate below which "
      "it takes less time than the\nbytes that it saves; exposed: what "
      "communication adds to "
      "the predicted step, all that a\ncodec can save; pays: that step is "
      "shorter than without, each in its best bucket size, and\nby how "
      "much; undecided: the error bars do not tell the two apart";
  return shown;
}

std::string text_of(double mebibytes) {
  return fmt::format("{:g}", mebibytes);
}

std::string text_of(const predict::PartitionSize& size) {
  return fmt::format("{:g}/{:g}", size.partition_mb, size.credit_mb);
}

/// A row for each strategy of which several sizes were tried.
template <class Size>
Table sizes_table(const std::vector<predict::SizeAdvice<Size>>& sizes,
                  const std::string& what) {
  Table shown{
      .columns = {{.name = "strategy", .align = report::Align::kLeft},
                  {.name = "best", .group = what, .unit = "MiB"},
                  {.name = "not told apart", .group = what, .unit = "MiB"},
                  {.name = "worst", .group = what, .unit = "MiB"},
                  {.name = "", .group = "cost of the worst", .unit = "%"}}};
  for (const auto& it : sizes) {
    if (it.worst == it.best) {
      continue;
    }
    std::vector<std::string> like;
    for (const Size& size : it.like) {
      like.push_back(text_of(size));
    }
    shown.rows.push_back(
        {.cells = {
             it.strategy,
             text_of(it.best),
             like.size() > 1 ? fmt::format("{}", fmt::join(like, ", ")) : "-",
             text_of(it.worst),
             fmt::format("{:+.1f}", (it.worst_ratio - 1) * 100)}});
  }
  return shown;
}

/// Which bucket size each strategy with buckets should have.
Table buckets_table(const predict::AdviceTable& table) {
  Table buckets = sizes_table(table.buckets, "bucket size");
  for (const predict::BucketAdvice& it : table.buckets) {
    if (it.strategy == "ddp" && it.worst != it.best) {
      buckets.text = fmt::format(
          "ddp in PyTorch: DistributedDataParallel(model, bucket_cap_mb={:g})",
          it.best);
    }
  }
  return buckets;
}

/// Where a table lies, servers or trainers counted from 0.
std::string place_of(const strategies::EmbeddingJob& job,
                     const predict::PlacedTables& placed,
                     int table) {
  const auto* rank = placed.colocated ? "trainer" : "server";
  switch (placed.placement) {
    case strategies::TablePlacement::kTable:
      return fmt::format("{} {}", rank, table % job.servers);
    case strategies::TablePlacement::kReplicated:
      return fmt::format("every {}", rank);
    case strategies::TablePlacement::kRowHash:
    case strategies::TablePlacement::kRowRange:
      return fmt::format("a part on each of {} {}s", job.servers, rank);
  }
  return "";
}

/// What a placement does with each table.
Table embeddings_table(const predict::PlacedTables& best,
                       const strategies::EmbeddingJob& job) {
  Table tables{.columns = {{.name = "table", .align = report::Align::kLeft},
                           {.name = "lies on", .align = report::Align::kLeft},
                           {.name = "memory", .unit = "MB"},
                           {.name = "its share", .unit = "% of the step"}}};
  for (int table = 0; table < job.tables; ++table) {
    tables.rows.push_back(
        {.cells = {fmt::format("{}", table),
                   place_of(job, best, table),
                   megabytes(best.table_bytes),
                   fmt::format("{:.1f}", best.share * 100 / job.tables)}});
  }
  tables.text =
      "its share of the critical path: in equal parts what the step is longer "
      "by; tables are alike and\nare looked up together; 0.0: their rows have "
      "come when the dense gradients are reduced";
  return tables;
}

std::string fit_text(std::span<const predict::PlacedTables> ranked) {
  if (!ranked.front().fullest_host) {
    return "whether tables fit is not checked: rows lie in the hosts' memory, "
           "and the cluster file does not say hosts.memory";
  }
  const predict::PlacedTables& last = ranked.back();
  return last.fits()
             ? "tables fit into the hosts' memory"
             : fmt::format("! does not fit: {} MB on host {}, which has {} MB",
                           megabytes(last.fullest_host->bytes),
                           last.fullest_host->host,
                           megabytes(last.fullest_host->memory_bytes));
}

/// The first `top` placements (0: all), and how sure they are.
Table placements_table(std::span<const predict::PlacedTables> ranked, int top) {
  const std::size_t count =
      top > 0 ? std::min(static_cast<std::size_t>(top), ranked.size())
              : ranked.size();
  const bool checked = ranked.front().fullest_host.has_value();
  Table placements{
      .columns = {{.name = "", .align = report::Align::kLeft},
                  {.name = "placement", .align = report::Align::kLeft},
                  {.name = "on", .align = report::Align::kLeft},
                  {.name = "ranks"},
                  {.name = "step", .unit = "ms"},
                  {.name = "examples/s"},
                  {.name = "fullest of these", .unit = "MB"},
                  {.name = "tables", .unit = "% of the step"}}};
  if (checked) {
    placements.columns.push_back(
        {.name = "fullest host", .unit = "% of its memory"});
  }
  for (const predict::PlacedTables& it : ranked.first(count)) {
    placements.rows.push_back(
        {.cells = {it.like_best ? " *"
                   : it.fits()  ? ""
                                : " !",
                   std::string(strategies::name_of(it.placement)),
                   it.colocated ? "trainers" : "servers",
                   fmt::format("{}", it.ranks),
                   fmt::format("{:.3f}", milliseconds_of(it.step)),
                   fmt::format("{:.0f}", it.samples_per_s),
                   megabytes(it.server_bytes),
                   fmt::format("{:.1f}", it.share * 100)}});
    if (checked) {
      placements.rows.back().cells.push_back(
          it.fullest_host
              ? fmt::format("{:.3g}", it.fullest_host->share() * 100)
              : "-");
    }
  }
  placements.text =
      "tables: what the step is longer by than that of the same trainers and "
      "dense layers alone";
  if (count < ranked.size()) {
    placements.text +=
        fmt::format("; {} more: --top 0 shows all", ranked.size() - count);
  }
  const std::string& no_bars = ranked.front().bar.why;
  placements.text += fmt::format(
      "\n* not told apart: at most {:.1f} % slower than the fastest, which "
      "predictions of published pairs\nof strategies do not tell apart; "
      "of these fewest ranks, then least memory come first\n{}{}{}",
      predict::placements_distinguishable_by() * 100,
      fit_text(ranked),
      no_bars.empty() ? "" : "\nno error bars: ",
      no_bars);
  return placements;
}

}  // namespace

std::vector<Table> advice_tables(const predict::AdviceTable& table,
                                 const predict::CodecTable& codecs,
                                 int top) {
  std::vector<Table> tables{strategies_table(table, top),
                            buckets_table(table),
                            sizes_table(table.partitions, "partition/credit"),
                            codecs_table(codecs)};
  std::erase_if(tables, [](const Table& one) { return one.rows.empty(); });
  return tables;
}

std::vector<Table> placement_tables(
    std::span<const predict::PlacedTables> ranked,
    const strategies::EmbeddingJob& job,
    int top) {
  return {placements_table(ranked, top), embeddings_table(ranked.front(), job)};
}

}  // namespace paceline::cli
