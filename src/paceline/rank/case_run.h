// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "paceline/engines/link.h"
#include "paceline/engines/run_rank.h"
#include "paceline/engines/world.h"
#include "paceline/launch/key_value_store.h"
#include "paceline/rank/dispatcher_options.h"
#include "paceline/rank/known_times.h"
#include "paceline/rank/window.h"
#include "paceline/records/run_record.h"
#include "paceline/records/trace.h"

namespace paceline::rank {

/// What one rank measured in a case: the rank's part of the case's record.  `error` says why the
/// case counts as failed although it ran to its end.
struct RankResult : records::RunRecord {
  records::RankSamples samples;      // this rank's element of the record's `ranks`
  PlanTimes times;                   // the times from which the plan was made
  std::int64_t started_ns = 0;       // time at which all ranks were ready to begin
  std::vector<records::Span> spans;  // from started_ns on; only with record_spans
  /// The operations on the emulated link in the measured steps; empty if there is no link.
  std::vector<engines::LinkedOperation> linked;
};

struct CaseOptions {
  std::string name;       // unique among the cases of the job
  std::string interface;  // network interface; empty: the engine's choice
  StepLimits limits{};
  bool record_spans = false;
  PlanTimes times{};             // times for the plan, equal on all ranks; others are measured
  std::function<void()> idle{};  // called during waits, as ChannelSpec::idle
  /// Called once all ranks of the case have made its plan and are connected.
  std::function<void()> accepted = [] {};
  std::function<void(int done, int total)> progress{};
  /// Called with this rank's samples of the complete steps if an error ends the measurement.
  std::function<void(records::RankSamples)> interrupted{};
  engines::OnFailure on_failure{};  // called if this rank's step hangs
};

/// Runs one case on one of its ranks, 0 .. ranks-1 of the world: the measured window, then the
/// checks.  If anything crosses the network, it then measures blocks of steps with and without
/// communication in turn, while all ranks compute at once.  In a replay that runs slower by a
/// factor `stretch`, the times are divided by this factor, except those of `linked`.
RankResult run_case(const engines::World& world, const cases::Case& configuration,
                    launch::PrefixStore& store, const CaseOptions& options);

}  // namespace paceline::rank
