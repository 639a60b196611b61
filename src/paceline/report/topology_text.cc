// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/topology_text.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/console.h"
#include "paceline/report/text.h"
#include "paceline/strategies/topology_analysis.h"
#include "paceline/strategies/topology_uses.h"

namespace paceline::report {
namespace {

using strategies::Matrix;
using strategies::TopologyTraffic;

constexpr plan::Rank kMostMatrixColumns = 16;
constexpr plan::Rank kMostListedRanks = 32;
/// A longer period is not multiplied out.
constexpr plan::Step kMostMultiplied = 256;

std::string weight_text(double weight) {
  return weight == 0 ? "." : fmt::format("{:.3g}", weight);
}

Table matrix_table(const TopologyView& view, plan::Step step) {
  const Matrix matrix =
      strategies::matrix_of(view.topology, view.nodes.count, step);
  Table table;
  table.columns.push_back({"rank"});
  for (std::size_t j = 0; j < matrix.size(); ++j) {
    table.columns.push_back({fmt::format("{}", j)});
  }
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    TableRow row{{fmt::format("{}", i)}};
    for (const double weight : matrix[i]) {
      row.cells.push_back(weight_text(weight));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// The rows of a matrix too wide to print, without its zeros.
Table list_table(const TopologyView& view, plan::Step step) {
  Table table;
  table.columns = {{"rank"},
                   {"own"},
                   {.name = "takes weight x rank", .align = Align::kLeft},
                   {.name = "sends to", .align = Align::kLeft}};
  const plan::Rank shown = std::min(view.nodes.count, kMostListedRanks);
  for (plan::Rank rank = 0; rank < shown; ++rank) {
    const auto mixing = view.topology.mixing(rank, step);
    std::vector<std::string> from;
    for (const auto& [other, weight] : mixing.from) {
      from.push_back(fmt::format("{}x{}", weight_text(weight), other));
    }
    table.rows.push_back({{fmt::format("{}", rank),
                           weight_text(mixing.self),
                           fmt::format("{}", fmt::join(from, " ")),
                           fmt::format("{}", fmt::join(mixing.to, " "))}});
  }
  if (shown < view.nodes.count) {
    table.text = fmt::format("... and {} more ranks", view.nodes.count - shown);
  }
  return table;
}

std::string line(std::string_view what, std::string_view text) {
  return fmt::format("  {:<26}{}\n", what, text);
}

/// The numbers of the steps shown, once where they are equal.
std::string by_step(const std::vector<int>& numbers, bool all_shown) {
  const bool equal = std::ranges::all_of(
      numbers, [&](int number) { return number == numbers.front(); });
  return equal && all_shown ? fmt::format("{}", numbers.front())
                            : fmt::format("{}{}",
                                          fmt::join(numbers, ", "),
                                          all_shown ? ", repeating" : ", ...");
}

/// Averages over a graph, and what they are called.
struct Averages {
  const strategies::Topology& topology;
  plan::Rank nodes = 1;
  strategies::Reading reading = strategies::Reading::kValues;
  std::string_view who{};  // empty: every exchange that takes its weights
  /// Without the exact mean after some steps: what becomes of them.
  std::string_view in_the_end = "never, only in the limit";

  std::string term(std::string_view what) const {
    return who.empty() ? std::string(what) : fmt::format("{}: {}", who, what);
  }
};

std::string consensus_lines(const Averages& averages) {
  const auto& [topology, nodes, reading, who, in_the_end] = averages;
  const plan::Step period = topology.period();
  if (period > kMostMultiplied) {
    return line(averages.term("consensus"),
                fmt::format("not computed: the graph repeats after {} steps, "
                            "more than {}",
                            period,
                            kMostMultiplied));
  }
  const auto exact = strategies::steps_to_consensus(
      topology, nodes, std::max<plan::Step>(2 * period, nodes), reading);
  const double second =
      exact && *exact <= period
          ? 0
          : strategies::second_eigenvalue(
                strategies::product_of(topology, nodes, period));
  const double a_step = std::pow(second, 1.0 / static_cast<double>(period));
  std::string text = line(
      averages.term(who.empty() ? "second eigenvalue" : "eigenvalue"),
      period == 1
          ? fmt::format("{:.4g}", second)
          : fmt::format(
                "{:.4g} over {} steps, {:.4g} a step", second, period, a_step));
  text += line(
      averages.term("exact mean"),
      exact ? fmt::format("after {} step{}", *exact, *exact == 1 ? "" : "s")
            : std::string(in_the_end));
  std::vector<std::string> distances;
  for (const plan::Step steps : {4, 16, 64}) {
    const double distance = strategies::distance_to_mean(strategies::as_read(
        strategies::product_of(topology, nodes, steps), reading));
    distances.push_back(distance < 1e-12 ? "< 1e-12"
                                         : fmt::format("{:.3g}", distance));
  }
  return text +
         line(averages.term(who.empty() ? "distance to the mean" : "distance"),
              fmt::format("{} after 4, 16, 64 steps (Frobenius)",
                          fmt::join(distances, ", ")));
}

/// Rounding aside.
bool differ(const Matrix& one, const Matrix& other) {
  constexpr double kRounding = 1e-12;
  for (std::size_t i = 0; i < one.size(); ++i) {
    for (std::size_t j = 0; j < one.size(); ++j) {
      if (std::abs(one[i][j] - other[i][j]) > kRounding) {
        return true;
      }
    }
  }
  return false;
}

/// The exchanges whose weights, in the steps shown, are not the graph's.
std::vector<const strategies::TopologyUse*> with_other_weights(
    const strategies::TopologyUses& uses, const TopologyView& view) {
  std::vector<const strategies::TopologyUse*> others;
  for (const strategies::TopologyUse& use : uses.accepted) {
    for (plan::Step step = 0; use.weights && step < shown_steps(view); ++step) {
      if (differ(
              strategies::matrix_of(*use.weights, view.nodes.count, step),
              strategies::matrix_of(view.topology, view.nodes.count, step))) {
        others.push_back(&use);
        break;
      }
    }
  }
  return others;
}

std::string sent_text(const TopologyView& view, int most_sent) {
  const bool shares = view.of_machines && view.nodes.local > 1;
  std::string text =
      shares ? fmt::format("{}/{} S between machines, {}/{} S inside",
                           most_sent,
                           view.nodes.local,
                           2 * (view.nodes.local - 1),
                           view.nodes.local)
             : fmt::format("{} S", most_sent);
  if (view.model_bytes > 0) {
    text +=
        fmt::format("; S = {}, {}", format_bytes(view.model_bytes), view.model);
  } else {
    text += "; S: bytes of the parameters";
  }
  return text;
}

std::string traffic_lines(const TopologyView& view) {
  std::vector<int> sent, messages, between_hosts;
  for (plan::Step step = 0; step < shown_steps(view); ++step) {
    const TopologyTraffic traffic =
        strategies::traffic_of(view.topology, view.nodes, step);
    sent.push_back(traffic.most_sent);
    messages.push_back(traffic.messages);
    between_hosts.push_back(traffic.between_hosts);
  }
  const bool all = shown_steps(view) == view.topology.period();
  const int most = *std::ranges::max_element(sent);
  return line("receivers of a rank", fmt::format("at most {}", most)) +
         line("bytes sent, rank and step",
              fmt::format("at most {}", sent_text(view, most))) +
         line("messages a step", by_step(messages, all)) +
         line("between machines",
              view.nodes.local < view.nodes.count
                  ? by_step(between_hosts, all)
                  : "0: all ranks on one machine, --local-size says otherwise");
}

/// What the first of the steps shown that has a flaw says of it.
template <class FlawOf>
std::string first_flaw(const TopologyView& view, FlawOf flaw_of) {
  for (plan::Step step = 0; step < shown_steps(view); ++step) {
    const std::string flaw = flaw_of(step);
    if (!flaw.empty()) {
      return view.topology.period() == 1
                 ? flaw
                 : fmt::format("step {}: {}", step, flaw);
    }
  }
  return {};
}

std::string verdict(std::string_view what, const std::string& flaw) {
  return line(what, flaw.empty() ? "yes" : fmt::format("no: {}", flaw));
}

/// Which strategies average over the graph, and why others do not.
std::string uses_lines(const TopologyView& view,
                       const strategies::TopologyUses& uses) {
  std::string_view what = "accepted by";
  std::string text;
  const auto add = [&](const std::string& value) {
    text += hanging(fmt::format("  {:<26}", what), value);
    what = "";
  };
  for (const strategies::TopologyUse& use : uses.accepted) {
    add(fmt::format("{} with {}{}{}",
                    use.exchange,
                    fmt::join(use.updates, ", "),
                    use.codecs.empty() ? "" : "; codecs ",
                    fmt::join(use.codecs, ", ")));
  }
  if (uses.accepted.empty()) {
    add("nothing");
  }
  what = "refused";
  if (view.of_machines && !uses.refusals.empty()) {
    add("(rows and columns are machines here)");
  }
  for (const std::string& refusal : uses.refusals) {
    add(refusal);
  }
  return text;
}

}  // namespace

plan::Step shown_steps(const TopologyView& view) {
  return std::min(view.topology.period(), view.most_steps);
}

namespace {

/// The matrices of the steps shown.
std::string tables_text(const TopologyView& view, const std::string& what) {
  constexpr std::string_view kRule =
      "the row's rank takes so much of the column's";
  std::string text;
  const plan::Step period = view.topology.period();
  for (plan::Step step = 0; step < shown_steps(view); ++step) {
    Table table = view.nodes.count <= kMostMatrixColumns
                      ? matrix_table(view, step)
                      : list_table(view, step);
    table.title =
        period == 1
            ? fmt::format("{}: {}", what, kRule)
            : fmt::format("{}, step {} of {}: {}", what, step, period, kRule);
    text += "\n" + console_text(table);
  }
  return text;
}

}  // namespace

std::string topology_text(const TopologyView& view) {
  const plan::Step period = view.topology.period();
  const auto& [count, local] = view.nodes;
  std::string text = fmt::format(
      "{}{}, {} on {}, {}\n\n",
      view.name,
      view.of_machines ? " of machines" : "",
      counted(count, "rank"),
      counted(count / local, "machine"),
      period == 1 ? "static" : fmt::format("repeats after {} steps", period));
  const std::string uneven = first_flaw(view, [&](plan::Step step) {
    return strategies::imbalance_of(
        strategies::matrix_of(view.topology, view.nodes.count, step));
  });
  text += verdict("doubly stochastic", uneven);
  text += verdict("symmetric", first_flaw(view, [&](plan::Step step) {
                    return strategies::asymmetry_of(
                        view.topology, view.nodes.count, step);
                  }));
  const strategies::TopologyUses uses =
      strategies::uses_of(view.name, view.nodes, view.of_machines);
  text += uses_lines(view, uses);
  text += consensus_lines(
      {.topology = view.topology,
       .nodes = count,
       .in_the_end = !view.topology.recurrence().empty()
                         ? "never, nor in the limit: values only go round"
                     : uneven.empty()
                         ? "never, only in the limit"
                         : "never; push-sum finds it in the limit"});
  const auto others = with_other_weights(uses, view);
  for (const strategies::TopologyUse* use : others) {
    text += consensus_lines({.topology = *use->weights,
                             .nodes = count,
                             .reading = strategies::Reading::kQuotients,
                             .who = use->exchange});
  }
  text += traffic_lines(view);
  text += tables_text(view, "Weights");
  for (const strategies::TopologyUse* use : others) {
    TopologyView own{.name = view.name,
                     .topology = *use->weights,
                     .nodes = view.nodes,
                     .most_steps = view.most_steps};
    text += tables_text(own, fmt::format("Weights of {}", use->exchange));
  }
  if (shown_steps(view) < period) {
    text += fmt::format("\n... and {} more steps; --steps shows them\n",
                        period - shown_steps(view));
  }
  return text;
}

}  // namespace paceline::report
