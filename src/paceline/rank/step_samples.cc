// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/rank/clock_check.h"
#include "paceline/rank/log_command.h"
#include "paceline/rank/step_reader.h"

namespace paceline::rank {
namespace {

constexpr double kLeastWindow = 0.99;  // of the sum of its steps

// Length of the window: as the program says, or the sum of its steps.  Time between the steps may
// make the window longer than their sum.
std::int64_t window_of(const std::vector<std::int64_t>& step_ns, std::optional<std::int64_t> said) {
  std::int64_t sum = 0;
  for (const std::int64_t ns : step_ns) {
    sum += ns;
  }
  if (said &&
      (*said <= 0 || static_cast<double>(*said) < kLeastWindow * static_cast<double>(sum))) {
    throw OutsideFailure("bad-output",
                         fmt::format("a window_ns of {}, but its {} took {} ns", *said,
                                     counted(std::ssize(step_ns), "step"), sum));
  }
  return said.value_or(sum);
}

}  // namespace

void check_all_ranks(const records::Configuration& configuration,
                     const std::vector<records::RankSamples>& ranks) {
  if (ranks.empty()) {
    throw OutsideFailure(
        "no-samples",
        !configuration.reader.empty()
            ? fmt::format("it wrote no line of a step of {} (--reader)", configuration.reader)
        : configuration.step_regex.empty()
            ? std::string("it wrote no step (docs/adapters.md)")
            : fmt::format("no line matches --step-regex '{}'", configuration.step_regex));
  }
  if (ranks.size() != 1 && ranks.size() != static_cast<std::size_t>(configuration.ranks)) {
    throw OutsideFailure("wrong-count", fmt::format("steps came of {} of {} ranks", ranks.size(),
                                                    configuration.ranks));
  }
}

std::string StepReader::advice_on_count(std::size_t lines) const {
  const auto all = static_cast<std::size_t>(configuration_.warmup) +
                   static_cast<std::size_t>(configuration_.steps);
  std::vector<std::string> advice;
  const std::size_t steps =
      lines == 0 ? 0 : (all + lines / 2) / lines * configuration_.steps_per_line;
  if (configuration_.steps_per_line == 1 && steps > 1) {
    advice.push_back(fmt::format(
        "where a line stands for several steps, say how many, as --steps-per-line {}", steps));
  }
  const bool told = configuration_.command.find("{total}") != std::string::npos;
  advice.push_back(
      fmt::format("the program has to run {} steps{}; --warmup and --steps ask for fewer", all,
                  told ? "" : ", which {total} in the command hands over"));
  return fmt::format("{}", fmt::join(advice, "; "));
}

void StepReader::check_count(const Series& series, int rank) const {
  const std::size_t lines = series.warmup + lines_for(configuration_.steps);
  const std::size_t came = series.step_ns.size();
  if (came >= lines) {
    return;
  }
  const auto per_line = static_cast<std::size_t>(configuration_.steps_per_line);
  throw OutsideFailure(
      "wrong-count",
      fmt::format("{} of {} steps came{}{}", came * per_line, lines * per_line,
                  series_.size() == 1 ? "" : fmt::format(" of rank {}", rank),
                  configuration_.command.empty() ? "" : "; " + advice_on_count(came)));
}

std::vector<records::RankSamples> StepReader::samples() const {
  std::vector<records::RankSamples> ranks;
  for (const auto& [rank, series] : series_) {
    if (series.step_ns.empty()) {
      continue;  // it told its progress alone
    }
    check_count(series, rank);
    const auto cut = [&, first = series.warmup](const auto& all) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
      return std::vector<std::int64_t>(
          begin, begin + static_cast<std::ptrdiff_t>(lines_for(configuration_.steps)));
    };
    records::RankSamples& samples = ranks.emplace_back();
    samples.rank = rank;
    samples.device = configuration_.device;
    samples.step_ns = cut(series.step_ns);
    for (const auto& [phase, durations] : series.phase_ns) {
      if (durations.size() == series.step_ns.size()) {
        samples.phase_ns[phase] = cut(durations);
      }
    }
    samples.peak_memory_bytes = series.peak_memory_bytes;
    samples.paired_step_ns = series.paired_step_ns;
    samples.compute_only_step_ns = series.compute_only_step_ns;
    samples.pair_of_step = series.pair_of_step;
    // As long as one step of each line, as the samples are.
    samples.window_ns = window_of(
        samples.step_ns, series.window_ns
                             ? std::optional(*series.window_ns / configuration_.steps_per_line)
                             : std::nullopt);
  }
  check_all_ranks(configuration_, ranks);
  return ranks;
}

std::optional<records::Warning> StepReader::remark_of_clock(std::int64_t began_ns) const {
  std::optional<records::Warning> remark;
  for (const auto& [rank, series] : series_) {
    if (series.lines.empty()) {
      continue;
    }
    if (prints_log(configuration_.command)) {
      return records::Warning{
          "times-of-a-log", "the command only prints a log",
          "its times are of another run, and the clock cannot tell whether they are right",
          "let the command train; `paceline import` reads logs"};
    }
    auto one =
        hold_against_clock(configuration_, {.lines = series.lines,
                                            .first = series.warmup,
                                            .count = lines_for(configuration_.steps),
                                            .began_ns = began_ns,
                                            .leaves_nothing_out = introduced_ && series.indexed,
                                            .in_ns = series.in_ns,
                                            .progress = series.progress,
                                            .warmup = configuration_.warmup});
    if (!remark) {
      remark = std::move(one);
    }
  }
  return remark;
}

std::optional<records::Warning> StepReader::surplus() const {
  std::size_t most = 0;
  for (const auto& [rank, series] : series_) {
    most = std::max(most, std::max(series.step_ns.size(), series.warmup) - series.warmup);
  }
  const auto per_line = static_cast<std::size_t>(configuration_.steps_per_line);
  const std::size_t steps = lines_for(configuration_.steps) * per_line;
  most *= per_line;
  if (most <= steps) {
    return std::nullopt;
  }
  return records::Warning{
      "steps-unused", fmt::format("{} steps came after the {} measured ones", most - steps, steps),
      "they are not in the figures", fmt::format("--steps {} takes all of them", most)};
}

std::optional<records::Warning> StepReader::remark_of_units() const {
  if (turned_lines_ == 0) {
    return std::nullopt;
  }
  return records::Warning{"unit-turned-over",
                          fmt::format("the unit turns over on the way, in {} (as it/s to s/it)",
                                      counted(turned_lines_, "line")),
                          "their number is read in the unit that they have",
                          "look whether the program became slower there"};
}

std::optional<records::Warning> StepReader::remark_of_means() const {
  if (configuration_.steps_per_line == 1) {
    return std::nullopt;
  }
  return records::Warning{"steps-per-line",
                          fmt::format("a line stands for {} steps", configuration_.steps_per_line),
                          "percentiles and intervals are of the means of so many steps, which "
                          "differ less than steps do",
                          "write a line for every step where single steps matter"};
}

}  // namespace paceline::rank
