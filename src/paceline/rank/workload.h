// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "paceline/case/job_spec.h"
#include "paceline/rank/progress_line.h"
#include "paceline/rank/rejection.h"
#include "paceline/rank/session.h"
#include "paceline/records/run_record.h"

namespace paceline::rank {

/// What a session gives its workload on one rank.
struct SessionContext {
  SessionContext(const engines::RankContext& rank_context, const cases::JobSpec& job_spec,
                 const SessionHooks& session_hooks);

  bool is_rank_0() const { return world.self.rank == 0; }

  /// Keys of the job's store that begin with `prefix`.
  launch::PrefixStore store_for(const std::string& prefix);

  /// To be called while this rank waits for others, at the store or in an engine.  Throws where it
  /// was asked to stop or another rank has rejected the case.
  void idle() const;

  /// Sends a heartbeat that says where the work is.
  void report_position(const std::string& where);

  /// On rank 0: hands a line of the record file over to the front.
  void hand_over(const std::string& line);

  const engines::RankContext& context;
  const engines::World& world;
  const cases::JobSpec& job;
  const SessionHooks& hooks;
  Rejection rejection;
  std::string position{};     // in heartbeats; empty: the workload has its own
  launch::PrefixStore store;  // of this repetition
  ProgressLine progress;
  records::Environment environment{};
  std::optional<records::Warning> host_warning{};  // that the hosts differ
  int cores = 1;                                   // that all ranks of this host may use
  std::size_t finished = 0;                        // lines that were handed over
};

/// What the ranks of a session do, an item after the other: train cases, or perform operations of
/// an engine.  All members are collective.
class Workload {
 public:
  virtual ~Workload() = default;

  /// Prepares what all items need.  Returns the number of items.
  virtual std::size_t begin() = 0;

  /// Performs an item; rank 0 hands its record over.
  virtual void perform(std::size_t item) = 0;

  /// Does what is left after the last item.
  virtual void end() = 0;
};

/// Every case of one repetition of a sweep (rank/training_cases.cc).
std::unique_ptr<Workload> training_cases(SessionContext& session);

/// Every operation of `paceline comm` at every size (rank/engine_operations.cc).
std::unique_ptr<Workload> engine_operations(SessionContext& session);

}  // namespace paceline::rank
