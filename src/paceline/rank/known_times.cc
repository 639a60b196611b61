// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/known_times.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/ranks_per_host.h"
#include "paceline/case/same.h"
#include "paceline/rank/estimate.h"
#include "paceline/strategies/cluster_times.h"
#include "paceline/strategies/strategy.h"

namespace paceline::plan {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AlphaBetaPiece, from_bytes, alpha, beta_ps_per_byte)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AlphaBetaTime, pieces)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AlphaBeta, origin, world, all_reduce, reduce_scatter, all_gather,
                                   broadcast, message)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LayerProfile, origin, forward, backward)

}  // namespace paceline::plan

namespace paceline::rank {
namespace {

using nlohmann::json;

bool needs_measured_times(const cases::Case& c) {
  return c.ranks > 1 && strategies::needs_times(strategies::strategy_of(c));
}

// Returns the key under which layer times are kept.  It contains all settings that they depend on.
std::string layer_times_key(const cases::Case& c, const std::string& placement) {
  return fmt::format("layers {} {}", network_key(c), placement);
}

// Returns the key under which times of collectives are kept.  It contains all settings that they
// depend on: among others the model, which determines the largest size, and the threads, because
// ranks on a CPU compute during the measurement.
std::string collective_times_key(const cases::Case& c, const std::string& placement) {
  return fmt::format(
      "collectives {} {}",
      cases::key_of_fields(c, {cases::Part::kNetwork, &cases::Case::engine, &cases::Case::device,
                               &cases::Case::replay, &cases::Case::servers,
                               &cases::Case::embedding_dim, &cases::Case::threads}),
      placement);
}

constexpr const char* kEarlier = ", for an earlier case of this run";

}  // namespace

void to_json(json& all, const PlanTimes& times) {
  all = json::object();
  if (times.profile) {
    all["profile"] = *times.profile;
  }
  if (times.alpha_beta) {
    all["alpha_beta"] = *times.alpha_beta;
  }
}

void from_json(const json& all, PlanTimes& times) {
  if (all.contains("profile")) {
    times.profile = all.at("profile").get<plan::LayerProfile>();
  }
  if (all.contains("alpha_beta")) {
    times.alpha_beta = all.at("alpha_beta").get<plan::AlphaBeta>();
  }
}

KnownTimes::KnownTimes(const engines::World& world, std::string cluster_file)
    : world_(world), file_(std::move(cluster_file)) {
  if (world.self.rank != 0) {
    return;
  }
  if (!file_.empty()) {
    cluster_ = cluster::read_cluster(file_);
  }
  if (const auto kept = world.store->get(kTimesKey)) {
    json::parse(*kept).get_to(kept_);
  }
}

std::string KnownTimes::placement(int ranks) const {
  std::string text;
  for (int rank = 0; rank < ranks; ++rank) {
    text += world_.hosts[static_cast<std::size_t>(rank)] + " ";
  }
  return text;
}

void KnownTimes::print_once(const std::string& sentence) {
  if (printed_sentences_.insert(sentence).second) {
    fmt::print(stderr, "{}\n", sentence);
  }
}

std::optional<plan::AlphaBeta> KnownTimes::fits_for(const cases::Case& c) {
  const auto hosts = std::span(world_.hosts).first(static_cast<std::size_t>(c.ranks));
  if (c.dtype == "bf16") {
    print_once(
        fmt::format("the fits of {} are of fp32, and the gradients are bf16; their times are "
                    "measured before the run",
                    file_));
    return std::nullopt;
  }
  const bool one_host = std::ranges::count(hosts, hosts[0]) == c.ranks;
  strategies::ClusterTimes times = strategies::times_for(
      strategies::strategy_of(c), *cluster_,
      {.engine = c.engine,
       .device = c.device,
       .world = c.ranks,
       .scope = one_host ? cluster::LinkScope::kDevices : cluster::LinkScope::kHosts,
       .ranks_per_host = ranks_per_host<std::string>(hosts)},
      file_);
  if (!times.missing.empty()) {
    print_once(fmt::format("{}; they are measured before the run", times.missing));
    return std::nullopt;
  }
  print_once(fmt::format("times of collectives: {}", times.model.origin));
  return std::move(times.model);
}

PlanTimes KnownTimes::known(const cases::Case& c) {
  PlanTimes times;
  if (!needs_measured_times(c)) {
    return times;
  }
  const auto kept = [this](const std::string& what) {
    const auto found = kept_.find(what);
    return found == kept_.end() ? PlanTimes{} : found->second;
  };
  if (c.replay.empty()) {
    times.profile = kept(layer_times_key(c, placement(c.ranks))).profile;
  }
  if (c.link.empty()) {
    if (cluster_) {
      times.alpha_beta = fits_for(c);
    }
    if (!times.alpha_beta) {
      times.alpha_beta = kept(collective_times_key(c, placement(c.ranks))).alpha_beta;
    }
  }
  return times;
}

PlanTimes KnownTimes::share(const cases::Case& c, launch::PrefixStore& store) {
  if (!needs_measured_times(c)) {
    return {};
  }
  if (world_.self.rank == 0) {
    store.set("times", json(known(c)).dump());
  }
  return json::parse(store.wait("times")).get<PlanTimes>();
}

void KnownTimes::keep(const cases::Case& c, const PlanTimes& known, const PlanTimes& used) {
  if (world_.self.rank != 0 || !needs_measured_times(c)) {
    return;
  }
  if (!known.profile && used.profile && c.replay.empty()) {
    PlanTimes& kept = kept_[layer_times_key(c, placement(c.ranks))];
    kept.profile = used.profile;
    kept.profile->origin += kEarlier;
  }
  if (!known.alpha_beta && used.alpha_beta && c.link.empty()) {
    PlanTimes& kept = kept_[collective_times_key(c, placement(c.ranks))];
    kept.alpha_beta = used.alpha_beta;
    kept.alpha_beta->origin += kEarlier;
  }
  world_.store->set(kTimesKey, json(kept_).dump());
}

}  // namespace paceline::rank
