// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "paceline/cluster/cluster.h"
#include "paceline/engines/world.h"
#include "paceline/launch/key_value_store.h"
#include "paceline/plan/alpha_beta.h"
#include "paceline/plan/profile.h"
#include "paceline/records/configuration.h"

namespace paceline::rank {

/// The key of the job's store by which repetitions share what one of them measured; `run_job`
/// carries it over.
inline constexpr const char* kTimesKey = "times";

/// The times by which a strategy makes its plan; absent ones are measured.
struct PlanTimes {
  std::optional<plan::LayerProfile> profile{};
  std::optional<plan::AlphaBeta> alpha_beta{};
};

/// Exact; for other ranks.
std::string to_text(const PlanTimes& times);
PlanTimes plan_times_from(const std::string& text);

/// The times of layers and collectives that are known before a case begins: the fits of the cluster
/// file, and the measurements of earlier cases.  Times of layers hold for a network on the same
/// ranks; times of collectives hold for an engine, a device, a placement of ranks, their threads
/// and a model's size. Every rank has one of these; only rank 0's holds times.
class KnownTimes {
 public:
  /// `cluster_file` is read by rank 0; empty: none.  Reads what the job's store
  /// holds.
  KnownTimes(const engines::World& world, std::string cluster_file);

  /// The known times of a case, equal on all of its ranks; collective over them. Empty for a
  /// strategy that needs no times, for the layers of a replay and for an emulated link.  Rank 0
  /// prints on stderr which fits it takes, or why the cluster file has none, each sentence once.
  PlanTimes share(const records::Configuration& configuration, launch::PrefixStore& store);

  /// Keeps the times of `used` that are not in `known`, for later cases and in the job's store.
  void keep(const records::Configuration& configuration, const PlanTimes& known,
            const PlanTimes& used);

 private:
  PlanTimes known(const records::Configuration& configuration);
  std::optional<plan::AlphaBeta> fits_for(const records::Configuration& configuration);
  std::string placement(int ranks) const;
  void say(const std::string& sentence);

  const engines::World& world_;
  std::string file_;
  std::optional<cluster::Cluster> cluster_;  // on rank 0
  std::map<std::string, PlanTimes> kept_;    // by what they hold for
  std::set<std::string> said_;
};

}  // namespace paceline::rank
