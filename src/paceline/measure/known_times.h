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

namespace paceline::measure {

/// The key of the job's store by which repetitions share what one of them
/// measured; `run_job` carries it over.
inline constexpr const char* kTimesKey = "times";

/// What a strategy decides by; what is not here is measured for the case.
struct PlanTimes {
  std::optional<plan::LayerProfile> profile{};
  std::optional<plan::AlphaBeta> alpha_beta{};
};

/// Exact; for other ranks.
std::string to_text(const PlanTimes& times);
PlanTimes plan_times_from(const std::string& text);

/// The times of layers and collectives that a run knows before a case begins:
/// the fits of its cluster file, and what earlier cases have measured.  Layers
/// hold for a network on so many ranks, collectives for an engine, a device, a
/// placement of ranks and a model's size.  On every rank; rank 0's count.
class KnownTimes {
 public:
  /// `cluster_file` is read by rank 0; empty: none.  Reads what the job's store
  /// holds.
  KnownTimes(const engines::World& world, const std::string& cluster_file);

  /// What is known of a case, the same on all of its ranks, which call this.
  /// Nothing for a strategy that decides by no times, for a replay's layers and
  /// for a modelled link.  Rank 0 says on stderr, once each, which fits it
  /// takes, and why there are none where a cluster file was given.
  PlanTimes share(const records::Configuration& configuration,
                  launch::PrefixStore& store);

  /// Keeps what a case was planned by (`used`) and nobody had known before it,
  /// for later cases that ask for the same, and in the job's store.
  void keep(const records::Configuration& configuration,
            const PlanTimes& known,
            const PlanTimes& used);

 private:
  PlanTimes known(const records::Configuration& configuration);
  std::optional<plan::AlphaBeta> fits_for(
      const records::Configuration& configuration);
  std::string placement(int ranks) const;
  void say(const std::string& sentence);

  const engines::World& world_;
  std::string file_;
  std::optional<cluster::Cluster> cluster_;  // on rank 0
  std::map<std::string, PlanTimes> kept_;    // by what they hold for
  std::set<std::string> said_;
};

}  // namespace paceline::measure
