// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/session.h"

#include <algorithm>
#include <cstdio>
#include <functional>

#include <fmt/format.h>
#include <unistd.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/experiment/machine.h"
#include "paceline/experiment/outside.h"
#include "paceline/launch/signals.h"
#include "paceline/measure/case_order.h"
#include "paceline/measure/case_record.h"
#include "paceline/measure/case_run.h"
#include "paceline/measure/cores.h"
#include "paceline/measure/environment.h"
#include "paceline/measure/estimate.h"
#include "paceline/measure/external.h"
#include "paceline/measure/known_times.h"
#include "paceline/measure/master.h"
#include "paceline/measure/progress_line.h"
#include "paceline/measure/rank_group.h"
#include "paceline/measure/refusal.h"
#include "paceline/measure/trace.h"
#include "paceline/measure/warnings.h"
#include "paceline/records/environment.h"

namespace paceline::measure {
namespace {

// One session on one rank.
class Session {
 public:
  Session(const engines::RankContext& context,
          const experiment::JobSpec& job,
          const SessionHooks& hooks)
      : context_(context),
        world_(context.world),
        job_(job),
        settings_(job.settings),
        hooks_(hooks),
        refusal_(world_.store, !job.is_only_case),
        store_(store_for(fmt::format("session/{}/", job.run))),
        progress_(progress_on(is_rank_0(), job.progress)),
        traces_(trace_path(settings_.trace, job.run), world_.hosts) {}

  int run() {
    try {
      return run_all();
    } catch (const launch::StopRequested& stop) {
      return 128 + stop.signal;
    }
  }

 private:
  int run_all() {
    start_engines(
        job_.experiment.cases, settings_.timeout_ms(), [this] { idle(); });
    const HostCores cores = host_cores(world_, store_);
    cores_ = cores.usable;
    environment_ = exchange_environment(world_, store_, cores_);
    check_hosts();
    const CorePin pin(world_.self.local_rank,
                      world_.self.local_world,
                      threads_to_pin(job_.experiment.cases),
                      cores.apart);
    for (records::HostEnvironment& host : environment_.hosts) {
      host.facts["pinning"] = pin.description();
    }
    if (is_rank_0()) {
      post_environment(*world_.store, environment_);
    }
    completed_ = completed_cases(*world_.store);
    launch::PrefixStore job_store = store_for("");
    estimate_ = share_estimate(
        world_,
        job_store,
        cases_to_train(job_.experiment, completed_, job_.run),
        {.settings = settings_, .cores = cores_, .progress = &progress_});
    times_.emplace(world_, settings_.cluster);
    const std::vector<records::Configuration> todo = interleaved(
        cases_to_do(job_.experiment, completed_, job_.run), job_.run);
    for (std::size_t i = 0; i < todo.size(); ++i) {
      run_one(i, todo.size(), todo[i]);
    }
    return 0;
  }

  launch::PrefixStore store_for(const std::string& prefix) {
    return {
        world_.store, world_.self.rank, prefix, &context_.heartbeat, [this] {
          context_.heartbeat.beat(launch::kNoSteps, "waiting for others");
          idle();
        }};
  }

  bool is_rank_0() const { return world_.self.rank == 0; }

  // While this rank waits for others, at the store or in an engine.
  void idle() const {
    context_.heartbeat.note_move();
    launch::throw_if_stop_requested();
    refusal_.throw_if_refused();
  }

  void check_hosts() {
    const auto difference = records::differences(environment_.hosts);
    if (!difference) {
      return;
    }
    if (settings_.require_same_topology) {
      throw UsageError("--require-same-topology: the hosts differ: " +
                       *difference);
    }
    if (is_rank_0()) {
      fmt::print(stderr, "warning: the hosts differ: {}\n", *difference);
    }
    host_warning_ = {"hosts-differ",
                     *difference,
                     "a step waits for its slowest rank",
                     "compare on equal hosts, or use --require-same-topology"};
  }

  void run_one(std::size_t index,
               std::size_t count,
               const records::Configuration& c) {
    launch::throw_if_stop_requested();
    context_.heartbeat.set_role(c.role_of(world_.self.rank));
    if (is_rank_0()) {
      world_.store->set(kCurrentCaseKey, c.key());
    }
    const auto prefix = fmt::format("session/{}/case/{}/", job_.run, index);
    launch::PrefixStore store = store_for(prefix);
    if (!c.not_run.empty()) {
      if (is_rank_0()) {
        record_error(c, c.not_run, experiment::status_of_not_run(c));
      }
    } else if (world_.self.rank < experiment::processes_of(c)) {
      const auto title = fmt::format("[{}/{}] {} {} ({} ranks)",
                                     index + 1,
                                     count,
                                     c.model,
                                     c.label.empty() ? c.strategy : c.label,
                                     c.ranks);
      progress_.show(title);
      const auto progress = [&](int done, int total) {
        launch::throw_if_stop_requested();
        progress_.show(fmt::format("{}: step {} of {}", title, done, total));
      };
      const auto why = refusal_.of(prefix + "refused", [&] {
        const std::int64_t started_ns =
            is_external(c) ? perform_outside(c, store, index, prefix, progress)
                           : perform(c, store, index, progress);
        progress_.clear();
        if (is_rank_0()) {
          collect(c, store, started_ns);
        } else if (is_master(c, world_.self.rank)) {
          hand_over_results(store, experiment::processes_of(c));
        }
      });
      progress_.clear();
      if (why && is_rank_0()) {
        fmt::print(
            stderr, "paceline: {}\nthat case is recorded as failed\n", *why);
        record_error(c, *why);
      }
    }
    store.barrier("end", world_.self.world);
  }

  using Progress = std::function<void(int done, int total)>;

  // Posts this rank's result; returns when the case began.
  std::int64_t perform(const records::Configuration& c,
                       launch::PrefixStore& store,
                       std::size_t index,
                       const Progress& progress) {
    const PlanTimes known = times_->share(c, store);
    RankResult result =
        run_case(world_,
                 c,
                 store,
                 {.name = fmt::format("run{}/case{}", job_.run, index),
                  .interface = settings_.interface,
                  .timeout = settings_.timeout_ms(),
                  .first_step = estimate_.first_step(
                      c, std::min(c.ranks, world_.self.local_world), cores_),
                  .record_spans = !settings_.trace.empty(),
                  .times = known,
                  .heartbeat = &context_.heartbeat,
                  .idle = [this] { idle(); },
                  .accepted = [this] { refusal_.accept(); },
                  .progress = progress,
                  .interrupted =
                      [&](records::RankSamples samples) {
                        tell_so_far(c, std::move(samples));
                      },
                  .on_failure = hooks_.on_failure,
                  .access = hooks_.access});
    times_->keep(c, known, result.times);
    place(result.samples);
    post_result(
        store, world_.self.rank, result, engines::on_one_host(world_.hosts));
    return result.started_ns;
  }

  // Samples come from ranks that train.
  void tell_so_far(const records::Configuration& c,
                   records::RankSamples samples) const {
    place(samples);
    if (c.discard || (c.has_tables() && samples.rank >= c.trainers)) {
      return;
    }
    try {
      post_so_far(*world_.store, std::move(samples));
    } catch (const WorldError&) {
      return;  // the store is gone, with the rank that served it
    }
  }

  void place(records::RankSamples& samples) const {
    samples.rank = world_.self.rank;
    samples.host = world_.self.host;
    samples.local_rank = world_.self.local_rank;
  }

  std::int64_t perform_outside(const records::Configuration& c,
                               launch::PrefixStore& store,
                               std::size_t index,
                               const std::string& prefix,
                               const Progress& progress) {
    // Which has a deadline of its own.
    const launch::Heartbeat::Hold hold(context_.heartbeat,
                                       launch::Heartbeat::Hold::For::kWatched);
    records::RunRecord part = run_external(
        context_,
        c,
        store,
        {.settings = settings_,
         .prefix = prefix,
         .log =
             log_path(settings_.records, job_.run, index, c, world_.self.rank),
         .progress = [&](int done, int total) {
           refusal_.throw_if_refused();
           progress(done, total);
         }});
    for (records::RankSamples& rank : part.ranks) {
      rank.host = world_.self.host;
      rank.local_rank =
          experiment::starts_its_ranks(c) ? rank.rank : world_.self.local_rank;
    }
    post_part(store, world_.self.rank, part);
    return 0;
  }

  // Rank 0: one record of all ranks' results, and their spans.
  void collect(const records::Configuration& c,
               launch::PrefixStore& store,
               std::int64_t started_ns) {
    records::RunRecord whole =
        take_results(c, store, experiment::processes_of(c));
    if (is_external(c)) {
      complete_external(c, whole);
    }
    if (c.discard) {
      return;
    }
    if (!c.link.empty()) {
      whole.link_check = gather_link_check(store, c, whole.ranks);
    }
    describe(c, whole);
    if (whole.planned_by && !whole.planned_by->remark.empty()) {
      fmt::print(stderr, "{}: {}\n", c.strategy, whole.planned_by->remark);
    }
    add_warnings(c, environment_, whole);
    if (host_warning_) {
      whole.warnings.push_back(*host_warning_);
    }
    if (const auto busy = busy_machine(
            environment_,
            world_.self.host,
            most_threads(
                job_.experiment.cases, world_.self.local_world, cores_))) {
      whole.warnings.push_back(*busy);
    }
    hand_over(whole);
    if (!settings_.trace.empty() && !is_external(c)) {
      traces_.add(whole, gather_spans(store, c.ranks, started_ns - began_ns_));
    }
  }

  // What a record has beside its figures.
  void describe(const records::Configuration& c, records::RunRecord& whole) {
    whole.source = source_of(c);
    whole.experiment = job_.experiment.name;
    whole.started_at = utc_now();
    whole.run = job_.run;
    whole.configuration = c;
    whole.environment = environment_;
    if (is_external(c)) {
      take_versions(whole);
    }
    if (const auto search = job_.experiment.searches.find(c.key());
        search != job_.experiment.searches.end()) {
      whole.adapter[experiment::kBatchMode] = experiment::kMax;
      whole.adapter[experiment::kBatchTried] = search->second;
    }
    if (settings_.protocol == "dlperf") {
      if (const auto warning = shortened_protocol(c, job_.experiment.runs)) {
        whole.warnings.push_back(*warning);
      }
    }
  }

  void hand_over(const records::RunRecord& whole) {
    PACELINE_CHECK(is_rank_0());
    post_finished(*world_.store, job_.run, finished_++, whole);
    if (hooks_.finished) {
      hooks_.finished();
    }
  }

  void record_error(const records::Configuration& c,
                    const std::string& why,
                    const std::string& status = "") {
    records::RunRecord whole;
    describe(c, whole);
    whole.error = why;
    whole.status = status;
    hand_over(whole);
  }

  const engines::RankContext& context_;
  const engines::World& world_;
  const experiment::JobSpec& job_;
  const experiment::Settings& settings_;
  const SessionHooks& hooks_;
  Refusal refusal_;
  launch::PrefixStore store_;
  ProgressLine progress_;
  std::size_t finished_ = 0;  // handed over
  records::Environment environment_;
  std::optional<records::Warning> host_warning_;
  int cores_ = 1;             // that all ranks of this host may use
  CompletedCases completed_;  // before this session
  Estimate estimate_;
  std::optional<KnownTimes> times_;
  std::int64_t began_ns_ = steady_ns();
  CaseTraces traces_;
};

}  // namespace

int run_session(const engines::RankContext& context,
                const experiment::JobSpec& job,
                const SessionHooks& hooks) {
  return Session(context, job, hooks).run();
}

}  // namespace paceline::measure
