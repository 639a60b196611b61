// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/predict.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/base/delayed_call.h"
#include "paceline/base/error.h"
#include "paceline/base/exit_status.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/case/raw_settings.h"
#include "paceline/cli/argument_checks.h"
#include "paceline/cli/predict_requests.h"
#include "paceline/front/record_target.h"
#include "paceline/predict/case_request.h"
#include "paceline/records/json.h"
#include "paceline/records/store.h"
#include "paceline/records/trace.h"
#include "paceline/report/cases.h"
#include "paceline/report/console.h"
#include "paceline/report/formats.h"
#include "paceline/strategies/hosts.h"
#include "paceline/strategies/strategy.h"
#include "paceline/strategies/strategy_text.h"

namespace paceline::cli {
namespace {

/// A notice that is printed on stderr if a simulation takes long.
DelayedCall slow_notice(plan::Rank ranks, const std::string& strategy) {
  return {kNoticeDelay, [ranks, strategy] {
            fmt::print(stderr,
                       "paceline: still simulating {} ranks under {}; what passes between ranks "
                       "one by one, as with servers, takes longest\n",
                       ranks, strategy);
          }};
}

/// Whether each part of the strategy's text has the name of a part.
bool has_known_parts(const std::string& strategy) {
  const auto axes = strategies::strategy_axes();
  return std::ranges::all_of(strategies::parts_of_text(strategy), [&](const auto& part) {
    std::string name = part.name;
    std::ranges::replace(name, '_', '-');
    return std::ranges::any_of(axes, [&](const strategies::AxisInfo& axis) {
      return std::ranges::find(axis.rows, name, &strategies::RowInfo::name) != axis.rows.end();
    });
  });
}

/// Throws UsageError if --bucket-mb is out of range or has no effect on the strategy.
void check_buckets(const std::string& strategy, double mebibytes) {
  const auto with = [&](double size) {
    return strategies::parse_strategy(strategy, {.bucket_mb = size}).text();
  };
  const std::string one = with(1);
  if (!(mebibytes >= 0 && mebibytes <= strategies::kMostMebibytes)) {
    throw UsageError(fmt::format("--bucket-mb {:g}: must be from 0 to {:.0f}", mebibytes,
                                 strategies::kMostMebibytes));
  }
  if (one == with(2) && one == with(mebibytes)) {
    throw UsageError(fmt::format("--bucket-mb {:g}: {} has no buckets, or says their size",
                                 mebibytes, strategy));
  }
}

/// The distinct strategies of the figures that have more than one rank.
std::vector<std::string> strategies_of(const predict::MeasuredRecords& measured) {
  std::vector<std::string> strategies;
  for (const predict::MeasuredFigure& it : measured.figures) {
    if (it.ranks > 1 && !it.strategy.empty()) {
      add_once(strategies, it.strategy);
    }
  }
  return strategies;
}

}  // namespace

PredictCommand::PredictCommand(CLI::App& app) : job_(app), tables_(app), measured_(app) {
  job_.make_exclusive_with(measured_.option());
  tables_.make_exclusive_with(measured_.option());
  app.add_option("--strategy", strategy_,
                 "as in paceline run, one or several [fusion; of hybrid and dlrm what experiments/ "
                 "says; with records those of them]")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  app.add_option("--bucket-mb", bucket_mb_, "MiB of a bucket [25]");
  app.add_option("--local-size", local_size_,
                 "ranks a machine for strategies that look at hosts; the machines may be of one "
                 "host [as the hosts have]")
      ->check(whole_number_in(1));
  app.add_option("--steps", steps_, "steps of the record [10]")->check(whole_number_in(1));
  app.add_option("--noise", sigma_, "sigma of log-normal compute times [0]")
      ->check(number_in(0, cluster::kMostNoise));
  app.add_option("--seed", seed_, "of the noise [0]")->check(seed_in_64_bits());
  CLI::Option* requests =
      app.add_option("--requests", requests_,
                     "predict a job for each line, a JSON object with these flags as keys; -: "
                     "standard input; a record a line on standard output")
          ->type_name("FILE|-");
  app.add_option("--trace", trace_, "write the timeline, for ui.perfetto.dev");
  app.add_option("--records", records_, "append the record to this file");
  app.add_option("--format", format_, "as in paceline run [table]");
  for (CLI::Option* option : app.get_options()) {
    if (option != requests && option != app.get_help_ptr()) {
      requests->excludes(option);
    }
  }
}

std::vector<std::string> PredictCommand::chosen_strategies(std::vector<std::string> usual) const {
  std::vector<std::string> strategies = std::move(usual);
  if (!strategy_.empty()) {
    strategies.clear();
    for (auto& value : cases::split_flag("strategy", strategy_)) {
      strategies.push_back(std::move(value.text));
    }
  }
  for (const std::string& strategy : strategies) {
    try {
      (void)strategies::parse_strategy(strategy);
    } catch (const UsageError&) {
      if (strategies.size() == 1 || !has_known_parts(strategy)) {
        throw;
      }
      continue;  // parts that cannot be combined are a rejected row
    }
    if (bucket_mb_) {
      check_buckets(strategy, *bucket_mb_);
    }
  }
  return strategies;
}

/// Adds the number of ranks per machine (--local-size) to the text of the strategy.
std::string PredictCommand::on_hosts(const std::string& strategy, double bucket_mb) const {
  return local_size_ == 0
             ? strategy
             : strategies::text_with_local_size(
                   strategies::parse_strategy(strategy, {.bucket_mb = bucket_mb}), local_size_);
}

PredictCommand::PredictionText PredictCommand::predicted(
    const predict::PredictRequest& request, const std::optional<predict::MeasuredFit>& fit) const {
  const DelayedCall notice = slow_notice(request.ranks, request.strategy);
  predict::Prediction prediction =
      predict::predict(fit ? fit->priced(request) : request, !trace_.empty());
  std::string more;
  if (fit) {
    predict::set_measured_results(*fit, request, prediction);
    more = predict::efficiency_text(*fit, prediction);
  }
  if (request.tables) {
    predict::check_memory(request, prediction);
    cases::Case tables = tables_.configuration(job_);
    tables.engine = request.engine;
    more = fmt::format("  {}\n", report::table_job_text(tables));
  }
  std::string text = predict::summary_of(prediction) + more;
  return {std::move(prediction), std::move(text)};
}

PredictCommand::PredictionText PredictCommand::rejected(const predict::PredictRequest& request,
                                                        const std::string& why) {
  PredictionText text{.prediction = {},
                      .text = fmt::format("paceline: {} on {} is rejected: {}\n", request.strategy,
                                          counted(request.ranks, "rank"), why)};
  text.prediction.record = predict::rejected_record(request, why);
  return text;
}

bool PredictCommand::is_rejected(const PredictionText& it) {
  return it.prediction.record.error.has_value();
}

PredictCommand::RequestedPredictions PredictCommand::requested(simulator::JobCache* jobs,
                                                               simulator::JobCache& own) const {
  check_combinations();
  predict::MeasuredRecords measured;
  if (measured_.given()) {
    measured = measured_.read();
  }
  RequestedPredictions asked{.request =
                                 measured_.given() ? measured_job(job_, measured) : job_.request()};
  predict::PredictRequest& request = asked.request;
  request.bucket_mb = bucket_mb_.value_or(request.bucket_mb);
  request.steps = steps_;
  request.noise = {.seed = seed_.value_or(0), .sigma = sigma_};
  request.jobs = jobs != nullptr || !measured_.given() ? jobs : &own;
  if (job_.ranks().empty() && request.cluster.hosts.empty()) {
    throw UsageError(
        "--measured without --cluster: say which numbers of ranks to predict, --ranks 8,16");
  }
  asked.worlds = tables_.complete(job_, request);
  const auto recorded = strategies_of(measured);
  asked.strategies = chosen_strategies(recorded.empty() ? std::vector{request.strategy} : recorded);
  // Before anything is simulated, so that a mistake in the flags is reported at once.
  const std::size_t cases = asked.worlds.size() * asked.strategies.size();
  if (cases > 1 && (jobs != nullptr || !trace_.empty())) {
    throw UsageError(fmt::format("{} is of one prediction; {} were asked for",
                                 jobs != nullptr ? "a line of --requests" : "--trace", cases));
  }
  if (measured_.given()) {
    predict::PredictRequest fitted = request;
    fitted.strategy = on_hosts(asked.strategies.front(), request.bucket_mb);
    asked.fit = fit_measured(fitted, measured, jobs == nullptr);
  }
  return asked;
}

void PredictCommand::check_combinations() const {
  if (seed_ && sigma_ == 0) {
    throw UsageError(
        fmt::format("--seed {}: of noise that is not asked for; give --noise", *seed_));
  }
  if (!measured_.given()) {
    return;
  }
  if (has_tables(job_.model())) {
    throw UsageError(fmt::format(
        "--measured: figures of {} and its embedding tables cannot be fitted", job_.model()));
  }
  if (sigma_ > 0) {
    throw UsageError(
        "--measured: figures contain the noise of their machine; leave out --noise, which would "
        "add it again");
  }
  (void)job_.worlds({});  // rejects invalid --ranks before any file is read
}

/// Predicts every case. The text of an invalid case is the reason. Throws UsageError if all cases
/// are invalid.
std::vector<PredictCommand::PredictionText> PredictCommand::predictions(
    simulator::JobCache* jobs) const {
  simulator::JobCache own;
  const RequestedPredictions asked = requested(jobs, own);
  const std::string now = utc_now();
  std::vector<PredictionText> texts;
  predict::PredictRequest request = asked.request;
  for (const plan::Rank ranks : asked.worlds) {
    request.ranks = ranks;
    for (const std::string& strategy : asked.strategies) {
      request.strategy = strategy;
      try {
        request.strategy = on_hosts(strategy, request.bucket_mb);
        texts.push_back(predicted(request, asked.fit));
      } catch (const UsageError& error) {
        texts.push_back(rejected(request, error.what()));
      }
      texts.back().prediction.record.started_at = now;
    }
  }
  if (std::ranges::all_of(texts, is_rejected)) {
    throw UsageError(*texts.front().prediction.record.error);
  }
  return texts;
}

records::RunRecord PredictCommand::record(simulator::JobCache& jobs) const {
  return predictions(&jobs).front().prediction.record;
}

int PredictCommand::run() const {
  if (!requests_.empty()) {
    return predict_requests(requests_);
  }
  const report::Format& format = report::find_format(format_);
  std::vector<Output> inputs{{"--cluster", job_.cluster().file},
                             {"--hostfile", job_.cluster().hostfile}};
  for (const std::string& file : measured_.files()) {
    inputs.push_back({"--measured", file});
  }
  check_outputs({{"--records", records_}, {"--trace", trace_}}, inputs);
  std::optional<front::RecordTarget> target;
  if (!records_.empty()) {
    target.emplace(records_, "predict", records::RecordKind::kRuns);
  }
  const std::vector<PredictionText> texts = predictions(nullptr);
  std::vector<records::RunRecord> records;
  for (const PredictionText& it : texts) {
    records.push_back(it.prediction.record);
  }
  fmt::print("{}", format.render(records));
  std::fflush(stdout);
  for (const PredictionText& it : texts) {
    fmt::print(stderr, "{}", it.text);
  }
  if (!trace_.empty()) {
    const predict::Prediction& traced = texts.front().prediction;
    records::write_trace_file(trace_, traced.spans, {.ranks = traced.rank_names});
    fmt::print(stderr, "trace: {}\n", trace_);
  }
  if (target) {
    for (const records::RunRecord& record : records) {
      target->append(records::to_line(record));
    }
    fmt::print(stderr, "records: {}\n", records_);
  }
  return std::ranges::any_of(texts, is_rejected) ? kFailedStatus : 0;
}

}  // namespace paceline::cli
