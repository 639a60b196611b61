// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "paceline/cli/advise_output.h"

namespace paceline::cli {
namespace {

using plan::seconds_of;
using predict::Advice;
using predict::CodecAdvice;
using predict::PlacedTables;
using report::Fields;
using report::Json;

Fields<Advice> advice_fields() {
  const auto bar_end = [](plan::Picoseconds Advice::*end) {
    return [end](const Advice& it) {
      return it.bar.known() ? Json(seconds_of(it.*end)) : Json();
    };
  };
  return {
      {"strategy", [](const Advice& it) { return it.configuration.strategy; }},
      {"step_s", [](const Advice& it) { return seconds_of(it.step); }},
      {"error_bar_low_s", bar_end(&Advice::low)},
      {"error_bar_high_s", bar_end(&Advice::high)},
      {"error_bar_examined",
       [](const Advice& it) {
         return it.bar.known() ? Json(it.bar.validated) : Json();
       }},
      {"error_bar_remark", [](const Advice& it) { return it.bar.why; }},
      {"exposed_communication_s",
       [](const Advice& it) { return seconds_of(it.exposed); }},
      {"not_told_from_fastest", [](const Advice& it) { return it.like_best; }},
      {"caution",
       [](const Advice& it) { return predict::caution(it.guarantee); }}};
}

Fields<CodecAdvice> codec_fields() {
  return {{"codec", [](const CodecAdvice& it) { return it.codec; }},
          {"coding_s_per_step",
           [](const CodecAdvice& it) { return seconds_of(it.coding); }},
          {"wire_bytes_per_rank_per_step",
           [](const CodecAdvice& it) { return it.bytes; }},
          // JSON has no infinity: coding that takes no time has null.
          {"break_even_bits_per_s",
           [](const CodecAdvice& it) {
             return it.break_even && std::isfinite(*it.break_even)
                        ? Json(*it.break_even * 8)
                        : Json();
           }},
          {"strategy", [](const CodecAdvice& it) { return it.strategy; }},
          {"step_s", [](const CodecAdvice& it) { return seconds_of(it.step); }},
          {"exposed_communication_s",
           [](const CodecAdvice& it) { return seconds_of(it.exposed); }},
          {"change", [](const CodecAdvice& it) { return it.change; }},
          {"undecided", [](const CodecAdvice& it) { return it.like_none; }}};
}

Fields<PlacedTables> placement_fields() {
  const auto of_host = [](auto value) {
    return [value](const PlacedTables& it) {
      return it.fullest_host ? Json((*it.fullest_host).*value) : Json();
    };
  };
  return {
      {"placement",
       [](const PlacedTables& it) {
         return strategies::name_of(it.placement);
       }},
      {"tables_on",
       [](const PlacedTables& it) {
         return it.colocated ? "trainers" : "servers";
       }},
      {"ranks", [](const PlacedTables& it) { return it.ranks; }},
      {"step_s", [](const PlacedTables& it) { return seconds_of(it.step); }},
      {"examples_per_s",
       [](const PlacedTables& it) { return it.samples_per_s; }},
      {"fullest_server_bytes",
       [](const PlacedTables& it) { return it.server_bytes; }},
      {"table_bytes", [](const PlacedTables& it) { return it.table_bytes; }},
      {"share_of_step", [](const PlacedTables& it) { return it.share; }},
      {"fullest_host", of_host(&predict::HostUse::host)},
      {"fullest_host_bytes", of_host(&predict::HostUse::bytes)},
      {"fullest_host_memory_bytes", of_host(&predict::HostUse::memory_bytes)},
      {"fits",
       [](const PlacedTables& it) {
         return it.fullest_host ? Json(it.fits()) : Json();
       }},
      {"not_told_from_fastest",
       [](const PlacedTables& it) { return it.like_best; }},
      {"error_bar_remark", [](const PlacedTables& it) { return it.bar.why; }}};
}

template <class T, class Rows>
Json array_of(const Fields<T>& fields, const Rows& rows) {
  Json all = Json::array();
  for (const T& row : rows) {
    all.push_back(report::json_object(fields, row));
  }
  return all;
}

Json unfit_json(const char* what, const std::vector<predict::Unfit>& unfit) {
  Json all = Json::array();
  for (const predict::Unfit& one : unfit) {
    all.push_back({{what, one.strategy}, {"error", one.why}});
  }
  return all;
}

Json size_json(double mebibytes) {
  return mebibytes;
}

Json size_json(const predict::PartitionSize& size) {
  return {{"partition_mb", size.partition_mb}, {"credit_mb", size.credit_mb}};
}

template <class Size>
Json sizes_json(const std::vector<predict::SizeAdvice<Size>>& sizes) {
  Json all = Json::array();
  for (const auto& it : sizes) {
    Json like = Json::array();
    for (const Size& size : it.like) {
      like.push_back(size_json(size));
    }
    all.push_back({{"strategy", it.strategy},
                   {"best", size_json(it.best)},
                   {"not_told_apart", like},
                   {"worst", size_json(it.worst)},
                   {"cost_of_worst", it.worst_ratio - 1}});
  }
  return all;
}

/// Fusion without a codec, then with each; empty: no codec was timed.
Json codecs_json(const predict::CodecTable& table) {
  std::vector<CodecAdvice> rows;
  if (!table.rows.empty()) {
    rows.push_back({.codec = "none",
                    .bytes = table.bytes,
                    .strategy = table.strategy,
                    .step = table.step,
                    .exposed = table.exposed});
  }
  rows.insert(rows.end(), table.rows.begin(), table.rows.end());
  return array_of(codec_fields(), rows);
}

}  // namespace

report::Table advice_csv(const predict::AdviceTable& table) {
  const Fields<Advice> fields = advice_fields();
  report::Table lines = report::field_table(fields);
  lines.columns.push_back({.name = "errors"});
  for (const Advice& row : table.rows) {
    lines.rows.push_back(report::field_row(fields, row));
    lines.rows.back().cells.emplace_back();
  }
  for (const predict::Unfit& unfit : table.unfit) {
    std::vector<std::string> cells(lines.columns.size());
    cells.front() = unfit.strategy;
    cells.back() = unfit.why;
    lines.rows.push_back({.cells = std::move(cells)});
  }
  return lines;
}

Json advice_json(const predict::AdviceTable& table,
                 const predict::CodecTable& codecs) {
  return {{"version", 1},
          {"strategies", array_of(advice_fields(), table.rows)},
          {"unfit", unfit_json("strategy", table.unfit)},
          {"bucket_mb", sizes_json(table.buckets)},
          {"partitions", sizes_json(table.partitions)},
          {"codecs", codecs_json(codecs)},
          {"unfit_codecs", unfit_json("codec", codecs.unfit)},
          {"warnings", report::warnings_json(table.warnings)}};
}

report::Table placements_csv(std::span<const PlacedTables> ranked) {
  const Fields<PlacedTables> fields = placement_fields();
  report::Table lines = report::field_table(fields);
  for (const PlacedTables& row : ranked) {
    lines.rows.push_back(report::field_row(fields, row));
  }
  return lines;
}

Json placements_json(std::span<const PlacedTables> ranked) {
  return {{"version", 1}, {"placements", array_of(placement_fields(), ranked)}};
}

}  // namespace paceline::cli
