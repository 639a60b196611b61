// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "paceline/case/case.h"
#include "paceline/cluster/cluster.h"
#include "paceline/engines/world.h"
#include "paceline/launch/key_value_store.h"
#include "paceline/plan/alpha_beta.h"
#include "paceline/plan/profile.h"

namespace paceline::rank {

/// The key of the job's store that holds the measured times for later repetitions; `run_job`
/// carries it over from one repetition to the next.
inline constexpr const char* kTimesKey = "times";

/// The times from which a strategy makes its plan.  Absent times are measured.
struct PlanTimes {
  std::optional<plan::LayerProfile> profile{};
  std::optional<plan::AlphaBeta> alpha_beta{};
};

/// These functions convert the times to JSON for other ranks and back, without rounding.
void to_json(nlohmann::json& all, const PlanTimes& times);
void from_json(const nlohmann::json& all, PlanTimes& times);

/// The times of layers and collectives that are available before a case begins: the fits of the
/// cluster file, and the measurements of earlier cases.  Times of layers are valid for a network on
/// the same ranks.  Times of collectives are valid for an engine, a device, the hosts of the ranks,
/// their threads and a model's size.  Every rank has an object of this class, but only rank 0's
/// holds times.
class KnownTimes {
 public:
  /// Rank 0 reads `cluster_file`, if it is not empty, and the times in the job's store.
  KnownTimes(const engines::World& world, std::string cluster_file);

  /// Returns the available times of a case, equal on all of its ranks.  Collective over these
  /// ranks.  There are no times for a strategy that needs none, for the layers of a replay, and for
  /// collectives on an emulated link.  Rank 0 prints on stderr which fits it uses, or why the
  /// cluster file has none, and prints each sentence once.
  PlanTimes share(const cases::Case& configuration, launch::PrefixStore& store);

  /// Stores the times that are in `used` but not in `known`, here and in the job's store.
  void keep(const cases::Case& configuration, const PlanTimes& known, const PlanTimes& used);

 private:
  PlanTimes known(const cases::Case& configuration);
  std::optional<plan::AlphaBeta> fits_for(const cases::Case& configuration);
  std::string placement(int ranks) const;
  void print_once(const std::string& sentence);

  const engines::World& world_;
  std::string file_;
  std::optional<cluster::Cluster> cluster_;  // set on rank 0 only
  std::map<std::string, PlanTimes> kept_;    // keys: layer_times_key() and collective_times_key()
  std::set<std::string> printed_sentences_;
};

}  // namespace paceline::rank
