// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "paceline/cli/advise_output.h"
#include "paceline/report/result_column.h"

namespace paceline::cli {
namespace {

using predict::PlacedTables;
using report::Json;
using report::Table;

/// Where a table lies, servers or trainers counted from 0.
std::string place_of(const strategies::EmbeddingJob& job, const PlacedTables& placed, int table) {
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
Table embeddings_table(const PlacedTables& best, const strategies::EmbeddingJob& job) {
  Table tables{.columns = {{.name = "table", .align = report::Align::kLeft},
                           {.name = "lies on", .align = report::Align::kLeft},
                           {.name = "memory", .unit = "MB"},
                           {.name = "its share", .unit = "% of the step"}}};
  for (int table = 0; table < job.tables; ++table) {
    tables.rows.push_back({.cells = {fmt::format("{}", table), place_of(job, best, table),
                                     megabytes(best.table_bytes),
                                     fmt::format("{:.1f}", best.share * 100 / job.tables)}});
  }
  tables.text =
      "its share of the critical path: in equal parts what the step is longer by; tables are alike "
      "and\nare looked up together; 0.0: their rows have come when the dense gradients are reduced";
  return tables;
}

std::string fit_text(std::span<const PlacedTables> ranked) {
  if (!ranked.front().fullest_host) {
    return "whether tables fit is not checked: rows lie in the hosts' memory, and the cluster file "
           "does not say hosts.memory";
  }
  const PlacedTables& last = ranked.back();
  return last.fits() ? "tables fit into the hosts' memory"
                     : fmt::format("! does not fit: {} MB on host {}, which has {} MB",
                                   megabytes(last.fullest_host->bytes), last.fullest_host->host,
                                   megabytes(last.fullest_host->memory_bytes));
}

/// `checked`: whether it is known that tables fit.
report::ResultColumns<PlacedTables> placement_columns(bool checked) {
  using predict::HostUse;
  constexpr auto kHost = &PlacedTables::fullest_host;
  const auto placement_of = [](const PlacedTables& it) {
    return std::string(strategies::name_of(it.placement));
  };
  const auto holder_of = [](const PlacedTables& it) {
    return it.colocated ? "trainers" : "servers";
  };
  report::ResultColumns<PlacedTables> columns;
  columns.add({.name = "placement", .align = report::Align::kLeft}).data("placement", placement_of);
  columns.add({.name = "on", .align = report::Align::kLeft}).data("tables_on", holder_of);
  columns.add({.name = "ranks"}).data("ranks", &PlacedTables::ranks);
  columns.add({.name = "step", .unit = "ms"})
      .cell([](const PlacedTables& it) {
        return fmt::format("{:.3f}", plan::milliseconds_of(it.step));
      })
      .data("step_s", &PlacedTables::step, plan::seconds_of);
  columns.add({.name = "examples/s"})
      .cell([](const PlacedTables& it) { return fmt::format("{:.0f}", it.samples_per_s); })
      .data("examples_per_s", &PlacedTables::samples_per_s);
  columns.add({.name = "fullest of these", .unit = "MB"})
      .cell([](const PlacedTables& it) { return megabytes(it.server_bytes); })
      .data("fullest_server_bytes", &PlacedTables::server_bytes)
      .data("table_bytes", &PlacedTables::table_bytes);
  columns.add({.name = "tables", .unit = "% of the step"})
      .cell([](const PlacedTables& it) { return fmt::format("{:.1f}", it.share * 100); })
      .data("share_of_step", &PlacedTables::share);
  columns.add({.name = "fullest host", .unit = "% of its memory"})
      .shown(checked)
      .cell([](const PlacedTables& it) {
        return it.fullest_host ? fmt::format("{:.3g}", it.fullest_host->share() * 100) : "-";
      })
      .data("fullest_host", kHost, &HostUse::host)
      .data("fullest_host_bytes", kHost, &HostUse::bytes)
      .data("fullest_host_memory_bytes", kHost, &HostUse::memory_bytes)
      .data("fits",
            [](const PlacedTables& it) { return it.fullest_host ? Json(it.fits()) : Json(); });
  columns.add({.name = "", .align = report::Align::kLeft})
      .place(-1)  // in front of all
      .cell([](const PlacedTables& it) { return it.like_best ? " *"
                                                : it.fits()  ? ""
                                                             : " !"; })
      .data("not_told_from_fastest", &PlacedTables::like_best);
  columns.data("error_bar_remark", &PlacedTables::bar, &predict::ErrorBar::why);
  return columns;
}

/// The first `top` placements (0: all), and how sure they are.
Table placements_table(std::span<const PlacedTables> ranked, int top) {
  const std::size_t count =
      top > 0 ? std::min(static_cast<std::size_t>(top), ranked.size()) : ranked.size();
  Table placements =
      placement_columns(ranked.front().fullest_host.has_value()).table(ranked.first(count));
  placements.text =
      "tables: what the step is longer by than that of the same trainers and dense layers alone";
  if (count < ranked.size()) {
    placements.text += fmt::format("; {} more: --top 0 shows all", ranked.size() - count);
  }
  const std::string& no_bars = ranked.front().bar.why;
  placements.text += fmt::format(
      "\n* not told apart: at most {:.1f} % slower than the fastest, which predictions of "
      "published pairs\nof strategies do not tell apart; of these fewest ranks, then least memory "
      "come first\n{}{}{}",
      predict::placements_distinguishable_by() * 100, fit_text(ranked),
      no_bars.empty() ? "" : "\nno error bars: ", no_bars);
  return placements;
}

}  // namespace

report::CommandOutput placements_output(std::span<const PlacedTables> ranked,
                                        const strategies::EmbeddingJob& job, int top) {
  const auto fields = placement_columns(false).fields();
  return {.tables = {placements_table(ranked, top), embeddings_table(ranked.front(), job)},
          .csv = fields.table(ranked),
          .json = {{"version", 1}, {"placements", fields.array(ranked)}}};
}

}  // namespace paceline::cli
