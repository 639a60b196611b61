// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/advise.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "paceline/base/delayed_call.h"
#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/cli/advise_text.h"
#include "paceline/cli/catalogue.h"
#include "paceline/cli/verify_advice.h"
#include "paceline/cli/warnings.h"
#include "paceline/launch/launch_command.h"
#include "paceline/measure/results.h"
#include "paceline/predict/advise.h"
#include "paceline/records/store.h"
#include "paceline/report/command.h"

namespace paceline::cli {
namespace {

/// Where `run` has no such network: the profile that the command wants.
std::string profile_to_write(const JobFlags& job) {
  return job.model() + ".profile.json";
}

/// What is to be done before the command runs, and what it does not do; empty
/// for nothing.
std::string condition_of(const JobFlags& job) {
  if (is_trainable(job.model())) {
    return "";
  }
  if (names_profile(job.model())) {
    return "  --replay sleeps through the profile's layers on the CPU, moves "
           "real bytes with gloo\n  and trains nothing\n";
  }
  return fmt::format(
      "  `paceline run` has no network {} to train: first write {}, the "
      "profile of your\n  own, with adapters/torch_profile.py; --replay sleeps "
      "through its layers on the CPU, moves\n  real bytes with gloo and trains "
      "nothing\n",
      job.model(),
      profile_to_write(job));
}

/// That what was priced with costs under which nothing runs here does run with
/// another engine; empty for an engine that runs.  Of a replay, which moves its
/// bytes with gloo for want of its network, the condition says it.
std::string engine_note(const records::Configuration& priced,
                        const records::Configuration& run) {
  const bool runs = priced.engine == "nccl" || priced.engine == "gloo";
  return runs ? ""
              : fmt::format("  priced with --engine {}; it runs on {}\n",
                            priced.engine,
                            run.engine);
}

/// A row as it can be run: on the described hosts, with the device that
/// the engine's costs are of; a replay's ranks sleep on the CPU.
records::Configuration runnable(records::Configuration row,
                                const JobFlags& job) {
  row.device = row.engine == "gloo" ? "cpu" : "cuda";
  row.engine = row.engine == "gloo" ? "gloo" : "nccl";
  if (names_profile(job.model())) {
    row.replay = job.model();  // not built in: its layers are replayed
  } else if (!is_trainable(job.model())) {
    row.replay = profile_to_write(job);
  }
  if (!row.replay.empty()) {
    row.device = "cpu";
    row.engine = "gloo";
  }
  row.ranks_per_host.clear();  // the hosts' slots say it
  return row;
}

/// The command that runs a row, and what is to be known before it runs.
std::string command_text(const records::Configuration& row,
                         const JobFlags& job) {
  const records::Configuration run = runnable(row, job);
  return fmt::format("\n  {} {}\n{}{}",
                     report::command_of(run),
                     launch::shell_command(cluster_words(job.cluster())),
                     engine_note(row, run),
                     condition_of(job));
}

/// Where the runs' records go; what cannot be is refused before any time is
/// spent.
std::string prepared_records(const std::string& wanted) {
  if (wanted.empty()) {
    std::error_code error;
    std::filesystem::create_directories("results", error);
  }
  const std::string path =
      wanted.empty() ? measure::default_records_path("advise") : wanted;
  check_writable("--records", path);
  if (std::filesystem::exists(path)) {
    records::read_records(path, records::BrokenTail::kSkip);
  }
  return path;
}

/// 3 where a run failed, as `paceline run` has it.
int exit_code_of(const Verification& verification) {
  if (verification.stop_signal != 0) {
    return 128 + verification.stop_signal;
  }
  const bool failed = std::ranges::any_of(
      verification.rows,
      [](const Verified& row) { return !row.error.empty(); });
  return failed ? 3 : 0;
}

}  // namespace

AdviseCommand::AdviseCommand(CLI::App& app) : job_(app) {
  app.add_option("--bucket-mb", bucket_mb_, "bucket sizes in MiB to try")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--any-update",
               any_update_,
               "also what rounds gradients or averages with neighbors, which "
               "changes convergence");
  app.add_option("--error",
                 error_percent_,
                 "error of a prediction, percent of the step [what nine of ten "
                 "published cells of the strategy's family are within]");
  app.add_option("--top", top_, "rows that are printed; 0: all [20]");
  app.add_option("--verify",
                 verify_,
                 "run the best K: on the cluster, where its first host is this "
                 "one, else here on its links emulated, compute replayed")
      ->type_name("K");
  app.add_option("--verify-minutes",
                 verify_minutes_,
                 "that these runs may take together [30]")
      ->type_name("M");
  app.add_option("--records",
                 records_,
                 "append their records to this file "
                 "[results/advise-<utc>.jsonl]")
      ->type_name("FILE");
}

predict::AdviseRequest AdviseCommand::request() const {
  predict::AdviseRequest request{.job = job_.request(),
                                 .any_update = any_update_};
  if (error_percent_) {
    if (!(*error_percent_ >= 0 && *error_percent_ <= 99.9)) {
      throw UsageError(
          fmt::format("--error {:g}: must be from 0 to 99.9", *error_percent_));
    }
    request.error = *error_percent_ / 100;
  }
  const auto worlds = job_.worlds(request.job.cluster);
  if (worlds.size() > 1) {
    throw UsageError(fmt::format(
        "--ranks: advice is for one world, {} are given", worlds.size()));
  }
  request.job.ranks = worlds.front();
  for (const double size : bucket_mb_) {
    if (!(size >= 0)) {
      throw UsageError(fmt::format(
          "--bucket-mb {:g}: must be 0 (a bucket per tensor) or more", size));
    }
  }
  if (!bucket_mb_.empty()) {
    request.bucket_mb = bucket_mb_;
  }
  if (top_ < 0) {
    throw UsageError(fmt::format("--top {}: must be 0 (all) or more", top_));
  }
  return request;
}

int AdviseCommand::run() const {
  const predict::AdviseRequest request = this->request();
  VerifyOptions options{.count = verify_,
                        .minutes = verify_minutes_.value_or(30),
                        .model = job_.model(),
                        .cluster = job_.cluster(),
                        .records = records_};
  check_verification(request, options);
  if (verify_ == 0 && !records_.empty()) {
    throw UsageError(
        "--records: only what --verify K runs leaves records; `paceline "
        "predict --records` writes a prediction's");
  }
  if (verify_ == 0 && verify_minutes_) {
    throw UsageError(
        fmt::format("--verify-minutes {:g}: needs --verify K, how many are run",
                    *verify_minutes_));
  }
  if (verify_ > 0) {
    options.records = prepared_records(records_);
  }
  const predict::AdviceTable table = [&request] {
    const DelayedCall notice(kNoticeDelay, [] {
      fmt::print(stderr,
                 "paceline: still simulating; strategies with servers take "
                 "longest\n");
    });
    return predict::advise(request);
  }();
  print_warnings(table.warnings);
  fmt::print("{}{}", rows_text(table, top_), buckets_text(table));
  if (const predict::Advice* winner = table.winner()) {
    fmt::print("{}", command_text(winner->configuration, job_));
  }
  if (verify_ == 0) {
    return 0;
  }
  std::fflush(stdout);
  const Verification verification = verify(table, request, options);
  fmt::print("{}", verified_text(verification));
  std::fflush(stdout);
  fmt::print(stderr, "records: {}\n", options.records);
  return exit_code_of(verification);
}

}  // namespace paceline::cli
