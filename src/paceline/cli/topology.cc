// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/topology.h"

#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/cli/argument_checks.h"
#include "paceline/cli/topology_text.h"
#include "paceline/strategies/topology.h"
#include "paceline/strategies/topology_analysis.h"

namespace paceline::cli {

TopologyCommand::TopologyCommand(CLI::App& app) {
  app.add_option("name", name_,
                 "a graph of `paceline list topologies`, NAME or "
                 "NAME:PARAMETER")
      ->required()
      ->type_name("NAME");
  app.add_option("-n,--ranks", ranks_, "how many ranks, at most 256")
      ->required()
      ->check(whole_number_in(1, 256))
      ->type_name("N");
  app.add_option("--local-size", local_, "ranks a machine; the machines may be of one host [all]")
      ->check(whole_number_in(1, 256))
      ->type_name("L");
  app.add_flag("--machines", of_machines_,
               "the graph is one of machines, as of hierarchical-neighbor-allreduce");
  app.add_option("--steps", steps_, "steps shown of a graph that changes, at most [8]")
      ->check(whole_number_in(1, 256))
      ->type_name("K");
}

int TopologyCommand::run() const {
  const int local = local_ == 0 ? ranks_ : local_;
  if (ranks_ % local != 0) {
    throw UsageError(fmt::format("--local-size {}: {} ranks do not fill machines of {} each", local,
                                 ranks_, local));
  }
  const strategies::TopologyChoice choice(name_);
  auto topology = choice.on(of_machines_ ? strategies::GraphNodes{ranks_ / local, 1}
                                         : strategies::GraphNodes{ranks_, local});
  if (of_machines_) {
    topology = strategies::rank_topology_of(std::move(topology), local);
  }
  const TopologyView view{.name = choice.text(),
                          .topology = *topology,
                          .nodes = {ranks_, local},
                          .of_machines = of_machines_,
                          .most_steps = steps_};
  fmt::print("{}", topology_text(view));
  return 0;
}

}  // namespace paceline::cli
