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

/// The state that a session shares with its workload on one rank.
struct SessionContext {
  SessionContext(const engines::RankContext& rank_context, const cases::JobSpec& job_spec,
                 const SessionHooks& session_hooks);

  bool is_rank_0() const { return world.self.rank == 0; }

  /// Returns a view of the job's store in which keys begin with `prefix`.
  launch::PrefixStore store_for(const std::string& prefix);

  /// Must be called while this rank waits for other ranks, at the store or in an engine.  Throws if
  /// this rank was asked to stop or another rank has rejected the case.
  void idle() const;

  /// Sends a heartbeat that says what the rank is working on.
  void report_position(const std::string& where);

  /// Hands a line of the record file over to the front, the process that started the ranks.  Rank 0
  /// only.
  void hand_over(const std::string& line);

  const engines::RankContext& context;
  const engines::World& world;
  const cases::JobSpec& job;
  const SessionHooks& hooks;
  Rejection rejection;
  std::string position{};     // what a heartbeat reports; empty: the workload reports it
  launch::PrefixStore store;  // view of the job's store with the keys of this repetition
  ProgressLine progress;
  records::Environment environment{};
  std::optional<records::Warning> host_warning{};  // warns that the hosts differ
  int cores = 1;                                   // usable by all ranks of this host together
  std::size_t finished = 0;                        // number of lines handed over
};

/// What the ranks of a session do, one item after the other: train cases, or perform operations of
/// an engine.  All members are collective.
class Workload {
 public:
  virtual ~Workload() = default;

  /// Prepares the resources that all items share.  Returns the number of items.
  virtual std::size_t begin() = 0;

  /// Performs an item, and on rank 0 hands its record over.
  virtual void perform(std::size_t item) = 0;
};

/// Returns a workload of every case of one repetition of a sweep (rank/training_cases.cc).
std::unique_ptr<Workload> training_cases(SessionContext& session);

/// Returns a workload of every operation of `paceline comm` at every size
/// (rank/engine_operations.cc).
std::unique_ptr<Workload> engine_operations(SessionContext& session);

}  // namespace paceline::rank
