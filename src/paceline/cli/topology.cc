// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/topology.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/cli/argument_checks.h"
#include "paceline/plan/comm_plan.h"
#include "paceline/report/console.h"
#include "paceline/report/table.h"
#include "paceline/strategies/topology.h"
#include "paceline/strategies/topology_analysis.h"

namespace paceline::cli {
namespace {

using report::console_text;
using report::Table;
using report::TableRow;
using strategies::Matrix;
using strategies::TopologyTraffic;

/// A graph over ranks, and what its description should show.
struct TopologyView {
  std::string name;
  const strategies::Topology& topology;  // graph over ranks
  strategies::GraphNodes nodes;
  /// Whether the nodes of the graph are machines instead of ranks. Every rank then holds the mean
  /// over its machine's ranks, and sends its part of that mean.
  bool of_machines = false;
  plan::Step most_steps = 8;  // most steps whose matrices are shown
};

constexpr plan::Rank kMostMatrixColumns = 16;
/// The longest period of a graph, in steps, for which the product of its mixing matrices is
/// computed.
constexpr plan::Step kMostMultiplied = 256;

std::string weight_text(double weight) { return weight == 0 ? "." : fmt::format("{:.3g}", weight); }

Table matrix_table(const TopologyView& view, plan::Step step) {
  const Matrix matrix = strategies::matrix_of(view.topology, view.nodes.count, step);
  Table table;
  table.columns.push_back({"rank"});
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    table.columns.push_back({fmt::format("{}", i)});
    TableRow row{{fmt::format("{}", i)}};
    for (const double weight : matrix.row(i)) {
      row.cells.push_back(weight_text(weight));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string line(std::string_view what, std::string_view text) {
  return fmt::format("  {:<26}{}\n", what, text);
}

/// The number of steps that are shown: one period, at most `most_steps`.
plan::Step shown_steps(const TopologyView& view) {
  return std::min(view.topology.period(), view.most_steps);
}

/// Returns a single number if all numbers, one per step, are equal; else the list of them.
std::string step_numbers_text(const std::vector<int>& numbers, bool all_shown) {
  const bool equal =
      std::ranges::all_of(numbers, [&](int number) { return number == numbers.front(); });
  return equal && all_shown
             ? fmt::format("{}", numbers.front())
             : fmt::format("{}{}", fmt::join(numbers, ", "), all_shown ? ", repeating" : ", ...");
}

/// Lines that say how fast averages over the graph converge to the mean. `in_the_end` describes the
/// limit if no number of steps gives the exact mean.
std::string consensus_lines(const strategies::Topology& topology, plan::Rank nodes,
                            std::string_view in_the_end) {
  const plan::Step period = topology.period();
  if (period > kMostMultiplied) {
    return line("consensus",
                fmt::format("not computed: the graph repeats after {} steps, more than {}", period,
                            kMostMultiplied));
  }
  const auto exact =
      strategies::steps_to_consensus(topology, nodes, std::max<plan::Step>(2 * period, nodes));
  const double second =
      exact && *exact <= period
          ? 0
          : strategies::second_eigenvalue(strategies::product_of(topology, nodes, period));
  const double a_step = std::pow(second, 1.0 / static_cast<double>(period));
  std::string text = line(
      "second eigenvalue",
      period == 1 ? fmt::format("{:.4g}", second)
                  : fmt::format("{:.4g} over {} steps, {:.4g} a step", second, period, a_step));
  text += line("exact mean", exact ? fmt::format("after {} step{}", *exact, *exact == 1 ? "" : "s")
                                   : std::string(in_the_end));
  return text;
}

std::string sent_text(const TopologyView& view, int most_sent) {
  const bool shares = view.of_machines && view.nodes.local > 1;
  std::string text =
      shares ? fmt::format("{}/{} S between machines, {}/{} S inside", most_sent, view.nodes.local,
                           2 * (view.nodes.local - 1), view.nodes.local)
             : fmt::format("{} S", most_sent);
  return text + "; S: bytes of the parameters";
}

std::string traffic_lines(const TopologyView& view) {
  std::vector<int> sent, messages, between_hosts;
  for (plan::Step step = 0; step < shown_steps(view); ++step) {
    const TopologyTraffic traffic = strategies::traffic_of(view.topology, view.nodes, step);
    sent.push_back(traffic.most_sent);
    messages.push_back(traffic.messages);
    between_hosts.push_back(traffic.between_hosts);
  }
  const bool all = shown_steps(view) == view.topology.period();
  const int most = *std::ranges::max_element(sent);
  return line("receivers of a rank", fmt::format("at most {}", most)) +
         line("bytes sent, rank and step", fmt::format("at most {}", sent_text(view, most))) +
         line("messages a step", step_numbers_text(messages, all)) +
         line("between machines", view.nodes.local < view.nodes.count
                                      ? step_numbers_text(between_hosts, all)
                                      : "0: all ranks on one machine, --local-size says otherwise");
}

/// Returns the first flaw among the shown steps; empty if none has one.
template <class FlawOf>
std::string first_flaw(const TopologyView& view, FlawOf flaw_of) {
  for (plan::Step step = 0; step < shown_steps(view); ++step) {
    const std::string flaw = flaw_of(step);
    if (!flaw.empty()) {
      return view.topology.period() == 1 ? flaw : fmt::format("step {}: {}", step, flaw);
    }
  }
  return {};
}

std::string verdict(std::string_view what, const std::string& flaw) {
  return line(what, flaw.empty() ? "yes" : fmt::format("no: {}", flaw));
}

/// The matrices of the shown steps; nothing if they are too wide to print.
std::string tables_text(const TopologyView& view) {
  constexpr std::string_view kRule = "the row's rank takes so much of the column's";
  if (view.nodes.count > kMostMatrixColumns) {
    return fmt::format("\nmore than {} ranks: the weights are not printed\n", kMostMatrixColumns);
  }
  std::string text;
  const plan::Step period = view.topology.period();
  for (plan::Step step = 0; step < shown_steps(view); ++step) {
    Table table = matrix_table(view, step);
    table.title = period == 1 ? fmt::format("Weights: {}", kRule)
                              : fmt::format("Weights, step {} of {}: {}", step, period, kRule);
    text += "\n" + console_text(table);
  }
  return text + (shown_steps(view) < period
                     ? fmt::format("\n... and {} more steps; --steps shows them\n",
                                   period - shown_steps(view))
                     : "");
}

/// Facts about the graph, then its matrix for each step, for a terminal.
std::string topology_text(const TopologyView& view) {
  const plan::Step period = view.topology.period();
  const auto& [count, local] = view.nodes;
  std::string text =
      fmt::format("{}{}, {} on {}, {}\n\n", view.name, view.of_machines ? " of machines" : "",
                  counted(count, "rank"), counted(count / local, "machine"),
                  period == 1 ? "static" : fmt::format("repeats after {} steps", period));
  const std::string uneven = first_flaw(view, [&](plan::Step step) {
    return strategies::imbalance_text_of(
        strategies::matrix_of(view.topology, view.nodes.count, step));
  });
  text += verdict("doubly stochastic", uneven);
  text += verdict("symmetric", first_flaw(view, [&](plan::Step step) {
                    return strategies::asymmetry_text_of(view.topology, view.nodes.count, step);
                  }));
  text += consensus_lines(view.topology, count,
                          !view.topology.recurrence_text().empty()
                              ? "never, nor in the limit: values only go round"
                          : uneven.empty() ? "never, only in the limit"
                                           : "never; push-sum finds it in the limit");
  text += traffic_lines(view);
  return text + tables_text(view);
}

}  // namespace

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
