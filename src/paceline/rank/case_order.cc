// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/case_order.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>

#include "paceline/networks/catalogue.h"

namespace paceline::rank {

namespace {

// Returns whether Paceline has a network of this name.  Adapters may train other networks.
bool has_builtin_network(const cases::Case& c) {
  const auto has = [&](const std::vector<networks::NetworkInfo>& table) {
    return std::ranges::find(table, c.model, &networks::NetworkInfo::name) != table.end();
  };
  return !c.replay.empty() || has(networks::networks()) || has(networks::embedding_networks());
}

}  // namespace

std::vector<cases::Case> cases_to_do(const cases::Experiment& experiment,
                                     const CompletedCases& completed, int run) {
  std::vector<cases::Case> cases;
  for (const cases::Case& c : experiment.cases) {
    if (c.discard || !completed.contains({c.key() + c.not_run, run})) {
      cases.push_back(c);
    }
  }
  return cases;
}

std::vector<cases::Case> cases_to_train(const cases::Experiment& experiment,
                                        const CompletedCases& completed, int run) {
  std::vector<cases::Case> cases;
  for (; run < experiment.runs; ++run) {
    std::ranges::remove_copy_if(cases_to_do(experiment, completed, run), std::back_inserter(cases),
                                [](const cases::Case& c) {
                                  return !c.command.empty() || !has_builtin_network(c) ||
                                         !c.not_run.empty();
                                });
  }
  return cases;
}

std::vector<cases::Case> shuffled_for_run(std::vector<cases::Case> cases, int run) {
  if (run == 0) {
    return cases;
  }
  const auto measured = std::stable_partition(cases.begin(), cases.end(),
                                              [](const cases::Case& c) { return c.discard; });
  std::mt19937 order(static_cast<std::uint32_t>(run));
  for (auto left = cases.end() - measured; left > 1; --left) {
    std::swap(measured[left - 1], measured[static_cast<std::ptrdiff_t>(order()) % left]);
  }
  return cases;
}

}  // namespace paceline::rank
