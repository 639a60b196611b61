// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "paceline/engines/world.h"
#include "paceline/experiment/experiment.h"
#include "paceline/launch/heartbeat.h"

namespace paceline::measure {

struct SessionOptions {
  experiment::Experiment experiment;  // all cases, strategies canonical
  std::string records_path;           // appended by rank 0, case by case
  std::string trace_path;             // empty: none
  std::string cluster_file;           // whose fits planners take; empty: none
  int run = 0;                        // which repetition this process is
  bool resume = false;                // leave out what the file already holds
  bool yes = false;                   // do not stop at a long estimate
  bool progress = false;              // rank 0 reports steps on stderr
  bool require_same_topology = false;
  std::chrono::milliseconds timeout{60'000};
  std::string interface;
  std::shared_ptr<launch::Heartbeat> heart;  // null: nobody listens
  std::function<void()> recorded{};          // on rank 0, after each record
  std::function<int()> stop_signal{};        // polled between steps; 0: none
};

/// Runs every case in the joined world: case k on ranks 0 .. ranks-1, while
/// the others wait in the store.  Rank 0 appends one record a case.  Returns
/// 0, or 128 and the signal by which this rank was asked to stop.
///
/// Throws UsageError (all ranks alike) for a case that cannot run and for a
/// job that is too long, WorldError for a lost rank; records of finished cases
/// are on the disk either way.
int run_session(engines::World& world, const SessionOptions& options);

}  // namespace paceline::measure
