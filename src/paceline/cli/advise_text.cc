// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/advise_text.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/report/console.h"

namespace paceline::cli {
namespace {

double ms(plan::Picoseconds time) {
  return plan::seconds_of(time) * 1e3;
}

constexpr std::string_view kSimulated = "simulated only";
constexpr std::string_view kNotValidated = "not validated";

/// What a reader must know of a row beside its numbers.
std::string remark_of(const predict::Advice& row) {
  std::vector<std::string_view> words;
  if (!row.runs) {
    words.emplace_back(kSimulated);
  }
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
               : fmt::format("\nno error bars: {}\n", rows.front().bar.why);
  }
  const bool validated = std::ranges::any_of(
      rows, [](const predict::Advice& row) { return row.bar.validated; });
  const auto apart = predict::told_apart_by(rows.front().bar, rows.front().bar);
  return fmt::format(
      "\n* cannot be told from the first: {}\n{}",
      apart ? fmt::format("at most {:.1f} % slower, which published pairs of "
                          "such strategies do not tell apart, or of another "
                          "kind with an interval that overlaps",
                          *apart * 100)
            : "their intervals overlap",
      validated ? "[]: 9 of 10 published cells of such strategies are within\n"
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
    if (std::ranges::find(whys, bar.why) == whys.end()) {
      whys.emplace_back(bar.why);
    }
  }
  return whys.empty()
             ? ""
             : fmt::format(
                   "{}: no published table tells of {}{}\n",
                   kNotValidated,
                   fmt::join(whys, ", nor of "),
                   largest ? "; the largest known error stands there" : "");
}

/// The meaning of the marks that the first `count` rows bear.
std::string marks_text(const predict::AdviceTable& table, std::size_t count) {
  const std::span rows = std::span(table.rows).first(count);
  std::string text = bars_text(rows) + not_validated_text(rows);
  if (std::ranges::any_of(rows, [](const auto& row) { return !row.runs; })) {
    text += fmt::format(
        "{}: messages between two ranks, which `paceline run` does not "
        "perform\n",
        kSimulated);
  }
  return text;
}

/// The step with its error; a row without a bar has none.
std::string interval_text(const predict::Advice& row) {
  return row.bar.known()
             ? fmt::format("[{:.2f}, {:.2f}]", ms(row.low), ms(row.high))
             : "-";
}

/// Seconds as they are printed: hundredths of a millisecond.
long long printed(double seconds) {
  return std::llround(seconds * 1e5);
}

/// Whether all measured steps of `one` are faster than those of `other`.
bool measured_faster(const Verified& one, const Verified& other) {
  return printed(one.slowest_s) < printed(other.fastest_s);
}

/// What measured steps say of the predicted order.  Two whose predictions are
/// printed alike, or whose measured steps overlap, are not told apart.
std::string order_text(const std::vector<Verified>& rows) {
  std::size_t agree = 0, differ = 0;
  for (const Verified& one : rows) {
    for (const Verified& other : rows) {
      if (printed(one.predicted_s) < printed(other.predicted_s)) {
        agree += measured_faster(one, other) ? 1 : 0;
        differ += measured_faster(other, one) ? 1 : 0;
      }
    }
  }
  if (differ > 0) {
    return "; the order differs from that of these predictions";
  }
  return agree > 0 ? "; the order is that of these predictions, as far as they "
                     "can be told apart"
                   : "; none can be told from another";
}

/// Where another than the first of the advice was the fastest for sure.
std::string advised_text(const std::vector<Verified>& rows) {
  const auto fastest =
      std::ranges::min_element(rows, {}, &Verified::measured_s);
  const Verified& first = rows.front();
  return measured_faster(*fastest, first)
             ? fmt::format(
                   "  '{}', which the advice has before it, was {:.1f} "
                   "% slower than '{}'\n",
                   first.strategy,
                   (first.measured_s / fastest->measured_s - 1) * 100,
                   fastest->strategy)
             : "";
}

std::string conclusion_text(const std::vector<Verified>& all) {
  std::vector<Verified> good;
  std::ranges::copy_if(all, std::back_inserter(good), [](const Verified& row) {
    return row.error.empty() && row.valid();
  });
  double worst = 0;
  for (const Verified& row : good) {
    worst = std::max(worst, std::abs(row.predicted_s / row.measured_s - 1));
  }
  if (good.empty()) {
    return "  no valid comparison\n";
  }
  return fmt::format("  largest error {:.1f} %{}\n{}",
                     worst * 100,
                     good.size() < 2 ? "" : order_text(good),
                     advised_text(good));
}

}  // namespace

std::string rows_text(const predict::AdviceTable& table, int top) {
  const std::size_t all = table.rows.size();
  const std::size_t count =
      top > 0 ? std::min(static_cast<std::size_t>(top), all) : all;
  report::Table shown{
      .columns = {{.name = "", .align = report::Align::kLeft},
                  {.name = "step", .unit = "ms"},
                  {.name = "[with its error]"},
                  {.name = "exposed", .unit = "ms"},
                  {.name = "strategy", .align = report::Align::kLeft}}};
  for (std::size_t i = 0; i < count; ++i) {
    const predict::Advice& row = table.rows[i];
    shown.rows.push_back(
        {.cells = {row.like_best ? " *" : "",
                   fmt::format("{:.2f}", ms(row.step)),
                   interval_text(row),
                   fmt::format("{:.2f}", ms(row.exposed)),
                   row.configuration.strategy + remark_of(row)}});
  }
  for (const predict::Unfit& unfit : table.unfit) {
    shown.rows.push_back(
        {.cells = {"", "-", "-", "-", unfit.strategy + ": " + unfit.why}});
  }
  if (count < all) {
    shown.text = fmt::format("{} more, the last {:.2f} ms: --top 0 shows all",
                             all - count,
                             ms(table.rows.back().step));
  }
  return report::console_text(shown) + marks_text(table, count);
}

std::string buckets_text(const predict::AdviceTable& table) {
  report::Table shown{
      .columns = {
          {.name = "strategy", .align = report::Align::kLeft},
          {.name = "best", .group = "bucket size", .unit = "MiB"},
          {.name = "not told apart", .group = "bucket size", .unit = "MiB"},
          {.name = "worst", .group = "bucket size", .unit = "MiB"},
          {.name = "", .group = "cost of the worst", .unit = "%"}}};
  for (const predict::BucketAdvice& it : table.buckets) {
    if (it.worst_mb == it.best_mb) {
      continue;  // one size was tried
    }
    shown.rows.push_back(
        {.cells = {it.strategy,
                   fmt::format("{:g}", it.best_mb),
                   it.like.size() > 1
                       ? fmt::format("{:g}", fmt::join(it.like, ", "))
                       : "-",
                   fmt::format("{:g}", it.worst_mb),
                   fmt::format("{:+.1f}", (it.worst_ratio - 1) * 100)}});
    if (it.strategy == "ddp") {
      shown.text = fmt::format(
          "ddp in PyTorch: DistributedDataParallel(model, bucket_cap_mb={:g})",
          it.best_mb);
    }
  }
  return shown.rows.empty() ? "" : "\n" + report::console_text(shown);
}

std::string verified_text(const Verification& verification) {
  std::string text = fmt::format(
      "\nrun on {}\n{}\n"
      "  {:>13}  {:>12}  {:>8}  {:>7}  strategy\n",
      verification.where,
      verification.priced,
      "predicted, ms",
      "measured, ms",
      "error, %",
      "stretch");
  for (const Verified& row : verification.rows) {
    if (!row.error.empty()) {
      text += fmt::format("  {:>13}  {}: {}\n", "-", row.strategy, row.error);
      continue;
    }
    text += fmt::format("  {:13.2f}  {:12.2f}  {:+8.1f}  {:7g}  {}{}\n",
                        row.predicted_s * 1e3,
                        row.measured_s * 1e3,
                        (row.predicted_s / row.measured_s - 1) * 100,
                        row.stretch,
                        row.strategy,
                        row.valid() ? ""
                                    : fmt::format("  INVALID: {} of {} "
                                                  "operations were slower "
                                                  "than the link",
                                                  row.late,
                                                  row.operations));
  }
  text += conclusion_text(verification.rows);
  for (const std::string& note : verification.notes) {
    text += fmt::format("  {}\n", note);
  }
  return text;
}

}  // namespace paceline::cli
