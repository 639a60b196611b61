// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "paceline/cli/advise_output.h"
#include "paceline/records/json.h"

namespace paceline::cli {
namespace {

using plan::seconds_of;
using predict::Advice;
using predict::CodecAdvice;
using predict::PlacedTables;
using report::Fields;
using report::Json;

// JSON has no infinity: coding that takes no time has null.
Json bits_of(double bytes) {
  return std::isfinite(bytes) ? Json(bytes * 8) : Json();
}

Fields<Advice> advice_fields() {
  const auto known = [](auto value) {
    return [value](const Advice& it) {
      return it.bar.known() ? Json(value(it)) : Json();
    };
  };
  Fields<Advice> fields;
  fields.add(
      "strategy", &Advice::configuration, &records::Configuration::strategy);
  fields.add("step_s", &Advice::step, seconds_of);
  fields.add("error_bar_low_s",
             known([](const Advice& it) { return seconds_of(it.low); }));
  fields.add("error_bar_high_s",
             known([](const Advice& it) { return seconds_of(it.high); }));
  fields.add("error_bar_validated",
             known([](const Advice& it) { return it.bar.validated; }));
  fields.add("error_bar_remark", &Advice::bar, &predict::ErrorBar::why);
  fields.add("exposed_communication_s", &Advice::exposed, seconds_of);
  fields.add("not_told_from_fastest", &Advice::like_best);
  fields.add("caution", &Advice::guarantee, predict::caution);
  return fields;
}

Fields<CodecAdvice> codec_fields() {
  Fields<CodecAdvice> fields;
  fields.add("codec", &CodecAdvice::codec);
  fields.add("coding_s_per_step", &CodecAdvice::coding, seconds_of);
  fields.add("wire_bytes_per_rank_per_step", &CodecAdvice::bytes);
  fields.add("break_even_bits_per_s", &CodecAdvice::break_even, bits_of);
  fields.add("strategy", &CodecAdvice::strategy);
  fields.add("step_s", &CodecAdvice::step, seconds_of);
  fields.add("exposed_communication_s", &CodecAdvice::exposed, seconds_of);
  fields.add("change", &CodecAdvice::change);
  fields.add("undecided", &CodecAdvice::like_none);
  return fields;
}

Fields<PlacedTables> placement_fields() {
  using predict::HostUse;
  constexpr auto kHost = &PlacedTables::fullest_host;
  Fields<PlacedTables> fields;
  fields.add("placement", &PlacedTables::placement, [](auto placement) {
    return strategies::name_of(placement);
  });
  fields.add("tables_on", [](const PlacedTables& it) {
    return it.colocated ? "trainers" : "servers";
  });
  fields.add("ranks", &PlacedTables::ranks);
  fields.add("step_s", &PlacedTables::step, seconds_of);
  fields.add("examples_per_s", &PlacedTables::samples_per_s);
  fields.add("fullest_server_bytes", &PlacedTables::server_bytes);
  fields.add("table_bytes", &PlacedTables::table_bytes);
  fields.add("share_of_step", &PlacedTables::share);
  fields.add("fullest_host", kHost, &HostUse::host);
  fields.add("fullest_host_bytes", kHost, &HostUse::bytes);
  fields.add("fullest_host_memory_bytes", kHost, &HostUse::memory_bytes);
  fields.add("fits", [](const PlacedTables& it) {
    return it.fullest_host ? Json(it.fits()) : Json();
  });
  fields.add("not_told_from_fastest", &PlacedTables::like_best);
  fields.add("error_bar_remark", &PlacedTables::bar, &predict::ErrorBar::why);
  return fields;
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
  return codec_fields().array(rows);
}

}  // namespace

report::Table advice_csv(const predict::AdviceTable& table) {
  report::Table lines = advice_fields().table(table.rows);
  lines.columns.push_back({.name = "errors"});
  for (report::TableRow& row : lines.rows) {
    row.cells.emplace_back();
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
          {"strategies", advice_fields().array(table.rows)},
          {"unfit", unfit_json("strategy", table.unfit)},
          {"bucket_mb", sizes_json(table.buckets)},
          {"partitions", sizes_json(table.partitions)},
          {"codecs", codecs_json(codecs)},
          {"unfit_codecs", unfit_json("codec", codecs.unfit)},
          {"warnings", records::to_json(table.warnings)}};
}

report::Table placements_csv(std::span<const PlacedTables> ranked) {
  return placement_fields().table(ranked);
}

Json placements_json(std::span<const PlacedTables> ranked) {
  return {{"version", 1}, {"placements", placement_fields().array(ranked)}};
}

}  // namespace paceline::cli
