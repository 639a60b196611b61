// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/trainers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/records/json.h"
#include "paceline/report/cases.h"
#include "paceline/report/console.h"
#include "paceline/report/fields.h"
#include "paceline/report/layouts.h"
#include "paceline/report/result_column.h"
#include "paceline/report/text.h"
#include "paceline/stats/mean.h"
#include "paceline/stats/quantile.h"

namespace paceline::report {
namespace {

using records::RankSamples;
using records::RunRecord;

constexpr std::array kEpochPercentiles{50, 75, 90, 95};
constexpr std::size_t kStepsPerEpoch = 10;

/// The epochs of one trainer or of several.
struct Epochs {
  std::vector<double> seconds;
  std::vector<double> examples;  // of each
  double last_examples = 0;      // of each trainer's last epoch, summed
};

/// Whole epochs of a rank; steps behind the last one are left out.
Epochs epochs_of(const RankSamples& rank, int batch_size) {
  Epochs epochs;
  for (std::size_t begin = 0; begin + kStepsPerEpoch <= rank.step_ns.size();
       begin += kStepsPerEpoch) {
    const auto sum = [&](const std::vector<std::int64_t>& values) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
      return static_cast<double>(std::accumulate(
          first, first + static_cast<std::ptrdiff_t>(kStepsPerEpoch), std::int64_t{0}));
    };
    epochs.seconds.push_back(sum(rank.step_ns) * 1e-9);
    epochs.examples.push_back(rank.examples_of_step.empty()
                                  ? static_cast<double>(kStepsPerEpoch) * batch_size
                                  : sum(rank.examples_of_step));
  }
  epochs.last_examples = epochs.examples.empty() ? 0 : epochs.examples.back();
  return epochs;
}

/// The ranks that train, each with its epochs; then all of them, pooled.
struct TrainerRow {
  std::string name;
  int trainers = 1;
  Epochs epochs;
};

std::vector<TrainerRow> trainer_rows(const RunRecord& record) {
  std::vector<TrainerRow> rows;
  TrainerRow all{.name = "All", .trainers = 0, .epochs = {}};
  for (const RankSamples& rank : record.ranks) {
    Epochs epochs = epochs_of(rank, record.configuration.batch_size);
    if (epochs.seconds.empty()) {
      continue;
    }
    ++all.trainers;
    all.epochs.last_examples += epochs.last_examples;
    const auto append = [](const auto& from, auto& to) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(epochs.seconds, all.epochs.seconds);
    append(epochs.examples, all.epochs.examples);
    rows.push_back({.name = fmt::format("Trainer{}", rank.rank), .epochs = std::move(epochs)});
  }
  if (!rows.empty()) {
    rows.push_back(std::move(all));
  }
  return rows;
}

/// How fast trainers were whose steps are fewer than an epoch.  Such trainers have no percentiles.
std::string rates_text(const RunRecord& record) {
  std::size_t steps = 0;
  double all = 0;
  std::string text;
  for (const RankSamples& rank : record.ranks) {
    if (rank.step_ns.empty()) {
      continue;
    }
    steps = std::max(steps, rank.step_ns.size());
    const auto& processed = rank.examples_of_step;
    const double examples =
        processed.empty()
            ? static_cast<double>(rank.step_ns.size()) * record.configuration.batch_size
            : std::accumulate(processed.begin(), processed.end(), 0.0);
    const double seconds = std::accumulate(rank.step_ns.begin(), rank.step_ns.end(), 0.0) * 1e-9;
    const double rate = seconds > 0 ? examples / seconds : 0;
    all += rate;
    text += fmt::format("Trainer{} {:.1f}, ", rank.rank, rate);
  }
  return fmt::format("less than {} steps; examples/s over {}: {}All {:.1f}", kStepsPerEpoch,
                     counted(static_cast<std::int64_t>(steps), "step"), text, all);
}

/// Seconds of an epoch that this percentage of the row's epochs do not exceed.
double epoch_s(const TrainerRow& row, int percentage) {
  return stats::quantile(row.epochs.seconds, percentage / 100.0);
}

/// Examples of an epoch over `seconds`.  All trainers work at once, so their examples of an epoch
/// add up.
std::string examples_text(const TrainerRow& row, double seconds) {
  const double examples = row.trainers * stats::mean(row.epochs.examples);
  return seconds > 0 ? fmt::format("{:.1f}", examples / seconds) : std::string(kMissing);
}

ResultColumns<TrainerRow> trainer_columns() {
  ResultColumns<TrainerRow> all;
  all.add({.name = "trainer", .align = Align::kLeft}).data("trainer", &TrainerRow::name);
  for (const int p : kEpochPercentiles) {
    const std::string group = fmt::format("p{}", p);
    all.add({"s/epoch", group}).cell([p](const TrainerRow& row) {
      return fmt::format("{:.4f}", epoch_s(row, p));
    });
    all.add({"examples/s", group}).cell([p](const TrainerRow& row) {
      return examples_text(row, epoch_s(row, p));
    });
  }
  all.add_notes(0, {{"s/epoch",
                     "seconds of ten steps, drawing the batches included; percentiles over the "
                     "epochs of the trainer, or of all"},
                    {"examples/s",
                     "examples of an epoch, the mean over those that were processed, over that "
                     "time; all: of all trainers, which work at once"}});
  return all;
}

/// How rows lie and are looked up, where it is not as usual.
std::string ways_text(const records::Configuration& c) {
  const records::Configuration usual;
  std::string text;
  const auto add = [&text](const char* what, const auto& value, bool given) {
    if (given) {
      text += fmt::format(", {} {}", what, value);
    }
  };
  add("placement", c.placement, c.placement != usual.placement);
  add("pooling", c.pooling, c.pooling != usual.pooling);
  add("row optimizer", c.row_optimizer, c.row_optimizer != usual.row_optimizer);
  add("row dtype", c.row_dtype, c.row_dtype != usual.row_dtype);
  add("zipf", c.zipf, c.zipf != usual.zipf);
  add("staleness", c.staleness, c.staleness != usual.staleness);
  return text + (c.as_original ? ", as the original" : "");
}

/// The runs that left samples, and those that failed.
std::vector<const RunRecord*> shown_runs(const Case& one) {
  std::vector<const RunRecord*> runs = one.runs;
  std::erase_if(runs, [](const RunRecord* run) { return !run->error && !has_steps(*run); });
  return runs;
}

std::string failure_text(const RunRecord& failed) {
  return *failed.error + (has_steps(failed) ? "; shown are the samples until then" : "");
}

// ", run 2" where several runs of the case are shown.
std::string run_words(const Case& one, const RunRecord& run) {
  return shown_runs(one).size() > 1 ? fmt::format(", run {}", run.run + 1) : "";
}

Document trainers_document(const Case& one, const RunRecord& run) {
  const records::Configuration& c = one.configuration();
  const ResultColumns<TrainerRow> columns = trainer_columns();
  Table table = columns.table(trainer_rows(run));
  table.title = fmt::format("{} with {}: {}{}", c.model, plain_label(one), table_job_words(c),
                            run_words(one, run));
  const bool no_epoch = table.rows.empty();
  Document document{.tables = {std::move(table)}};
  if (run.error) {
    document.notes.push_back({"failed", failure_text(run)});
  }
  if (!has_steps(run)) {
    return document;
  }
  if (no_epoch) {
    document.notes.push_back({"no epoch", rates_text(run)});
  }
  for (auto notes : {columns.notes(), trainer_notes(run)}) {
    std::ranges::move(notes, std::back_inserter(document.notes));
  }
  for (const records::Warning& warning : run.warnings) {
    document.notes.push_back(
        {"warning", fmt::format("{}: {}; {}", warning.seen, warning.why, warning.advice)});
  }
  return document;
}

std::vector<Case> cases_with_tables(std::span<const RunRecord> records) {
  std::vector<Case> cases = group_cases(records);
  std::erase_if(cases, [](const Case& one) { return !one.configuration().has_tables(); });
  return cases;
}

std::string or_reason(std::string text, std::span<const RunRecord> records) {
  return text.empty() && !records.empty()
             ? "no record is of a model with embedding tables (hybrid)\n"
             : std::move(text);
}

}  // namespace

std::string table_job_words(const records::Configuration& c) {
  return fmt::format("{}, {}, {} of {} in each table, {}{}", counted(c.trainers, "trainer"),
                     c.servers > 0 ? counted(c.servers, "server") : "which hold the tables",
                     counted(c.embeddings, "row"), c.embedding_dim, c.engine, ways_text(c));
}

std::string render_ddp_rpc(std::span<const RunRecord> records) {
  static const auto fields = Fields<TrainerRow>()
                                 .add("name", &TrainerRow::name)
                                 .add("seconds", &TrainerRow::epochs, &Epochs::seconds)
                                 .add("last_examples", &TrainerRow::epochs, &Epochs::last_examples);
  Json runs = Json::array();
  const std::vector<Case> cases = cases_with_tables(records);
  const std::vector<std::string> labels = unique_labels(cases);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::vector<const RunRecord*> shown = shown_runs(cases[i]);
    for (const RunRecord* run : shown) {
      const std::vector<TrainerRow> rows = trainer_rows(*run);
      Json& json = runs.emplace_back();
      json["environment"] = records::to_json(run->environment);
      // The original has one table and no words for others.
      json["title"] = nullptr;
      if (cases.size() > 1 || shown.size() > 1) {
        json["title"] = fmt::format("{}: {}{}", labels[i], table_job_words(run->configuration),
                                    run_words(cases[i], *run));
      }
      json["failed"] = run->error ? Json(failure_text(*run)) : Json();
      json["rows"] = fields.array(rows);
      json["no_epoch"] = rows.empty() && has_steps(*run) ? Json(rates_text(*run)) : Json();
    }
  }
  return or_reason(runs.empty() ? "" : python_report("ddp_rpc", {"text"}, {{"runs", runs}}),
                   records);
}

std::string render_trainers(std::span<const RunRecord> records) {
  std::string text;
  for (const Case& one : cases_with_tables(records)) {
    for (const RunRecord* run : shown_runs(one)) {
      text += (text.empty() ? "" : "\n") + console_text(trainers_document(one, *run));
    }
  }
  return or_reason(std::move(text), records);
}

}  // namespace paceline::report
