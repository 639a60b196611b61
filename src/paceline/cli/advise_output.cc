// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/advise_output.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/records/json.h"
#include "paceline/report/result_column.h"

namespace paceline::cli {
namespace {

using plan::milliseconds_of;
using plan::seconds_of;
using predict::Advice;
using predict::CodecAdvice;
using report::Json;
using report::Table;

constexpr auto kLeft = report::Align::kLeft;
constexpr double kPyTorchBucketMb = 25;
constexpr std::string_view kNotValidated = "not validated";

/// Formats the time in `member` of a row, in ms.
template <class Row>
auto milliseconds(plan::Picoseconds Row::*member) {
  return [member](const Row& row) { return fmt::format("{:.2f}", milliseconds_of(row.*member)); };
}

/// Returns the remarks that a row shows: that its error bar was not validated, and warnings about
/// convergence.
std::string row_remarks_text(const predict::Advice& row) {
  std::vector<std::string_view> words;
  if (row.bar.known() && !row.bar.validated) {
    words.emplace_back(kNotValidated);
  }
  if (const auto caution = predict::caution(row.guarantee); !caution.empty()) {
    words.push_back(caution);
  }
  return words.empty() ? "" : fmt::format("  ({})", fmt::join(words, "; "));
}

/// Returns the legend of the stars and intervals of the rows, or the reason why there are no
/// intervals.
std::string error_bars_legend(std::span<const predict::Advice> rows) {
  const auto barred =
      std::ranges::find_if(rows, [](const predict::Advice& row) { return row.bar.known(); });
  if (barred == rows.end()) {
    return rows.front().bar.why.empty() ? ""
                                        : fmt::format("no error bars: {}", rows.front().bar.why);
  }
  const bool validated =
      std::ranges::any_of(rows, [](const predict::Advice& row) { return row.bar.validated; });
  if (barred->errors) {
    return "* cannot be told from the first: the measured figures leave open which is faster\n[]: "
           "95 % intervals, by the fit to the measured figures and the distance from them";
  }
  const auto apart = predict::least_distinguishable_share(rows.front().bar, rows.front().bar);
  return fmt::format(
      "* cannot be told from the first: {}{}",
      apart ? fmt::format("at most {:.1f} % slower, which published pairs of such strategies do "
                          "not tell apart, or of another kind with an interval that overlaps",
                          *apart * 100)
            : "their intervals overlap",
      validated ? "\n[]: 9 of 10 published cells of such strategies are within" : "");
}

/// Why rows are marked as not validated; empty if no row is.
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
  return whys.empty() ? ""
                      : fmt::format("\n{}: no published table tells of {}{}", kNotValidated,
                                    fmt::join(whys, ", nor of "),
                                    largest ? "; the largest known error stands there" : "");
}

/// Returns the legend of the marks that occur in the first `count` rows.
std::string marks_legend(const predict::AdviceTable& table, std::size_t count) {
  const std::span rows = std::span(table.rows).first(count);
  return error_bars_legend(rows) + not_validated_text(rows);
}

/// The interval of the step time; "-" for a row without an error bar.
std::string interval_text(const predict::Advice& row) {
  return row.bar.known()
             ? fmt::format("[{:.2f}, {:.2f}]", milliseconds_of(row.low), milliseconds_of(row.high))
             : "-";
}

report::ResultColumns<Advice> advice_columns() {
  const auto known = [](auto value) {
    return [value](const Advice& it) { return it.bar.known() ? Json(value(it)) : Json(); };
  };
  report::ResultColumns<Advice> columns;
  columns.data("strategy", &Advice::configuration, &cases::Case::strategy);
  columns.add({.name = "", .align = kLeft}).cell([](const Advice& it) {
    return it.ties_with_best ? " *" : "";
  });
  columns.add({.name = "step", .unit = "ms"})
      .cell(milliseconds(&Advice::step))
      .data("step_s", &Advice::step, seconds_of);
  columns.add({.name = "[with its error]"})
      .cell(interval_text)
      .data("error_bar_low_s", known([](const Advice& it) { return seconds_of(it.low); }))
      .data("error_bar_high_s", known([](const Advice& it) { return seconds_of(it.high); }))
      .data("error_bar_validated", known([](const Advice& it) { return it.bar.validated; }))
      .data("error_bar_remark", &Advice::bar, &predict::ErrorBar::why);
  columns.add({.name = "exposed", .unit = "ms"})
      .cell(milliseconds(&Advice::exposed))
      .data("exposed_communication_s", &Advice::exposed, seconds_of);
  columns.add({.name = "strategy", .align = kLeft}).cell([](const Advice& it) {
    return it.configuration.strategy + row_remarks_text(it);
  });
  columns.data("not_told_from_fastest", &Advice::ties_with_best);
  columns.data("caution", &Advice::guarantee, predict::caution);
  return columns;
}

/// Returns a table of the first `top` strategies (0: all), then of the strategies that cannot be
/// used, with a legend of the marks.
Table strategies_table(const predict::AdviceTable& table, int top) {
  const std::size_t all = table.rows.size();
  const std::size_t count = top > 0 ? std::min(static_cast<std::size_t>(top), all) : all;
  Table shown = advice_columns().table(std::span(table.rows).first(count));
  for (const predict::RejectedCandidate& unfit : table.unfit) {
    shown.rows.push_back({.cells = {"", "-", "-", "-", unfit.strategy + ": " + unfit.why}});
  }
  shown.text = marks_legend(table, count);
  if (count < all) {
    shown.text = fmt::format("{} more, the last {:.2f} ms: --top 0 shows all{}{}", all - count,
                             milliseconds_of(table.rows.back().step),
                             shown.text.empty() ? "" : "\n\n", shown.text);
  }
  return shown;
}

std::string codec_benefit_text(const predict::CodecAdvice& row) {
  const double change = row.change;
  const std::string percent = fmt::format("{:.1f} %", std::abs(100 * change));
  if (percent == "0.0 %") {
    return "no difference";
  }
  if (row.ties_with_no_codec) {
    return fmt::format("undecided, {}{}", change < 0 ? "-" : "+", percent);
  }
  return change < 0 ? fmt::format("yes, -{}", percent) : fmt::format("no, +{}", percent);
}

constexpr std::string_view kNoCodec = "none";

report::ResultColumns<CodecAdvice> codec_columns() {
  report::ResultColumns<CodecAdvice> columns;
  columns.add({.name = "codec", .align = kLeft}).data("codec", &CodecAdvice::codec);
  columns.add({.name = "coding", .group = "a step", .unit = "ms"})
      .cell(milliseconds(&CodecAdvice::coding))
      .data("coding_s_per_step", &CodecAdvice::coding, seconds_of);
  columns.add({.name = "sent", .group = "a step", .unit = "MB"})
      .cell([](const CodecAdvice& it) {
        return fmt::format("{:.2f}", static_cast<double>(it.bytes) * 1e-6);
      })
      .data("wire_bytes_per_rank_per_step", &CodecAdvice::bytes);
  columns.add({.name = "break-even", .unit = "Gbit/s"})
      .cell([](const CodecAdvice& it) {
        return it.break_even_bytes_per_s ? fmt::format("{:.3g}", *it.break_even_bytes_per_s * 8e-9)
                                         : std::string(it.codec == kNoCodec ? "-" : "saves none");
      })
      .data("break_even_bits_per_s", &CodecAdvice::break_even_bytes_per_s,
            [](double bytes) { return report::finite_or_null(bytes * 8); });
  columns.data("strategy", &CodecAdvice::strategy);
  columns.add({.name = "step", .group = "fusion", .unit = "ms"})
      .cell(milliseconds(&CodecAdvice::step))
      .data("step_s", &CodecAdvice::step, seconds_of);
  columns.add({.name = "exposed", .group = "fusion", .unit = "ms"})
      .cell(milliseconds(&CodecAdvice::exposed))
      .data("exposed_communication_s", &CodecAdvice::exposed, seconds_of);
  columns.add({.name = "pays", .group = "fusion"})
      .cell(
          [](const CodecAdvice& it) { return it.codec == kNoCodec ? "" : codec_benefit_text(it); })
      .data("change", &CodecAdvice::change)
      .data("undecided", &CodecAdvice::ties_with_no_codec);
  return columns;
}

/// Rows of fusion without a codec and with each timed codec; empty if no codec was timed.
std::vector<CodecAdvice> codec_rows(const predict::CodecTable& table) {
  std::vector<CodecAdvice> rows = table.rows;
  if (!rows.empty()) {
    rows.insert(rows.begin(), table.plain);
  }
  return rows;
}

/// Returns a table that says whether codecs with measured coding times shorten the step. It has no
/// rows if no codec was measured.
Table codecs_table(const predict::CodecTable& table) {
  if (table.rows.empty()) {
    return {};
  }
  Table shown = codec_columns().table(codec_rows(table));
  for (const predict::RejectedCandidate& unfit : table.unfit) {
    shown.rows.push_back({.cells = {unfit.strategy, "-", "-", "-", "-", "-", unfit.why}});
  }
  shown.legend =
      "coding: as `paceline profile --codecs` measured it, on one core "
      "that the layers leave\nfree; break-even: the link rate below which "
      "it takes less time than the\nbytes that it saves; exposed: what communication adds to the "
      "predicted step, all that a\ncodec can save; pays: that step is shorter than without, each "
      "in its best bucket size, and\nby how much; undecided: the error bars do not tell the two "
      "apart";
  return shown;
}

/// Returns a table of the best bucket size of each strategy for which several bucket sizes were
/// tried.
Table buckets_table(const predict::AdviceTable& table) {
  Table shown{.columns = {{.name = "strategy", .align = kLeft},
                          {.name = "best", .group = "bucket size", .unit = "MiB"},
                          {.name = "not told apart", .group = "bucket size", .unit = "MiB"},
                          {.name = "worst", .group = "bucket size", .unit = "MiB"},
                          {.name = "", .group = "cost of the worst", .unit = "%"}}};
  for (const predict::BucketAdvice& it : table.buckets) {
    if (it.worst == it.best) {
      continue;
    }
    shown.rows.push_back(
        {.cells = {it.strategy, fmt::format("{:g}", it.best),
                   it.like.size() > 1 ? fmt::format("{:g}", fmt::join(it.like, ", ")) : "-",
                   fmt::format("{:g}", it.worst),
                   fmt::format("{:+.1f}", (it.worst_ratio - 1) * 100)}});
    if (it.strategy == "ddp") {
      const bool any = std::ranges::find(it.like, kPyTorchBucketMb) != it.like.end();
      shown.text = fmt::format(
          "ddp in PyTorch: DistributedDataParallel(model{}",
          any ? fmt::format("), whose default bucket_cap_mb={:g} is not told from the best",
                            kPyTorchBucketMb)
              : fmt::format(", bucket_cap_mb={:g})", it.best));
    }
  }
  return shown;
}

Json unfit_json(const char* what, const std::vector<predict::RejectedCandidate>& unfit) {
  Json all = Json::array();
  for (const predict::RejectedCandidate& one : unfit) {
    all.push_back({{what, one.strategy}, {"error", one.why}});
  }
  return all;
}

Json buckets_json(const std::vector<predict::BucketAdvice>& buckets) {
  Json all = Json::array();
  for (const predict::BucketAdvice& it : buckets) {
    all.push_back({{"strategy", it.strategy},
                   {"best", it.best},
                   {"not_told_apart", it.like},
                   {"worst", it.worst},
                   {"cost_of_worst", it.worst_ratio - 1}});
  }
  return all;
}

}  // namespace

report::CommandOutput advice_output(const predict::AdviceTable& table,
                                    const predict::CodecTable& codecs, int top) {
  report::CommandOutput output{
      .tables = {strategies_table(table, top), buckets_table(table), codecs_table(codecs)},
      .csv = advice_columns().fields().table(table.rows),
      .json = {{"version", 1},
               {"strategies", advice_columns().fields().array(table.rows)},
               {"unfit", unfit_json("strategy", table.unfit)},
               {"bucket_mb", buckets_json(table.buckets)},
               {"codecs", codec_columns().fields().array(codec_rows(codecs))},
               {"unfit_codecs", unfit_json("codec", codecs.unfit)},
               {"warnings", records::to_json(table.warnings)}}};
  std::erase_if(output.tables, [](const Table& one) { return one.rows.empty(); });
  return output;
}

}  // namespace paceline::cli
