// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/local.h"

#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "paceline/cli/job_hosts.h"
#include "paceline/cli/results.h"
#include "paceline/engines/local_launch.h"
#include "paceline/launch/place.h"
#include "paceline/measure/estimate.h"
#include "paceline/measure/known_times.h"

namespace paceline::cli {
namespace {

/// What later repetitions take over from the first one, by its key.
using Notes = std::map<std::string, std::string>;

constexpr std::array<const char*, 2> kNotes{measure::kEstimateNote,
                                            measure::kTimesNote};

/// The cluster's hosts, or this machine as the only one, with what each is to
/// do: the order, but every host with its own network interface.
void place(const experiment::Order& order,
           const std::optional<cluster::Cluster>& cluster,
           const std::vector<std::string>& command_line,
           engines::LocalLaunch& local) {
  const int world = experiment::largest_world(order.experiment);
  const Reach reach = reach_of(order.settings);
  if (cluster) {
    place_ranks(*cluster, world, reach, local);
  } else {
    local.hosts = {{.host = launch::host_name(), .ranks = world, .argv = {}}};
  }
  for (std::size_t i = 0; i < local.hosts.size(); ++i) {
    engines::HostRanks& host = local.hosts[i];
    host.argv = {"paceline"};
    host.argv.insert(host.argv.end(), command_line.begin(), command_line.end());
    experiment::Order own = order;
    if (cluster) {
      own.settings.interface = interface_of(cluster->hosts[i], reach);
    }
    host.order = experiment::to_text(own);
  }
}

launch::Outcome run_repetition(const experiment::Order& order,
                               const std::optional<cluster::Cluster>& cluster,
                               const std::vector<std::string>& command_line,
                               Notes& notes,
                               Results& results) {
  engines::LocalLaunch local;
  place(order, cluster, command_line, local);
  local.patience.heartbeat = std::chrono::milliseconds(
      static_cast<std::int64_t>(order.settings.timeout * 1000));
  local.patience.meanwhile = [&] { results.show_rows(order.experiment); };
  local.prepare = [&notes](launch::Board& board) {
    for (const auto& [key, text] : notes) {
      board.post(key, text);
    }
  };
  local.conclude = [&notes](launch::Board& board) {
    for (const char* key : kNotes) {
      if (auto text = board.read(key)) {
        notes[key] = *std::move(text);
      }
    }
  };
  return engines::launch_local(local);
}

// What to say of a run that did not come to its end; empty where it did.
std::string ending_of(const launch::Outcome& outcome) {
  if (outcome.stop_signal != 0 && outcome.message.empty()) {
    return fmt::format("paceline: {} ended the run: ",
                       signal_name(outcome.stop_signal));
  }
  return outcome.message.empty()
             ? ""
             : fmt::format("paceline: {}\n", outcome.message);
}

}  // namespace

int run_local(experiment::Order order,
              const std::optional<cluster::Cluster>& cluster,
              const std::vector<std::string>& command_line) {
  Results results(order.settings);
  if (results.say_if_complete(order.experiment)) {
    results.show(order.experiment);
    return 0;
  }
  launch::Outcome outcome;
  Notes notes;
  for (; order.run < order.experiment.runs; ++order.run) {
    outcome = run_repetition(order, cluster, command_line, notes, results);
    if (outcome.exit_code != 0 || outcome.stop_signal != 0) {
      break;
    }
  }
  if (!outcome.message.empty() &&
      results.tally(order.experiment).finished == 0) {
    fmt::print(stderr, "paceline: {}\n", outcome.message);
  } else {
    results.show(order.experiment, ending_of(outcome));
  }
  return outcome.stop_signal != 0 ? 128 + outcome.stop_signal
                                  : outcome.exit_code;
}

}  // namespace paceline::cli
