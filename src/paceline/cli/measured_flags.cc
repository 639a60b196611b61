// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/measured_flags.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/cli/record_files.h"
#include "paceline/cli/warnings.h"
#include "paceline/predict/request_profile.h"
#include "paceline/report/console.h"
#include "paceline/report/table.h"

namespace paceline::cli {
namespace {

/// Whether a value of --measured is a measurement, such as "ranks=8 rate=3821". Otherwise it names
/// a file.
bool states_measurement(const std::string& value) {
  std::error_code error;
  return value.find('=') != std::string::npos && !std::filesystem::exists(value, error);
}

/// Throws UsageError for predicted records, since only measured and replayed ones may be fitted.
void reject_predicted(const std::string& file, const std::vector<records::RunRecord>& records) {
  const auto predicted =
      std::ranges::count(records, records::Source::kPredicted, &records::RunRecord::source);
  if (predicted > 0) {
    throw UsageError(
        fmt::format("--measured {}: {} of its {} records {} predicted; only measured and replayed "
                    "records can be fitted",
                    file, predicted, records.size(), predicted == 1 ? "is" : "are"));
  }
}

/// Copies the values that a --measured value states beside a file's name (such as the batch size)
/// into the records of that file. Throws UsageError if the records state other values.
void apply_stated_values(const predict::ParsedFigure& words,
                         std::vector<records::RunRecord>& records) {
  const predict::MeasuredFigure& figure = words.figure;
  const auto put = [&](const char* key, int value, auto& field, auto& c) {
    if (c.states(key) && field != value) {
      throw UsageError(
          fmt::format("--measured '{}': {} says {} {}", figure.words, words.file, key, field));
    }
    field = value;
    c.unstated.erase(key);
  };
  for (records::RunRecord& record : records) {
    cases::Case& c = record.configuration;
    if (words.has_rank_count) {
      put("ranks", figure.ranks, c.ranks, c);
    }
    if (figure.batch_size > 0) {
      put("batch_size", figure.batch_size, c.batch_size, c);
    }
    if (!figure.strategy.empty()) {
      c.strategy = figure.strategy;
      c.command.clear();
      c.unstated.erase("strategy");
      c.unstated.insert("model");
    }
  }
}

std::vector<records::RunRecord> records_of(const std::string& file,
                                           const predict::ParsedFigure& words) {
  FileRecords read = read_record_files({file});
  reject_predicted(file, read.records);
  apply_stated_values(words, read.records);
  return std::move(read.records);
}

/// The batch size of the figures; 0 if they give none. Throws UsageError if they give several.
int batch_of(const predict::MeasuredRecords& measured) {
  std::set<int> sizes;
  for (const predict::MeasuredFigure& figure : measured.figures) {
    if (figure.batch_size > 0) {
      sizes.insert(figure.batch_size);
    }
  }
  if (sizes.size() > 1) {
    throw UsageError(fmt::format(
        "--measured: figures are of batches of {}; say with --batch-size which is predicted",
        fmt::join(sizes, " and ")));
  }
  return sizes.empty() ? 0 : *sizes.begin();
}

std::string deviation_text(double predicted, double measured) {
  return fmt::format("{:+.1f}", (predicted / measured - 1) * 100);
}

/// Tables of the fitted constants, and of the figures with the deviations of the prediction.
report::Document measured_tables(const predict::MeasuredFit& fit) {
  report::Table constants{.title = "from the measured figures",
                          .columns = {{.name = "constant", .align = report::Align::kLeft},
                                      {.name = "value"},
                                      {.name = "unit", .align = report::Align::kLeft},
                                      {.name = "95 % interval"},
                                      {.name = "determined by", .align = report::Align::kLeft}}};
  for (const predict::MeasuredConstant& it : fit.constants()) {
    constants.rows.push_back({{it.name, fmt::format("{:.4g}", it.value), it.unit,
                               fmt::format("[{:.4g}, {:.4g}]", it.interval.low, it.interval.high),
                               it.by.empty() ? "no figure" : it.by}});
  }
  report::Table figures{.columns = {{.name = "figure", .align = report::Align::kLeft},
                                    {.name = "measured", .unit = "ms"},
                                    {.name = "with these constants", .unit = "%"},
                                    {.name = "from the other figures", .unit = "%"}}};
  for (const predict::CheckedFigure& it : fit.checked()) {
    figures.rows.push_back(
        {{it.figure.words, fmt::format("{:.3f}", it.measured_s * 1e3),
          deviation_text(it.fitted_s, it.measured_s),
          it.predicted_from_others_s ? deviation_text(*it.predicted_from_others_s, it.measured_s)
                                     : "-"}});
  }
  return {.tables = {std::move(constants), std::move(figures)}};
}

}  // namespace

MeasuredFlags::MeasuredFlags(CLI::App& app) {
  option_ =
      app.add_option("--measured", given_,
                     "what somebody measured of the job: \"ranks=8 rate=3821\" (samples/s of all "
                     "ranks), \"ranks=64 batch=24 step=141ms\", \"ranks=16 file=train.log\", or a "
                     "file of records or of another program; may come again")
          ->type_name("FIGURE|FILE")
          ->allow_extra_args(false);
}

std::vector<std::string> MeasuredFlags::files() const {
  std::vector<std::string> files;
  for (const std::string& value : given_) {
    const std::string file = states_measurement(value) ? predict::parse_figure(value).file : value;
    if (!file.empty()) {
      files.push_back(file);
    }
  }
  return files;
}

predict::MeasuredRecords MeasuredFlags::read() const {
  reject_repeats(files());
  std::vector<records::RunRecord> records;
  std::vector<predict::MeasuredFigure> figures;
  for (const std::string& value : given_) {
    predict::ParsedFigure words;
    words.file = value;
    if (states_measurement(value)) {
      words = predict::parse_figure(value);
    }
    if (words.file.empty()) {
      figures.push_back(std::move(words.figure));
    } else {
      std::ranges::move(records_of(words.file, words), std::back_inserter(records));
    }
  }
  predict::MeasuredRecords measured;
  if (!records.empty() || figures.empty()) {
    measured = predict::measured_figures_of(records);
  }
  std::ranges::move(figures, std::back_inserter(measured.figures));
  return measured;
}

predict::PredictRequest measured_job(const JobFlags& flags,
                                     const predict::MeasuredRecords& measured) {
  predict::PredictRequest request = flags.request(&measured);
  if (!flags.batch_size()) {
    const int batch = batch_of(measured);
    if (batch > 0) {
      request.batch_size = batch;
    } else if (request.batch_size == 0 && predict::throughput_of(request) == nullptr) {
      throw UsageError(
          "--measured: no figure says its batch; give --batch-size, the samples per rank and step");
    }
  }
  predict::check_batch(request);
  predict::set_layer_times(measured, request);
  return request;
}

predict::MeasuredFit fit_measured(const predict::PredictRequest& job,
                                  const predict::MeasuredRecords& measured, bool print) {
  predict::MeasuredFit fit(job, measured.figures);
  if (print) {
    fit.predict_each_from_others();
    fmt::print(stderr, "{}", report::console_text(measured_tables(fit)));
    print_warnings(measured.warnings);
    print_warnings(fit.warnings());
  }
  return fit;
}

}  // namespace paceline::cli
