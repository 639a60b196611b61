// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/until_flags.h"

#include <array>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/text.h"

namespace paceline::cli {
namespace {

/// The largest numbers of runs: the first without --budget, the second if --budget is a time.
constexpr int kDefaultBudgetRuns = 50, kTimedBudgetRuns = 1000;

constexpr double kMostPercent = 1000;
constexpr double kMostSeconds = 1e8;

constexpr auto kTimeUnits =
    std::to_array<std::pair<std::string_view, double>>({{"min", 60}, {"s", 1}, {"h", 3600}});

std::optional<double> seconds_from(std::string_view text) {
  for (const auto& [unit, seconds] : kTimeUnits) {
    if (text.ends_with(unit)) {
      const auto number = number_from<double>(text.substr(0, text.size() - unit.size()));
      return number ? std::optional(*number * seconds) : std::nullopt;
    }
  }
  return std::nullopt;
}

/// The limit at which repeated runs end: their number, or their total time.
struct Budget {
  std::optional<int> runs{};
  std::optional<std::chrono::milliseconds> time{};
};

/// Parses a budget: "40" is a number of runs; "90s", "20min" and "2h" are times.
Budget parse_budget(const std::string& text) {
  if (const auto runs = number_from<int>(text); runs && *runs >= 1) {
    return {.runs = runs};
  }
  const auto seconds = seconds_from(text);
  if (!seconds || !(*seconds > 0) || *seconds > kMostSeconds) {
    throw UsageError(
        fmt::format("--budget: {}: must be a whole number of runs of at least 1 (40), or a time "
                    "(90s, 20min, 2h)",
                    text));
  }
  return {.time = to_milliseconds(*seconds)};
}

/// Parses a percentage: "2%" and "2" give 0.02.
double parse_percent(const std::string& text) {
  const std::string_view digits = text.ends_with('%')
                                      ? std::string_view(text).substr(0, text.size() - 1)
                                      : std::string_view(text);
  const auto percent = number_from<double>(trimmed(digits));
  if (!percent || !(*percent > 0) || *percent > kMostPercent) {
    throw UsageError(
        fmt::format("--until: {}: must be a percentage above 0 and at most {:g}, such as 2%", text,
                    kMostPercent));
  }
  return *percent / 100;
}

}  // namespace

UntilFlags::UntilFlags(CLI::App& app, const std::string& until, const std::string& runs) {
  app.add_option("--until", until_, until)->type_name("PERCENT");
  app.add_option("--budget", budget_,
                 fmt::format("with --until, most runs of {}, or a time (90s, 20min, 2h) after "
                             "which no run begins [{}]",
                             runs, kDefaultBudgetRuns))
      ->type_name("RUNS|TIME");
}

void UntilFlags::check() const {
  if (until_.empty() && !budget_.empty()) {
    throw UsageError(fmt::format("--budget {}: goes with --until PERCENT, which it ends", budget_));
  }
  if (!until_.empty()) {
    within();
    most_runs();
  }
}

std::optional<double> UntilFlags::within() const {
  return until_.empty() ? std::nullopt : std::optional(parse_percent(until_));
}

int UntilFlags::most_runs() const {
  if (budget_.empty()) {
    return kDefaultBudgetRuns;
  }
  return parse_budget(budget_).runs.value_or(kTimedBudgetRuns);
}

std::optional<std::chrono::milliseconds> UntilFlags::time() const {
  return budget_.empty() ? std::nullopt : parse_budget(budget_).time;
}

}  // namespace paceline::cli
