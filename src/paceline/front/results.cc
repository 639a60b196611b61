// SPDX-License-Identifier: Apache-2.0
#include "paceline/front/results.h"

#include <algorithm>
#include <cstdio>
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
#include "paceline/base/exit_status.h"
#include "paceline/base/file.h"
#include "paceline/base/python_package.h"
#include "paceline/base/shell.h"
#include "paceline/base/text.h"
#include "paceline/cluster/cluster_choice.h"
#include "paceline/front/virtual_time.h"
#include "paceline/predict/compare_runs.h"
#include "paceline/rank/case_record.h"
#include "paceline/records/json.h"
#include "paceline/records/store.h"
#include "paceline/report/case_logs.h"
#include "paceline/report/console.h"
#include "paceline/report/formats.h"
#include "paceline/report/layouts.h"
#include "paceline/report/page.h"

namespace paceline::front {

std::string ended_by_signal_text(int signal) {
  const char* const name = sigabbrev_np(signal);
  return fmt::format("paceline: {} ended the run: ", name == nullptr
                                                         ? fmt::format("signal {}", signal)
                                                         : fmt::format("SIG{}", name));
}

namespace {

// Warns if the last line of the record file is unfinished, as the writer will cut it off.  Throws
// UsageError that shows the line if a line is no record.
void warn_of_records(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) {
    return;
  }
  for (const std::string& warning :
       records::read_records(path, records::BrokenTail::kSkip).warnings) {
    fmt::print(stderr, "warning: {}\n", warning);
  }
}

// Returns the settings after their outputs are checked, before any of them is opened.
const cases::Settings& with_checked_outputs(const cases::Settings& settings) {
  if (report::find_format(settings.format).is_rendered_by_python || !settings.json.empty() ||
      !settings.logs.empty()) {
    python_module_command("paceline.reports");  // a missing module should fail now, not at the end
  }
  if (settings.records.empty() && settings.resume) {
    throw UsageError("--resume: needs --records FILE, the file of the run to go on with");
  }
  const std::string records = named_records(settings.records);
  check_outputs({{"--records", records},
                 {"--json", settings.json},
                 {"--page", settings.page},
                 {"--trace", settings.trace}});
  warn_of_records(records);
  return settings;
}

}  // namespace

Results::Results(const cases::JobSpec& job)
    : Front(with_checked_outputs(job.settings), records::RecordKind::kRuns),
      experiment_(job.experiment) {
  if (!settings_.logs.empty()) {
    report::check_log_folder(settings_.logs, target_.path());
  }
  if (target_.is_stream()) {
    return;
  }
  std::set<std::string> cases;
  for (const cases::Case& c : experiment_.cases) {
    cases.insert(c.key());
  }
  for (const cases::RejectedCase& it : experiment_.rejected) {
    cases.insert(it.configuration.key());
  }
  records_ = records::read_records(target_.path()).records;
  std::erase_if(records_, [&](const records::RunRecord& record) {
    return !cases.contains(record.configuration.key());
  });
  earlier_record_count_ = records_.size();
}

void Results::append(records::RunRecord record) {
  target_.append(records::to_line(record));
  records_.push_back(std::move(record));
}

void Results::add_rejected() {
  for (const auto& [c, why] : experiment_.rejected) {
    const auto is_it = [&](const records::RunRecord& record) {
      return record.run == run_ && record.configuration.key() == c.key();
    };
    if (run_ < experiment_.runs && std::ranges::none_of(records_of_run(), is_it)) {
      fmt::print(stderr, "paceline: {} of {} on {}: {}\nthat case is recorded as failed\n",
                 c.strategy, c.model, counted(c.ranks, "rank"), why);
      append(rank::failed_record(experiment_.name, c, run_, why, {}));
    }
  }
}

void Results::begin(launch::KeyValueStore& store, int run) {
  Front::begin(store, run);
  add_rejected();
  rank::post_completed_cases(
      store, settings_.resume ? records::completed_runs(records_of_run()) : rank::CompletedCases());
}

std::optional<std::string> Results::add_failed(launch::KeyValueStore& store,
                                               const std::string& why) {
  std::string key = store.get(rank::kCurrentCaseKey).value_or("");
  const auto failed = std::ranges::find(experiment_.cases, key, &cases::Case::key);
  if (failed == experiment_.cases.end() || tries(run_).done.contains(key)) {
    return std::nullopt;
  }
  rank::PartialSamples so_far =
      rank::gather_partial_samples(store, cases::most_processes(experiment_));
  const bool alone = experiment_.cases.size() == 1 && settings_.retries == 0;
  if (alone && so_far.ranks.empty()) {
    return std::nullopt;
  }
  append(rank::failed_record(experiment_.name, *failed, run_, why, std::move(so_far)));
  return key;
}

// Returns the records to print; with --resume, earlier records belong to the run.
std::span<const records::RunRecord> Results::records_of_run() const {
  return std::span(records_).subspan(settings_.resume ? 0 : earlier_record_count_);
}

// Prints the rest of `text` if it begins with what has been printed, otherwise all of it.
void Results::print(const std::string& text) {
  const std::size_t from = text.starts_with(printed_) ? printed_.size() : 0;
  std::fwrite(text.data() + from, 1, text.size() - from, stdout);
  std::fflush(stdout);
  printed_ = text;
}

void Results::show_rows() {
  const report::Format& format = report::find_format(settings_.format);
  if (!format.has_append_only_rows || experiment_.runs != 1) {
    return;
  }
  const std::string text = format.render(records_of_run());
  if (text.size() > printed_.size() && text.starts_with(printed_)) {
    if (isatty(STDERR_FILENO) == 1) {
      fmt::print(stderr, "\r\033[K");  // overwrites the progress of the next case
    }
    print(text);
  }
}

bool Results::has_samples() const {
  return std::ranges::any_of(records_of_run(), [](const records::RunRecord& record) {
    return std::ranges::any_of(record.ranks,
                               [](const auto& rank) { return !rank.step_ns.empty(); });
  });
}

Results::CaseOutcomes Results::tries(int run) const {
  CaseOutcomes tries;
  for (std::size_t i = records_.size() - records_of_run().size(); i < records_.size(); ++i) {
    const records::RunRecord& record = records_[i];
    const std::string key = record.configuration.key();
    if (record.run != run || tries.done.contains(key)) {
      continue;
    }
    if (!record.error || record.not_run()) {
      tries.done.insert(key);
      tries.failed.erase(key);
    } else if (i >= earlier_record_count_) {
      // A rejected case is not tried again, because the ranks would reject it again.
      tries.failed[key] += record.status == rank::kRejected ? settings_.retries + 1 : 1;
    }
  }
  return tries;
}

namespace {

report::Table table_of(const predict::Comparison& comparison) {
  report::Table table{.title = "predicted for " + comparison.network,
                      .columns = {{.name = "case", .align = report::Align::kLeft},
                                  {.name = "predicted", .unit = "ms"},
                                  {.name = "measured", .unit = "ms"},
                                  {.name = "error", .unit = "%"},
                                  {.name = "notes", .align = report::Align::kLeft}},
                      .text = comparison.conclusion};
  for (const predict::ComparedCase& it : comparison.cases) {
    const auto& predicted = it.predicted_s;
    table.rows.push_back(
        {{it.name, predicted ? fmt::format("{:.2f}", *predicted * 1e3) : "-",
          fmt::format("{:.2f}", it.measured_s * 1e3),
          predicted ? fmt::format("{:+.1f}", (*predicted / it.measured_s - 1) * 100) : "-",
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
  write_atomically(settings_.page, report::render_page(shown));
  fmt::print(stderr, "page: {}\n", settings_.page);
}

// Writes the logs of all cases of the record file, since their order determines the logs' names.
void Results::write_logs() const {
  if (!settings_.logs.empty()) {
    report::write_case_logs(
        settings_.logs, {settings_.name, target_.path()},
        target_.is_stream() ? records_ : records::read_records(target_.path()).records);
  }
}

void Results::show_predictions(const std::vector<records::RunRecord>& shown) const {
  if (settings_.format != "table" && settings_.format != "trainers") {
    return;  // other formats are for programs or copy other tools
  }
  std::optional<cluster::Cluster> cluster;
  if (!settings_.cluster.empty()) {
    cluster = cluster::read_cluster(
        {.file = settings_.cluster, .hosts = settings_.hosts, .hostfile = settings_.hostfile});
  }
  if (const auto compared = predict::compare_runs(shown, cluster)) {
    fmt::print("\n{}", report::console_text(table_of(*compared)));
    std::fflush(stdout);
  }
}

// Adds predictions.  The layer times of a network are measured once for all cases, including those
// that an earlier run of the same file recorded.
void Results::add_virtual_times(std::vector<records::RunRecord>& shown) {
  records::RecordFile file;
  if (!target_.is_stream()) {
    file = records::read_records(target_.path(), records::BrokenTail::kSkip);
  }
  for (records::RunRecord& priced : predict_virtual_times(settings_, shown)) {
    if (!has_recorded_prediction(priced, file.records)) {
      append(priced);
    }
    shown.push_back(std::move(priced));
  }
}

void Results::show(const std::string& ended) {
  std::vector<records::RunRecord> shown(records_of_run().begin(), records_of_run().end());
  if (ended.empty() && !settings_.virtual_time.empty()) {
    add_virtual_times(shown);
  }
  write_logs();
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
    fmt::print(stderr, "{}{}\n", ended, resume_text());
  } else if (!shown.empty()) {
    fmt::print(stderr, "records: {}\n", target_.path());
  }
  write_page();
}

// Returns "12 cases"; with several repetitions "36 runs of 12 cases".
std::string Results::case_runs(std::size_t all) const {
  const auto runs = static_cast<std::int64_t>(all);
  return experiment_.runs == 1 ? counted(runs, "case")
                               : fmt::format("{} of {}", counted(runs, "run"),
                                             counted(runs / experiment_.runs, "case"));
}

std::int64_t Results::count_failed() const {
  const auto done = records::completed_runs(records_of_run());
  std::set<std::string> failed;
  for (const records::RunRecord& one : records_of_run()) {
    const std::string key = one.configuration.key();
    if (one.error && !one.not_run() && !done.contains({key, one.run})) {
      failed.insert(key);
    }
  }
  return static_cast<std::int64_t>(failed.size());
}

std::string Results::failures_in() const { return count_failed() > 0 ? target_.path() : ""; }

int Results::status() {
  const std::int64_t failed = count_failed();
  const auto is_wrong = [](const records::RunRecord& one) {
    return std::ranges::any_of(one.verified, [](const auto& check) { return !check.second; });
  };
  const auto wrong = std::ranges::count_if(records_of_run(), is_wrong);
  if (wrong > 0) {
    fmt::print(stderr, "paceline: {} with wrong values (verification-failed)\n",
               counted(wrong, "run"));
  }
  if (failed == 0) {
    return wrong > 0 ? kWrongValuesStatus : 0;
  }
  fmt::print(stderr, "paceline: {} failed; --resume tries {} again\n", counted(failed, "case"),
             failed == 1 ? "it" : "them");
  return wrong > 0 ? kWrongValuesStatus : kFailedStatus;
}

Results::RunTally Results::tally() const {
  const auto done = records::completed_runs(records_of_run());
  std::set<std::string> measured;
  for (const cases::Case& c : experiment_.cases) {
    if (!c.discard) {
      measured.insert(c.key());
    }
  }
  RunTally tally{.finished = 0,
                 .all = measured.size() * static_cast<std::size_t>(experiment_.runs)};
  for (const auto& [key, run] : done) {
    tally.finished += measured.contains(key) && run < experiment_.runs ? 1U : 0U;
  }
  return tally;
}

bool Results::print_if_complete() const {
  const RunTally now = tally();
  if (now.all == 0 || now.finished < now.all) {
    return false;
  }
  fmt::print(stderr, "nothing is left to run: {} finished\n", case_runs(now.all));
  return true;
}

std::string Results::resume_text() const {
  const RunTally now = tally();
  const std::string of = case_runs(now.all);
  if (records_of_run().empty()) {
    return fmt::format("0 of {} finished, so there is no record", of);
  }
  if (target_.is_stream()) {
    return fmt::format("{} of {} finished, written to {}", now.finished, of, target_.path());
  }
  return fmt::format(
      "{} of {} finished, {} {}; the same command with --records {} --resume runs the rest",
      now.finished, of, now.finished == 0 ? "the failure is in" : "recorded in", target_.path(),
      shell_word(target_.path()));
}

}  // namespace paceline::front
