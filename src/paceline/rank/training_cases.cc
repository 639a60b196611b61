// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <functional>

#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/case/outside.h"
#include "paceline/launch/signals.h"
#include "paceline/rank/case_order.h"
#include "paceline/rank/case_record.h"
#include "paceline/rank/case_run.h"
#include "paceline/rank/estimate.h"
#include "paceline/rank/external.h"
#include "paceline/rank/known_times.h"
#include "paceline/rank/trace.h"
#include "paceline/rank/warnings.h"
#include "paceline/rank/workload.h"
#include "paceline/records/json.h"

namespace paceline::rank {
namespace {

class TrainingCases final : public Workload {
 public:
  explicit TrainingCases(SessionContext& session)
      : session_(session),
        world_(session.world),
        job_(session.job),
        settings_(session.job.settings),
        traces_(trace_path(settings_.trace, job_.run), world_.hosts) {}

  std::size_t begin() override {
    const CompletedCases completed = completed_cases(*world_.store);
    launch::PrefixStore job_store = session_.store_for("");
    estimate_ =
        share_estimate(world_, job_store, cases_to_train(job_.experiment, completed, job_.run),
                       {.settings = settings_,
                        .cores = session_.cores,
                        .progress = &session_.progress,
                        .continues_without_rejected = !job_.is_only_case});
    times_.emplace(world_, settings_.cluster);
    todo_ = shuffled_for_run(cases_to_do(job_.experiment, completed, job_.run), job_.run);
    return todo_.size();
  }

  void perform(std::size_t index) override {
    const cases::Case& c = todo_[index];
    session_.context.heartbeat.set_role(c.role_of(world_.self.rank));
    const auto title =
        fmt::format("[{}/{}] {} {} ({})", index + 1, todo_.size(), c.model,
                    c.label.empty() ? c.strategy : c.label, counted(c.ranks, "rank"));
    if (session_.is_rank_0()) {
      world_.store->set(kCurrentCaseKey, c.key());
    }
    const auto prefix = fmt::format("session/{}/case/{}/", job_.run, index);
    launch::PrefixStore store = session_.store_for(prefix);
    if (!c.not_run.empty()) {
      if (session_.is_rank_0()) {
        record_error(c, c.not_run, cases::status_of_not_run(c));
      }
    } else if (const auto it = estimate_.rejected.find(c.key()); it != estimate_.rejected.end()) {
      reject(c, it->second);
    } else if (world_.self.rank < cases::processes_of(c)) {
      session_.progress.show(title);
      const auto progress = [&](int done, int total) {
        launch::throw_if_stop_requested();
        session_.progress.show(fmt::format("{}: step {} of {}", title, done, total));
      };
      const auto why = session_.rejection.of(prefix + "rejected", [&] {
        const std::int64_t started_ns = is_external(c)
                                            ? run_external_case(c, store, index, prefix, progress)
                                            : train(c, store, index, progress);
        session_.progress.clear();
        if (session_.is_rank_0()) {
          collect(c, store, title, started_ns);
        }
      });
      session_.progress.clear();
      if (why) {
        reject(c, *why);
      }
    }
    store.barrier("end", world_.self.world);
  }

 private:
  using Progress = std::function<void(int done, int total)>;

  // Trains the case and posts this rank's result.  Returns the time when the case began.
  std::int64_t train(const cases::Case& c, launch::PrefixStore& store, std::size_t index,
                     const Progress& progress) {
    const PlanTimes known = times_->share(c, store);
    RankResult result =
        run_case(world_, c, store,
                 {.name = fmt::format("run{}/case{}", job_.run, index),
                  .interface = settings_.interface,
                  .limits = {.timeout = settings_.timeout_ms(),
                             .first_step = estimate_.first_step(
                                 c, std::min(c.ranks, world_.self.local_world), session_.cores),
                             .heartbeat = &session_.context.heartbeat},
                  .record_spans = !settings_.trace.empty(),
                  .times = known,
                  .idle = [this] { session_.idle(); },
                  .accepted = [this] { session_.rejection.accept(); },
                  .progress = progress,
                  .interrupted =
                      [&](records::RankSamples samples) { report_samples(c, std::move(samples)); },
                  .on_failure = session_.hooks.on_failure});
    times_->keep(c, known, result.times);
    place(result.samples);
    post_result(store, world_.self.rank, result, engines::on_one_host(world_.hosts));
    return result.started_ns;
  }

  // Stores the samples of the complete steps.  Ranks that do not train have no samples.
  void report_samples(const cases::Case& c, records::RankSamples samples) const {
    place(samples);
    if (c.discard || (c.has_tables() && samples.rank >= c.trainers)) {
      return;
    }
    try {
      post_partial_samples(*world_.store, std::move(samples));
    } catch (const WorldError&) {
      return;  // the rank that served the store is gone
    }
  }

  void place(records::RankSamples& samples) const {
    samples.rank = world_.self.rank;
    samples.host = world_.self.host;
    samples.local_rank = world_.self.local_rank;
  }

  std::int64_t run_external_case(const cases::Case& c, launch::PrefixStore& store,
                                 std::size_t index, const std::string& prefix,
                                 const Progress& progress) {
    // The program of an external case has its own deadline, so this thread does not count as hung
    // while it waits.
    const launch::Heartbeat::Hold hold(session_.context.heartbeat,
                                       launch::Heartbeat::Hold::For::kWatched);
    records::RunRecord part =
        run_external(session_.context, c, store,
                     {.settings = settings_,
                      .prefix = prefix,
                      .log = log_path(settings_.records, job_.run, index, c, world_.self.rank),
                      .progress = [&](int done, int total) {
                        session_.rejection.throw_if_rejected();
                        progress(done, total);
                      }});
    for (records::RankSamples& rank : part.ranks) {
      rank.host = world_.self.host;
      rank.local_rank = cases::starts_its_ranks(c) ? rank.rank : world_.self.local_rank;
    }
    post_part(store, world_.self.rank, part);
    return 0;
  }

  // On rank 0: makes one record of all ranks' results, and adds their spans to the trace.
  void collect(const cases::Case& c, launch::PrefixStore& store, const std::string& title,
               std::int64_t started_ns) {
    records::RunRecord whole = gather_results(store, cases::processes_of(c));
    if (c.discard) {
      return;
    }
    describe(c, whole);
    if (is_external(c)) {
      check_external_record(whole);
    }
    if (!c.link.empty()) {
      whole.link_check = gather_link_check(store, whole);
    }
    if (whole.planned_by && !whole.planned_by->remark.empty()) {
      fmt::print(stderr, "{}: {}\n", c.strategy, whole.planned_by->remark);
    }
    add_warnings(whole);
    if (session_.host_warning) {
      whole.warnings.push_back(*session_.host_warning);
    }
    if (const auto busy = busy_machine_warning(
            session_.environment, world_.self.host,
            most_threads(job_.experiment.cases, world_.self.local_world, session_.cores))) {
      whole.warnings.push_back(*busy);
    }
    session_.hand_over(records::to_line(whole));
    if (!settings_.trace.empty() && !is_external(c)) {
      traces_.add(title, gather_spans(store, c.ranks, started_ns - began_ns_));
    }
  }

  // Fills in the fields of a record that are not measured.
  void describe(const cases::Case& c, records::RunRecord& whole) {
    whole.source = source_of(c);
    whole.experiment = job_.experiment.name;
    whole.started_at = utc_now();
    whole.run = job_.run;
    whole.configuration = c;
    whole.environment = session_.environment;
    if (is_external(c)) {
      adopt_reported_versions(whole);
    }
    if (const auto search = job_.experiment.searches.find(c.key());
        search != job_.experiment.searches.end()) {
      whole.adapter[cases::kBatchMode] = cases::kMax;
      whole.adapter[cases::kBatchTried] = search->second;
    }
    if (settings_.protocol == "dlperf") {
      if (const auto warning = shortened_protocol(c, job_.experiment.runs)) {
        whole.warnings.push_back(*warning);
      }
    }
  }

  void reject(const cases::Case& c, const std::string& why) {
    if (session_.is_rank_0()) {
      fmt::print(stderr, "paceline: {}\nthat case is recorded as failed\n", why);
      record_error(c, why, kRejected);
    }
  }

  void record_error(const cases::Case& c, const std::string& why, const std::string& status) {
    records::RunRecord whole;
    describe(c, whole);
    whole.error = why;
    whole.status = status;
    session_.hand_over(records::to_line(whole));
  }

  SessionContext& session_;
  const engines::World& world_;
  const cases::JobSpec& job_;
  const cases::Settings& settings_;
  std::vector<cases::Case> todo_;
  Estimate estimate_;
  std::optional<KnownTimes> times_;
  std::int64_t began_ns_ = steady_ns();
  CaseTraces traces_;
};

}  // namespace

std::unique_ptr<Workload> training_cases(SessionContext& session) {
  return std::make_unique<TrainingCases>(session);
}

}  // namespace paceline::rank
