// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/results.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/cli/alternate.h"
#include "paceline/record/store.h"
#include "paceline/report/ddp.h"
#include "paceline/report/formats.h"

namespace paceline::cli {

namespace fs = std::filesystem;

std::string default_records_path(const std::string& experiment) {
  std::string name = experiment;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' &&
        c != '_') {
      c = '-';
    }
  }
  return fmt::format("results/{}-{:%Y%m%dT%H%M%SZ}.jsonl",
                     name,
                     fmt::gmtime(std::time(nullptr)));
}

Results::Results(experiment::Settings& settings) : settings_(settings) {
  report::find_format(settings.format);
  for (const auto& [flag, path] :
       {std::pair{"--json", settings.json}, {"--trace", settings.trace}}) {
    if (!path.empty()) {
      check_writable(flag, path);
    }
  }
  if (settings.records.empty() && settings.resume) {
    throw UsageError(
        "--resume: needs --records FILE, the file of the run to go on with");
  }
  if (const char* named = std::getenv(kRecordsVariable);
      named != nullptr && settings.records.empty()) {
    settings.records = named;
  }
  if (settings.records.empty()) {
    settings.records = default_records_path(settings.name);
    std::error_code error;
    fs::create_directories("results", error);  // else check_writable says so
  }
  check_writable("--records", settings.records);
  if (fs::exists(settings.records)) {
    already_ = record::read_records(settings.records, record::BrokenTail::kSkip)
                   .records.size();
  }
}

std::vector<record::RunRecord> Results::read(
    const experiment::Experiment& experiment) const {
  std::vector<record::RunRecord> shown;
  if (!fs::exists(settings_.records)) {
    return shown;
  }
  std::set<std::string> cases;
  for (const record::Configuration& c : experiment.cases) {
    cases.insert(c.key());
  }
  record::RecordFile file =
      record::read_records(settings_.records, record::BrokenTail::kSkip);
  for (std::size_t i = 0; i < file.records.size(); ++i) {
    record::RunRecord& record = file.records[i];
    if (i >= already_ ||
        (settings_.resume && cases.contains(record.configuration.key()))) {
      shown.push_back(std::move(record));
    }
  }
  return shown;
}

// Only what has not been printed; all of it where that is no continuation.
void Results::print(const std::string& text) {
  const std::size_t from = text.starts_with(printed_) ? printed_.size() : 0;
  std::fwrite(text.data() + from, 1, text.size() - from, stdout);
  std::fflush(stdout);
  printed_ = text;
}

void Results::show_rows(const experiment::Experiment& experiment) {
  const report::Format& format = report::find_format(settings_.format);
  std::error_code none;
  const std::uintmax_t bytes = fs::file_size(settings_.records, none);
  if (none || !format.grows_by_rows || experiment.runs > 1 ||
      bytes == shown_bytes_) {
    return;
  }
  shown_bytes_ = bytes;
  const std::string text = format.render(read(experiment));
  if (text.size() > printed_.size() && text.starts_with(printed_)) {
    if (isatty(STDERR_FILENO) == 1) {
      fmt::print(stderr, "\r\033[K");  // over the progress of the next case
    }
    print(text);
  }
}

bool Results::show(const experiment::Experiment& experiment) {
  const std::vector<record::RunRecord> shown = read(experiment);
  if (shown.empty()) {
    return false;
  }
  print(report::find_format(settings_.format).render(shown));
  if (!settings_.json.empty()) {
    write_atomically(settings_.json, report::render_ddp_json(shown));
  }
  fmt::print(stderr, "records: {}\n", settings_.records);
  return true;
}

}  // namespace paceline::cli
