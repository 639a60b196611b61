// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/session.h"

#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/exit_status.h"
#include "paceline/engines/engine.h"
#include "paceline/launch/signals.h"
#include "paceline/rank/case_record.h"
#include "paceline/rank/cores.h"
#include "paceline/rank/environment.h"
#include "paceline/rank/workload.h"
#include "paceline/records/environment.h"

namespace paceline::rank {

SessionContext::SessionContext(const engines::RankContext& rank_context,
                               const cases::JobSpec& job_spec, const SessionHooks& session_hooks)
    : context(rank_context),
      world(rank_context.world),
      job(job_spec),
      hooks(session_hooks),
      rejection(world.store, !job.is_only_case),
      store(store_for(fmt::format("session/{}/", job.run))),
      progress(progress_mode_of(is_rank_0(), job.progress)) {}

launch::PrefixStore SessionContext::store_for(const std::string& prefix) {
  return {world.store, world.self.rank, prefix, &context.heartbeat, [this] {
            context.heartbeat.beat(launch::kNoSteps,
                                   position.empty() ? "waiting for others"
                                                    : position + ", waiting for the other ranks");
            idle();
          }};
}

void SessionContext::idle() const {
  context.heartbeat.note_progress();
  launch::throw_if_stop_requested();
  rejection.throw_if_rejected();
}

void SessionContext::report_position(const std::string& where) {
  position = where;
  context.heartbeat.beat_now(launch::kNoSteps, where);
}

void SessionContext::hand_over(const std::string& line) {
  PACELINE_CHECK(is_rank_0());
  post_finished_record(*world.store, job.run, finished++, line);
  if (hooks.finished) {
    hooks.finished();
  }
}

namespace {

void check_hosts(SessionContext& session) {
  const auto difference = records::differences(session.environment.hosts);
  if (!difference) {
    return;
  }
  if (session.job.settings.require_same_topology) {
    throw UsageError("--require-same-topology: the hosts differ: " + *difference);
  }
  if (session.is_rank_0()) {
    fmt::print(stderr, "warning: the hosts differ: {}\n", *difference);
  }
  session.host_warning = {"hosts-differ", *difference, "a step waits for its slowest rank",
                          "compare on equal hosts, or use --require-same-topology"};
}

// Prepares the session.  Ranks that train are bound to their own cores until the returned object is
// destroyed.
std::unique_ptr<CorePin> set_up(SessionContext& session) {
  const cases::JobSpec& job = session.job;
  // Engines start before the rank is bound to its cores, which their threads would inherit.
  for (const std::string& engine : cases::engines_of(job)) {
    engines::make_engine(engine)->start(job.settings.timeout_ms(), [&] { session.idle(); });
  }
  const HostCores cores = host_cores(session.world, session.store);
  session.cores = cores.usable;
  session.environment = exchange_environment(session.world, session.store, session.cores);
  check_hosts(session);
  std::unique_ptr<CorePin> pin;
  if (!job.operations) {
    pin = std::make_unique<CorePin>(session.world.self.local_rank, session.world.self.local_world,
                                    core_demand_of(job.experiment.cases), cores.apart);
    for (records::HostEnvironment& host : session.environment.hosts) {
      host.facts["pinning"] = pin->description();
    }
  }
  if (session.is_rank_0()) {
    post_environment(*session.world.store, session.environment);
  }
  return pin;
}

}  // namespace

int run_session(const engines::RankContext& context, const cases::JobSpec& job,
                const SessionHooks& hooks) {
  SessionContext session(context, job, hooks);
  try {
    const std::unique_ptr<CorePin> pin = set_up(session);
    const auto workload = job.operations ? engine_operations(session) : training_cases(session);
    const std::size_t items = workload->begin();
    for (std::size_t item = 0; item < items; ++item) {
      launch::throw_if_stop_requested();
      workload->perform(item);
    }
    if (session.is_rank_0() && hooks.finished) {
      hooks.finished();
    }
    return 0;
  } catch (const launch::StopRequested& stop) {
    return kSignalStatus + stop.signal;
  }
}

}  // namespace paceline::rank
