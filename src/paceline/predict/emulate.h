// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "paceline/cluster/link_spec.h"
#include "paceline/predict/predict.h"

// Emulation of a cluster on one machine: ranks sleep instead of computing, and
// each rank is behind an emulated link of its own (docs/instruments.md).

namespace paceline::predict {

/// A job on emulated links.
struct Emulation {
  cluster::LinkSpec link;  // of every rank
  PredictRequest request;  // the job on one host of such links
};

/// `like` is the job's prediction on its cluster: its layers are replayed.
/// Links have the rate each way of the slower one that ranks cross, half of it
/// where both ways share one, and the latency of the network where there are
/// several hosts.  Ranks keep the hosts that the strategy divides them into.
Emulation emulate(const PredictRequest& job, const Prediction& like);

/// How long an engine needs for a collective of all ranks.
struct EngineTime {
  plan::Pattern pattern{};
  std::int64_t bytes = 0;  // its payload, the longer of its two sides
  plan::Picoseconds time = 0;
};

/// How many times slower than it is a link must be emulated, so that the engine
/// ends every collective of the job before the link would have: the largest
/// ratio of the two, and at least 1.  Times of `paceline comm` leave some room:
/// they begin when a rank issues, not when the last one does.
///
/// Between sizes that were measured times are interpolated, beyond them they
/// grow with the bytes.  A communicator of fewer ranks saves the engine's start
/// in proportion to its rounds.  Each pattern of the job must have been
/// measured, on all ranks.
double stretch_for(const simulator::Job& job,
                   const cluster::LinkSpec& link,
                   std::span<const EngineTime> measured);

}  // namespace paceline::predict
