// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/clock_check.h"

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/rank/stated_step.h"
#include "paceline/rank/step_reader.h"

namespace paceline::rank {
namespace {

using Kind = ClockDifference::Kind;
using records::Configuration;

constexpr double kFits = 0.1;  // of a reading that explains a difference
// Of a whole program, whose steps are at least so much of it.
constexpr double kLeastOfRun = 0.01;

std::string time_text(double ns) {
  return ns >= 1e9   ? fmt::format("{:.4g} s", ns * 1e-9)
         : ns >= 1e6 ? fmt::format("{:.4g} ms", ns * 1e-6)
                     : fmt::format("{:.4g} us", ns * 1e-3);
}

bool alike(double one, double other) { return std::abs(one / other - 1) <= kFits; }

/// Whether steps that take `taken_ns` in all are what the clock says; of the whole run, what it has
/// room for.
bool explains(const ClockDifference& found, double taken_ns) {
  const double wanted = found.clock_ns;
  return found.kind == Kind::kLongerThanRun ? taken_ns <= wanted && taken_ns >= kLeastOfRun * wanted
                                            : alike(taken_ns, wanted);
}

/// How long the steps take in another reading of their numbers.
double taken_ns(const Configuration& c, const ClockDifference& found, const OtherReading& reading) {
  const double steps = c.steps_per_line;
  double sum = 0;
  for (const TimedLine& line : found.lines) {
    sum += steps * reading.step_ns(line.stated_ns / steps);
  }
  return sum;
}

/// The reading of the numbers that fits, in words: of the kind that was taken, time or rate, where
/// one fits.
std::string fitting_reading(const Configuration& c, const ClockDifference& found, bool in_ns) {
  const bool events = c.step_regex.empty();
  std::optional<OtherReading> best;
  double longest = 0;
  for (const OtherReading& other : events ? other_readings_of_event(in_ns) : other_readings(c)) {
    const double taken = taken_ns(c, found, other);
    const bool kind_is_better = best && best->inverts && !other.inverts;
    const bool kind_is_worse = best && !best->inverts && other.inverts;
    if (explains(found, taken) && !kind_is_worse && (kind_is_better || taken > longest)) {
      longest = taken;
      best = other;
    }
  }
  if (!best) {
    return "";
  }
  return events ? fmt::format("as {}, and {}", best->name,
                              in_ns ? "step_ns is in nanoseconds" : "step_s is in seconds")
                : fmt::format("with {}", best->name);
}

/// What else makes steps seem too long.
std::string reason_of_length(const Configuration& c, const ClockDifference& found) {
  const double ranks = c.ranks, steps = c.steps_per_line;
  if (ranks > 1 && explains(found, found.stated_ns / ranks)) {
    return fmt::format(
        "the lines of all {} ranks would be so many: let one "
        "rank write them, or name the rank in each (with "
        "--step-regex match those of one)",
        c.ranks);
  }
  if (steps > 1 && explains(found, found.stated_ns / steps)) {
    return fmt::format(
        "the number would fit as that of all {} steps of its "
        "line: leave the group out of --step-regex, and the "
        "arrival of the lines is timed",
        c.steps_per_line);
  }
  return "a line has to say how long its own step took, neither a total nor a mean of earlier "
         "steps";
}

std::string rates(const Configuration& c, const ClockDifference& found) {
  const double samples =
      static_cast<double>(found.lines.size()) * c.steps_per_line * c.batch_size * c.ranks * 1e9;
  return fmt::format("{:.4g} examples/s by the clock, {:.4g} by its words",
                     samples / found.clock_ns, samples / found.stated_ns);
}

std::string seen_text(const Configuration& c, const ClockDifference& found) {
  const auto steps = static_cast<double>(found.lines.size()) * c.steps_per_line;
  if (found.kind == Kind::kLongerThanRun) {
    return fmt::format("its {} took {} by its own words, but it ran for {} until then",
                       counted(static_cast<std::int64_t>(steps), "step"),
                       time_text(found.stated_ns), time_text(found.clock_ns));
  }
  return fmt::format("a step took {} by its own words, but {} by the clock ({})",
                     time_text(found.stated_ns / steps), time_text(found.clock_ns / steps),
                     rates(c, found));
}

std::string advice_for(const Configuration& c, const ClockDifference& found,
                       const std::string& fitting) {
  if (!fitting.empty()) {
    return fmt::format("the numbers would fit {}", fitting);
  }
  switch (found.kind) {
    case Kind::kLonger:
    case Kind::kLongerThanRun:
      return reason_of_length(c, found);
    case Kind::kShorter:
      return "the steps of an adapter leave nothing of the loop out: each ends where the next one "
             "begins (docs/adapters.md)";
    case Kind::kRounded:
      return "print more of them";
    case Kind::kLeavesOut:
      return c.step_regex.empty() ? "where it belongs to the step, time it too"
                                  : "where it belongs to the step, leave the group out of "
                                    "--step-regex, and the arrival of the lines is timed";
    case Kind::kFarShorter:
      break;
  }
  return c.step_regex.empty()
             ? "time the whole of a step, on a GPU up to its synchronization"
             : "leave the group out of --step-regex, and the arrival of the lines is timed";
}

}  // namespace

std::optional<records::Warning> hold_against_clock(const Configuration& c,
                                                   const StatedTimes& times) {
  const auto found = compare_with_clock(times);
  if (!found) {
    return std::nullopt;
  }
  const std::string fitting =
      found->kind == Kind::kRounded ? "" : fitting_reading(c, *found, times.in_ns);
  const std::string advice = advice_for(c, *found, fitting);
  const bool may_be =
      found->kind == Kind::kRounded || (found->kind == Kind::kLeavesOut && fitting.empty());
  if (!may_be) {
    throw OutsideFailure(kContradiction, fmt::format("{}; {}", seen_text(c, *found), advice));
  }
  if (found->kind == Kind::kRounded) {
    return records::Warning{"times-rounded", seen_text(c, *found),
                            "the program prints too few digits of its numbers", advice};
  }
  return records::Warning{"times-leave-out", seen_text(c, *found),
                          "what the program does between its timed parts, such as loading data, is "
                          "in none of the figures",
                          advice};
}

}  // namespace paceline::rank
