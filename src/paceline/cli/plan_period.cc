// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/plan_period.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/describe.h"
#include "paceline/simulator/job.h"

namespace paceline::cli {
namespace {

using plan::Step;

/// Other plans of a period than the first one that are printed.
constexpr std::size_t kMostOthers = 7;
/// Runs of steps that are listed of one plan.
constexpr std::size_t kMostRuns = 4;

/// The steps of one period that run a variant, in ascending order.
struct Turn {
  plan::Variant variant{};
  std::vector<Step> steps;
};

/// From step 1 on: step 0 may differ and never come again.
std::vector<Turn> turns_of(const plan::Planner& planner,
                           const plan::PlanInput& input,
                           Step period) {
  std::map<plan::Variant, std::set<Step>> steps;
  for (Step step = 1; step <= period; ++step) {
    steps[planner.variant(input, step)].insert(step % period);
  }
  std::vector<Turn> turns;
  for (const auto& [variant, of_it] : steps) {
    turns.push_back({variant, {of_it.begin(), of_it.end()}});
  }
  std::ranges::sort(turns, {}, [](const Turn& turn) { return turn.steps[0]; });
  return turns;
}

/// "step 3 of 4", "steps 0-6 of 8", "steps 0, 2, 4, 6, ... of 64".
std::string words_for(const std::vector<Step>& steps, Step period) {
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < steps.size();) {
    std::size_t end = i + 1;
    while (end < steps.size() && steps[end] == steps[end - 1] + 1) {
      ++end;
    }
    if (runs.size() == kMostRuns) {
      runs.emplace_back("...");
      break;
    }
    runs.push_back(end == i + 1
                       ? fmt::format("{}", steps[i])
                       : fmt::format("{}-{}", steps[i], steps[end - 1]));
    i = end;
  }
  return fmt::format("{} {} of {}",
                     steps.size() == 1 ? "step" : "steps",
                     fmt::join(runs, ", "),
                     period);
}

/// A line without the number of its operation.
std::string_view content_of(std::string_view line) {
  return trimmed(line.substr(std::min(line.find("  ", 4), line.size())));
}

/// The lines of `other` that `shown` has not, and how many of its own `other`
/// lacks.
struct Difference {
  std::vector<std::string> lines;
  std::int64_t lacking = 0;
};

Difference difference_of(const std::string& shown, const std::string& other) {
  const std::vector<std::string> known = split_lines(shown);
  std::multiset<std::string_view> left;
  for (const std::string& line : known) {
    left.insert(content_of(line));
  }
  Difference difference;
  for (std::string& line : split_lines(other)) {
    const auto found = left.find(content_of(line));
    if (found == left.end()) {
      difference.lines.push_back(std::move(line));
    } else {
      left.erase(found);
    }
  }
  difference.lacking = std::ssize(left);
  return difference;
}

std::string other_text(const std::string& head,
                       const plan::Cost& cost,
                       const Difference& difference) {
  std::string text = fmt::format("     {}: {} on the wire, {}; ",
                                 head,
                                 plan::bytes_text(cost.wire_bytes),
                                 counted(cost.calls, "call"));
  if (difference.lines.empty()) {
    return text +
           fmt::format("without {} of these lines\n", difference.lacking);
  }
  text +=
      difference.lacking == 0
          ? std::string("these lines and\n")
          : fmt::format("in place of {} of these lines\n", difference.lacking);
  return text + fmt::format("{}\n", fmt::join(difference.lines, "\n"));
}

/// Nothing where steps repeat too late to be listed.
std::optional<Step> period_of(const plan::Planner& planner,
                              const plan::PlanInput& input) {
  try {
    return simulator::period_of(planner, input);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

}  // namespace

std::string period_text(const plan::Planner& planner,
                        const plan::PlanInput& input,
                        const plan::Setup& setup,
                        plan::Variant shown) {
  const auto described = [&](const plan::CommPlan& plan) {
    return plan::describe(plan, input.model, setup);
  };
  std::string ops = described(planner.plan(input, setup, shown));
  const std::optional<Step> period = period_of(planner, input);
  if (!period || *period == 1) {
    return ops;
  }
  const std::vector<Turn> turns = turns_of(planner, input, *period);
  std::string text;
  std::size_t others = 0;
  for (const Turn& turn : turns) {
    const std::string words = words_for(turn.steps, *period);
    if (turn.variant == shown) {
      text =
          fmt::format("     steps repeat after {}; counted from 0, {}:\n{}{}",
                      *period,
                      words,
                      ops,
                      text);
    } else if (++others <= kMostOthers) {
      const plan::CommPlan plan = planner.plan(input, setup, turn.variant);
      text += other_text(words,
                         plan::cost(setup, plan, input.rank),
                         difference_of(ops, described(plan)));
    }
  }
  if (others > kMostOthers) {
    text += fmt::format("     ... and {} like these\n",
                        counted(std::ssize(turns) - 1 -
                                    static_cast<std::ptrdiff_t>(kMostOthers),
                                "other plan"));
  }
  return text;
}

}  // namespace paceline::cli
