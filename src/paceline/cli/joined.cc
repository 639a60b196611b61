// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/joined.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/cli/results.h"
#include "paceline/engines/run_rank.h"
#include "paceline/launch/stop_signals.h"
#include "paceline/measure/bulletin.h"
#include "paceline/measure/host_cores.h"
#include "paceline/measure/session.h"

namespace paceline::cli {
namespace {

using std::chrono::milliseconds;

milliseconds timeout_of(const experiment::Settings& settings) {
  return milliseconds(static_cast<std::int64_t>(settings.timeout * 1000));
}

/// One repetition in a joined world.
int run_once(engines::World& world,
             launch::Heartbeat& heart,
             const launch::StopSignals& stop,
             const experiment::Order& order,
             const std::function<void()>& recorded = {}) {
  const experiment::Settings& settings = order.settings;
  measure::SessionOptions options;
  options.experiment = order.experiment;
  options.records_path = settings.records;
  options.trace_path = settings.trace;
  options.cluster_file = settings.cluster;
  options.run = order.run;
  options.resume = settings.resume;
  options.yes = settings.yes;
  options.progress = order.progress;
  options.require_same_topology = settings.require_same_topology;
  options.timeout = timeout_of(settings);
  options.interface = settings.interface;
  // Not owned: the world's guard holds it longer than any session runs.
  options.heart = std::shared_ptr<launch::Heartbeat>(
      std::shared_ptr<launch::Heartbeat>(), &heart);
  options.recorded = recorded;
  options.stop_signal = [&stop] { return stop.signal(); };
  return measure::run_session(world, options);
}

/// How many ranks each host has, hosts in the order of their first rank.
/// Throws UsageError where a host's ranks do not follow each other, because
/// cases take ranks 0 .. k-1 and mean whole hosts.
std::vector<int> count_by_host(const std::vector<std::string>& hosts) {
  std::vector<int> counts;
  std::vector<std::string> seen;
  for (const std::string& host : hosts) {
    if (!seen.empty() && seen.back() == host) {
      ++counts.back();
      continue;
    }
    if (std::ranges::count(seen, host) > 0) {
      throw UsageError(
          fmt::format("the ranks of host {} do not follow each other; start "
                      "them host by host (mpirun --map-by slot, srun "
                      "--distribution=block)",
                      host));
    }
    seen.push_back(host);
    counts.push_back(1);
  }
  return counts;
}

/// The whole of a launched session on one rank.
class JoinedRun {
 public:
  JoinedRun(const engines::RankContext& context,
            const launch::StopSignals& stop)
      : world_(context.world), heart_(context.heart), stop_(stop) {}

  int run(experiment::Order order, const ExpandFor& expand) {
    measure::Bulletin bulletin = bulletin_for("cores/");
    const measure::HostCores cores =
        measure::host_cores(world_, bulletin, timeout_of(order.settings));
    if (world_.place.rank == 0) {
      order.experiment = expand(count_by_host(world_.hosts), cores.usable);
      results_.emplace(order.settings);
      results_->say_if_complete(order.experiment);
    }
    order = agree(order);
    int code = 0;
    try {
      for (; order.run < order.experiment.runs && code == 0; ++order.run) {
        code = run_once(world_, heart_, stop_, order, [&] {
          if (results_) {
            results_->show_rows(order.experiment);
          }
        });
      }
    } catch (...) {
      show(order, "");
      throw;
    }
    show(order,
         stop_.requested() ? fmt::format("paceline: {} ended the run: ",
                                         signal_name(stop_.signal()))
                           : "");
    return code;
  }

 private:
  measure::Bulletin bulletin_for(const std::string& prefix) {
    return {world_, prefix, [this](const std::string& what) {
              heart_.beat(-1, "waiting for " + what);
            }};
  }

  /// Rank 0's order.
  experiment::Order agree(const experiment::Order& mine) {
    measure::Bulletin bulletin = bulletin_for("order/");
    if (world_.place.rank == 0) {
      bulletin.post("order", experiment::to_text(mine));
      return mine;
    }
    experiment::Order order = experiment::order_from(
        bulletin.read("order", timeout_of(mine.settings)));
    if (!mine.settings.cluster.empty()) {
      order.settings.interface = mine.settings.interface;  // of this host
    }
    return order;
  }

  void show(const experiment::Order& order, const std::string& ended) {
    if (results_) {
      results_->show(order.experiment, ended);
    }
  }

  engines::World world_;
  launch::Heartbeat& heart_;
  const launch::StopSignals& stop_;
  std::optional<Results> results_;  // on rank 0
};

}  // namespace

int run_joined(const experiment::Order& order,
               const launch::Launch& launch,
               const ExpandFor& expand) {
  const launch::StopSignals stop;
  return engines::run_rank(launch,
                           timeout_of(order.settings),
                           [&](const engines::RankContext& context) {
                             return JoinedRun(context, stop).run(order, expand);
                           });
}

int run_ordered_rank(const experiment::Order& order) {
  const launch::StopSignals stop;
  return engines::run_rank(launch::detect_launch(""),
                           timeout_of(order.settings),
                           [&](const engines::RankContext& context) {
                             engines::World world = context.world;
                             return run_once(world, context.heart, stop, order);
                           });
}

}  // namespace paceline::cli
