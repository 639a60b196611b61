// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/advise.h"

#include <algorithm>
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/cli/verify_advice.h"
#include "paceline/report/command.h"
#include "paceline/sim/advise.h"

namespace paceline::cli {
namespace {

double ms(plan::Picoseconds time) {
  return plan::seconds_of(time) * 1e3;
}

/// What a reader must know of a row beside its numbers.
std::string remark_of(const sim::Advice& row) {
  std::vector<std::string_view> words;
  if (!row.runs) {
    words.emplace_back("simulated only");
  }
  if (!row.examined) {
    words.emplace_back("not examined");
  }
  if (const auto caution = sim::caution(row.guarantee); !caution.empty()) {
    words.push_back(caution);
  }
  return words.empty() ? "" : fmt::format("  ({})", fmt::join(words, "; "));
}

void print_rows(const sim::AdviceTable& table, int top) {
  fmt::print("   {:>9}  {:>21}  {:>12}  strategy\n",
             "step, ms",
             "[with its error]",
             "exposed, ms");
  int left = top > 0 ? top : static_cast<int>(table.rows.size());
  for (const sim::Advice& row : table.rows) {
    if (left-- == 0) {
      fmt::print("   ... {} more, the last {:.2f} ms: --top 0 shows all\n",
                 table.rows.size() - static_cast<std::size_t>(top),
                 ms(table.rows.back().step));
      break;
    }
    fmt::print(" {} {:9.2f}  {:>21}  {:12.2f}  {}{}\n",
               row.like_best ? '*' : ' ',
               ms(row.step),
               fmt::format("[{:.2f}, {:.2f}]", ms(row.low), ms(row.high)),
               ms(row.exposed),
               row.configuration.strategy,
               remark_of(row));
  }
  for (const sim::Unfit& unfit : table.unfit) {
    fmt::print("   {:>9}  {}: {}\n", "-", unfit.strategy, unfit.why);
  }
}

void print_buckets(const sim::AdviceTable& table) {
  fmt::print("\nbucket size, MiB\n");
  for (const sim::BucketAdvice& it : table.buckets) {
    fmt::print("  {}: {:g}", it.strategy, it.best_mb);
    if (it.like.size() > 1) {
      fmt::print(" (not told apart: {:g})", fmt::join(it.like, ", "));
    }
    if (it.worst_mb != it.best_mb) {
      fmt::print(
          ", {:g} costs {:+.1f} %", it.worst_mb, (it.worst_ratio - 1) * 100);
    }
    fmt::print("\n");
  }
}

void print_verified(const Verification& verification) {
  fmt::print("\nrun on {}\n  {:>13}  {:>12}  {:>8}  strategy\n",
             verification.where,
             "predicted, ms",
             "measured, ms",
             "error, %");
  for (const Verified& row : verification.rows) {
    if (!row.error.empty()) {
      fmt::print("  {:>13}  {}: {}\n", "-", row.strategy, row.error);
      continue;
    }
    fmt::print(
        "  {:13.2f}  {:12.2f}  {:+8.1f}  {}{}\n",
        row.predicted_s * 1e3,
        row.measured_s * 1e3,
        (row.predicted_s / row.measured_s - 1) * 100,
        row.strategy,
        row.valid ? "" : "  INVALID: the engine was slower than the link");
  }
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
                 "error of a prediction, percent of the step [what the "
                 "strategy's family has earned on published tables]")
      ->check(CLI::Range(0.0, 99.9));
  app.add_option("--top", top_, "rows that are printed; 0: all [20]");
  app.add_option("--verify",
                 verify_,
                 "run the best K here: on the cluster, where it is this "
                 "machine, else on its links emulated, compute replayed")
      ->type_name("K");
}

int AdviseCommand::run() const {
  sim::AdviseRequest request{.job = job_.request(), .any_update = any_update_};
  if (error_percent_ >= 0) {
    request.error = error_percent_ / 100;
  }
  const auto worlds = job_.worlds(request.job.cluster);
  if (worlds.size() > 1) {
    throw UsageError(fmt::format(
        "--ranks: advice is for one world, {} are given", worlds.size()));
  }
  request.job.ranks = worlds.front();
  if (!bucket_mb_.empty()) {
    request.bucket_mb = bucket_mb_;
  }
  const sim::AdviceTable table = sim::advise(request);
  print_rows(table, top_);
  print_buckets(table);
  fmt::print("\n* not told apart from the first at {}\n",
             error_percent_ >= 0
                 ? fmt::format("an error of {} %", error_percent_)
                 : "the errors that their families have earned");
  if (const sim::Advice* winner = table.winner()) {
    record::Configuration best = winner->configuration;
    best.device = job_.engine() == "gloo" ? "cpu" : "cuda";
    best.engine = job_.engine() == "gloo" ? "gloo" : "nccl";
    if (names_profile(job_.model())) {
      best.replay = job_.model();  // not built in: its layers are replayed
    }
    fmt::print("\n  {}\n", report::command_of(best));
  }
  if (verify_ > 0) {
    std::fflush(stdout);
    print_verified(verify(table, request, job_.model(), verify_));
  }
  return 0;
}

}  // namespace paceline::cli
