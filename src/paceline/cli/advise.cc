// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/advise.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "paceline/base/delayed_call.h"
#include "paceline/base/error.h"
#include "paceline/base/shell.h"
#include "paceline/case/command.h"
#include "paceline/cli/advise_output.h"
#include "paceline/cli/argument_checks.h"
#include "paceline/cli/outlook_output.h"
#include "paceline/cli/warnings.h"
#include "paceline/plan/engine_traits.h"
#include "paceline/predict/advise.h"
#include "paceline/predict/measured_fit.h"
#include "paceline/predict/next_measurement.h"
#include "paceline/predict/scaling.h"
#include "paceline/report/command_output.h"
#include "paceline/strategies/strategy.h"

namespace paceline::cli {
namespace {

/// Returns notes on how the case `run`, which is to be started, differs from the predicted case.
/// The first note says that `run` has another engine; it is left out if `run` is a replay and the
/// predicted engine is built in. The second note says what a replay does not do.
std::vector<std::string> notes_of(const cases::Case& priced, const cases::Case& run) {
  std::vector<std::string> notes;
  const bool replays = !run.replay.empty();
  const bool named = replays && plan::find_engine_traits(priced.engine) != nullptr;
  if (!named && priced.engine != run.engine) {
    notes.push_back(
        fmt::format("priced with --engine {}; it runs on {}", priced.engine, run.engine));
  }
  if (replays) {
    notes.emplace_back(
        "--replay sleeps through the profile's layers on the CPU, moves real bytes with gloo and "
        "trains nothing");
  }
  return notes;
}

/// Turns a row of the table of advice into a case that can run on the described hosts. Its device
/// is the one for which the engine's costs hold. A case that replays a profile runs on the CPU,
/// where its ranks sleep instead of computing.
cases::Case runnable_case(cases::Case row, const JobFlags& job) {
  const plan::EngineTraits* priced = plan::find_engine_traits(row.engine);
  const plan::EngineTraits& engine = priced != nullptr ? *priced : plan::engine_for("cuda");
  row.engine = engine.name;
  row.device = engine.made_for;
  if (is_profile_path(job.model())) {
    row.replay = job.model();  // the network is not built in: its layers are replayed
    row.device = "cpu";
    row.engine = plan::engine_for("cpu").name;
  }
  row.ranks_per_host.clear();  // the hosts' slots determine the placement
  return row;
}

/// Throws UsageError if the measured speeds make the fit assign improbable constants to the links,
/// compared with the cluster's description. Strategies differ only in how they use the links, so
/// such a fit does not tell which strategy is faster.
void reject_unlikely(const predict::MeasuredFit& fit) {
  const auto& warnings = fit.warnings();
  const auto found = std::ranges::find(warnings, "unlikely-constant", &records::Warning::code);
  if (found != warnings.end()) {
    throw UsageError(fmt::format(
        "--measured: no ranking of strategies and no end of scaling follow from these figures: {}; "
        "measure the links with paceline comm and give them with paceline calibrate, or ask "
        "paceline predict for numbers of ranks near the measured ones",
        found->seen));
  }
}

/// Prints the advice, and the command that runs the best strategy on the cluster.
void print_output(report::CommandOutput output, const std::string& command, const JobFlags& job,
                  std::vector<std::string> notes, const std::string& format) {
  output.command = fmt::format("{} {}", command, shell_command(cluster_words(job.cluster())));
  output.command_notes = std::move(notes);
  fmt::print("{}", report::render_output(format, output));
  std::fflush(stdout);
}

}  // namespace

AdviseCommand::AdviseCommand(CLI::App& app) : job_(app), measured_(app) {
  job_.make_exclusive_with(measured_.option());
  app.add_option("--bucket-mb", bucket_mb_, "bucket sizes in MiB to try; 0: a bucket per tensor")
      ->delimiter(',')
      ->check(number_in(0, strategies::kMostMebibytes))
      ->allow_extra_args(false);
  app.add_flag("--any-update", any_update_,
               "also what rounds gradients or averages with neighbors, which changes convergence");
  app.add_option("--error", error_percent_,
                 "error of a prediction, percent of the step [what nine of ten published cells of "
                 "the strategy's family are within]")
      ->check(number_in(0, 99.9));
  app.add_option("--top", top_, "rows of table and markdown; 0: all, as csv and json have [20]")
      ->check(whole_number_in(0));
  add_format_flag(app, format_, report::output_format_names());
}

predict::AdviseRequest AdviseCommand::request() const {
  predict::MeasuredRecords measured;
  predict::AdviseRequest request;
  request.includes_inexact_updates = any_update_;
  if (measured_.given()) {
    measured = measured_.read();
    request.job = measured_job(job_, measured);
    if (request.job.cluster.hosts.empty()) {
      throw UsageError(
          "--measured: advice is for a cluster; give --cluster, or its hosts with --hosts");
    }
  } else {
    request.job = job_.request();
  }
  if (error_percent_) {
    request.error = *error_percent_ / 100;
  }
  const auto worlds = job_.worlds(request.job.cluster);
  if (worlds.size() > 1) {
    throw UsageError(fmt::format("--ranks: advice is for one world, {} are given", worlds.size()));
  }
  request.job.ranks = worlds.front();
  if (measured_.given()) {
    request.fit = std::make_shared<predict::MeasuredFit>(fit_measured(request.job, measured, true));
    reject_unlikely(*request.fit);
    request.job = request.fit->priced(request.job);
  }
  if (!bucket_mb_.empty()) {
    request.bucket_mb = bucket_mb_;
  }
  return request;
}

int AdviseCommand::run() const {
  if (has_tables(job_.model())) {
    throw UsageError(
        fmt::format("{}: strategies are ranked for networks without embedding tables; `paceline "
                    "predict {} --placement NAME` prices a placement",
                    job_.model(), job_.model()));
  }
  if (!job_.second_profile().empty()) {
    throw UsageError(fmt::format(
        "--model: {} is a second profile, and a replay of what is advised sleeps through one; give "
        "the profile of the job's batch",
        job_.second_profile()));
  }
  const predict::AdviseRequest request = this->request();
  const predict::AdviceTable table = [&request] {
    const DelayedCall notice(kNoticeDelay, [] {
      fmt::print(stderr, "paceline: still simulating; strategies with servers take longest\n");
    });
    return predict::advise(request);
  }();
  print_warnings(table.warnings);
  const predict::CodecTable codecs = predict::compare_codecs(request);
  const cases::Case& best = table.winner().configuration;
  const cases::Case run = runnable_case(best, job_);
  report::CommandOutput output = advice_output(table, codecs, top_);
  add_scaling(predict::scaling_of(request, best.strategy), output);
  add_next_measurements(predict::next_measurements(request, table.winner()), output);
  print_output(std::move(output), cases::command_of(run), job_, notes_of(best, run), format_);
  return 0;
}

}  // namespace paceline::cli
