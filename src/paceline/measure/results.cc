// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/results.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/shell.h"
#include "paceline/base/text.h"
#include "paceline/cluster/cluster_choice.h"
#include "paceline/measure/case_record.h"
#include "paceline/measure/virtual_time.h"
#include "paceline/predict/compare_runs.h"
#include "paceline/records/store.h"
#include "paceline/report/console.h"
#include "paceline/report/ddp.h"
#include "paceline/report/formats.h"
#include "paceline/report/page.h"

namespace paceline::measure {

namespace fs = std::filesystem;

std::string ended_by(int signal) {
  const char* const name = sigabbrev_np(signal);
  return fmt::format("paceline: {} ended the run: ",
                     name == nullptr ? fmt::format("signal {}", signal)
                                     : fmt::format("SIG{}", name));
}

Results::Results(experiment::Settings& settings) {
  report::find_format(settings.format);
  if (settings.records.empty() && settings.resume) {
    throw UsageError(
        "--resume: needs --records FILE, the file of the run to go on with");
  }
  if (const char* named = std::getenv(kRecordsVariable);
      named != nullptr && settings.records.empty()) {
    settings.records = named;
  }
  check_outputs({{"--records", settings.records},
                 {"--json", settings.json},
                 {"--page", settings.page},
                 {"--trace", settings.trace}});
  target_.emplace(settings.records, settings.name);
  if (!settings.logs.empty()) {
    logs_ = CaseLogs(settings.logs, {settings.name, target_->shown()});
  }
  settings.records = target_->path();
  const records::RecordFile file =
      records::read_records(settings.records, records::BrokenTail::kSkip);
  already_ = file.records.size();
  for (const std::string& warning : file.warnings) {
    fmt::print(stderr, "warning: {}\n", warning);
  }
  settings_ = settings;
  reader_ = records::RecordReader(settings.records);
}

// Takes what the file has beyond what was read of it.
void Results::read(const experiment::Experiment& experiment) {
  std::vector<records::RunRecord> fresh = reader_.next();
  std::set<std::string> cases;
  if (!fresh.empty() && read_ < already_) {
    for (const records::Configuration& c : experiment.cases) {
      cases.insert(c.key());
    }
  }
  for (records::RunRecord& record : fresh) {
    const bool earlier = read_++ < already_;
    target_->pass_on(record);
    logs_.name(record.configuration);
    if (!earlier || cases.contains(record.configuration.key())) {
      records_.push_back(std::move(record));
      numbers_.push_back(read_);
      earlier_ += earlier ? 1 : 0;
    }
  }
}

// What is printed: with --resume earlier records belong to the run.
std::span<const records::RunRecord> Results::records_of_run() const {
  return std::span(records_).subspan(settings_.resume ? 0 : earlier_);
}

// The part of `text` behind what has been printed; all of it if `text` does not
// begin with that.
void Results::print(const std::string& text) {
  const std::size_t from = text.starts_with(printed_) ? printed_.size() : 0;
  std::fwrite(text.data() + from, 1, text.size() - from, stdout);
  std::fflush(stdout);
  printed_ = text;
}

void Results::show_rows(const experiment::Experiment& experiment) {
  const report::Format& format = report::find_format(settings_.format);
  const bool prints = format.grows_by_rows && experiment.runs == 1;
  std::error_code none;
  const std::uintmax_t bytes = fs::file_size(settings_.records, none);
  if (none || !(prints || logs_ || target_->is_aside()) ||
      bytes == shown_bytes_) {
    return;
  }
  shown_bytes_ = bytes;
  read(experiment);
  logs_.write(records_);
  if (!prints) {
    return;
  }
  const std::string text = format.render(records_of_run());
  if (text.size() > printed_.size() && text.starts_with(printed_)) {
    if (isatty(STDERR_FILENO) == 1) {
      fmt::print(stderr, "\r\033[K");  // over the progress of the next case
    }
    print(text);
  }
}

void Results::add_failed(const experiment::Experiment& experiment,
                         const records::Configuration& configuration,
                         int run,
                         const std::string& why,
                         PartialSamples so_far) const {
  records::RecordWriter(settings_.records)
      .append(failed_record(
          experiment.name, configuration, run, why, std::move(so_far)));
}

bool Results::has_samples(const experiment::Experiment& experiment) {
  read(experiment);
  return std::ranges::any_of(
      records_of_run(), [](const records::RunRecord& record) {
        return std::ranges::any_of(record.ranks, [](const auto& rank) {
          return !rank.step_ns.empty();
        });
      });
}

Results::Tries Results::tries(const experiment::Experiment& experiment,
                              int run) {
  read(experiment);
  Tries tries;
  for (std::size_t i = records_.size() - records_of_run().size();
       i < records_.size();
       ++i) {
    const records::RunRecord& record = records_[i];
    const std::string key = record.configuration.key();
    if (record.run != run || tries.done.contains(key)) {
      continue;
    }
    if (!record.error || record.not_run()) {
      tries.done.insert(key);
      tries.failed.erase(key);
    } else if (i >= earlier_) {
      ++tries.failed[key];
    }
  }
  return tries;
}

namespace {

report::Table table_of(const predict::Comparison& comparison) {
  report::Table table{
      .title = "predicted for " + comparison.network,
      .columns = {{.name = "case", .align = report::Align::kLeft},
                  {.name = "predicted", .unit = "ms"},
                  {.name = "measured", .unit = "ms"},
                  {.name = "error", .unit = "%"},
                  {.name = "notes", .align = report::Align::kLeft}},
      .text = comparison.conclusion};
  for (const predict::ComparedCase& it : comparison.cases) {
    const auto& predicted = it.predicted_s;
    table.rows.push_back(
        {{it.name,
          predicted ? fmt::format("{:.2f}", *predicted * 1e3) : "-",
          fmt::format("{:.2f}", it.measured_s * 1e3),
          predicted
              ? fmt::format("{:+.1f}", (*predicted / it.measured_s - 1) * 100)
              : "-",
          it.note}});
  }
  return table;
}

}  // namespace

void Results::write_page() const {
  const std::span<const records::RunRecord> shown = records_of_run();
  if (settings_.page.empty() || shown.empty()) {
    return;
  }
  std::vector<report::Origin> origins;
  for (const std::size_t number : std::span(numbers_).last(shown.size())) {
    origins.push_back({settings_.records, number});
  }
  write_atomically(
      settings_.page,
      report::render_page({.records = shown, .origins = std::move(origins)}));
  fmt::print(stderr, "page: {}\n", settings_.page);
}

void Results::show_predictions(
    const std::vector<records::RunRecord>& shown) const {
  if (settings_.format != "table" && settings_.format != "trainers") {
    return;  // for programs, or as other tools print
  }
  std::optional<cluster::Cluster> cluster;
  if (!settings_.cluster.empty()) {
    cluster = cluster::read_cluster({.file = settings_.cluster,
                                     .hosts = settings_.hosts,
                                     .hostfile = settings_.hostfile});
  }
  if (const auto compared = predict::compare_runs(shown, cluster)) {
    fmt::print("\n{}", report::console_text(table_of(*compared)));
    std::fflush(stdout);
  }
}

void Results::show(const experiment::Experiment& experiment,
                   const std::string& ended) {
  read(experiment);
  std::vector<records::RunRecord> shown(records_of_run().begin(),
                                        records_of_run().end());
  if (ended.empty() && !settings_.virtual_time.empty()) {
    // One compute rate prices all cases, also those that an earlier run of
    // the same file recorded.
    const auto file =
        records::read_records(settings_.records, records::BrokenTail::kSkip);
    records::RecordWriter writer(settings_.records);
    for (records::RunRecord& priced : virtual_times(settings_, shown)) {
      if (!is_recorded(priced, file.records)) {
        writer.append(priced);
      }
      shown.push_back(std::move(priced));
    }
    read(experiment);
  }
  logs_.write(records_);
  if (!shown.empty()) {
    print(report::find_format(settings_.format).render(shown));
    show_predictions(shown);
    if (!settings_.json.empty()) {
      const auto files = report::write_ddp_reports(settings_.json, shown);
      if (files.size() > 1) {
        fmt::print(stderr, "json: {}\n", fmt::join(files, ", "));
      }
    }
  }
  if (!ended.empty()) {
    fmt::print(stderr, "{}{}\n", ended, resume_text(experiment));
  } else if (!shown.empty()) {
    fmt::print(stderr, "records: {}\n", target_->shown());
  }
  write_page();
}

namespace {

// "12 cases"; of several repetitions "36 runs of 12 cases".
std::string case_runs(const experiment::Experiment& experiment,
                      std::size_t all) {
  const auto runs = static_cast<std::int64_t>(all);
  return experiment.runs == 1
             ? counted(runs, "case")
             : fmt::format("{} of {}",
                           counted(runs, "run"),
                           counted(runs / experiment.runs, "case"));
}

}  // namespace

std::int64_t Results::count_failed(const experiment::Experiment& experiment) {
  read(experiment);
  const auto done = records::completed(records_of_run());
  std::set<std::string> failed;
  for (const records::RunRecord& one : records_of_run()) {
    const std::string key = one.configuration.key();
    if (one.error && !one.not_run() && !done.contains({key, one.run})) {
      failed.insert(key);
    }
  }
  return static_cast<std::int64_t>(failed.size());
}

int Results::status_of_failed(const experiment::Experiment& experiment) {
  const std::int64_t failed = count_failed(experiment);
  const auto is_wrong = [](const records::RunRecord& one) {
    return std::ranges::any_of(one.verified,
                               [](const auto& check) { return !check.second; });
  };
  const auto wrong = std::ranges::count_if(records_of_run(), is_wrong);
  if (wrong > 0) {
    fmt::print(stderr,
               "paceline: {} with wrong values (verification-failed)\n",
               counted(wrong, "run"));
  }
  if (failed == 0) {
    return wrong > 0 ? kWrongValuesStatus : 0;
  }
  fmt::print(stderr,
             "paceline: {} failed; --resume tries {} again\n",
             counted(failed, "case"),
             failed == 1 ? "it" : "them");
  return wrong > 0 ? kWrongValuesStatus : kFailedCasesStatus;
}

Results::Tally Results::tally(const experiment::Experiment& experiment) {
  read(experiment);
  const auto done = records::completed(records_of_run());
  std::set<std::string> measured;
  for (const records::Configuration& c : experiment.cases) {
    if (!c.discard) {
      measured.insert(c.key());
    }
  }
  Tally tally{
      .finished = 0,
      .all = measured.size() * static_cast<std::size_t>(experiment.runs)};
  for (const auto& [key, run] : done) {
    tally.finished += measured.contains(key) && run < experiment.runs ? 1U : 0U;
  }
  return tally;
}

bool Results::print_if_complete(const experiment::Experiment& experiment) {
  const Tally now = tally(experiment);
  if (now.all == 0 || now.finished < now.all) {
    return false;
  }
  fmt::print(stderr,
             "nothing is left to run: {} finished\n",
             case_runs(experiment, now.all));
  return true;
}

std::string Results::resume_text(const experiment::Experiment& experiment) {
  const Tally now = tally(experiment);
  const std::string of = case_runs(experiment, now.all);
  if (records_of_run().empty()) {
    return fmt::format("0 of {} finished, so there is no record", of);
  }
  if (target_->is_aside()) {
    return fmt::format(
        "{} of {} finished, written to {}", now.finished, of, target_->shown());
  }
  return fmt::format(
      "{} of {} finished, {} {}; the same command with --records {} --resume "
      "runs the rest",
      now.finished,
      of,
      now.finished == 0 ? "the failure is in" : "recorded in",
      settings_.records,
      shell_word(settings_.records));
}

}  // namespace paceline::measure
