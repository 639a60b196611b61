// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/stated_step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/text.h"

namespace paceline::rank {
namespace {

using records::Configuration;

constexpr auto kTimeUnits = std::to_array<std::pair<std::string_view, double>>(
    {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}});
constexpr const char* kSampleRate = "samples/s";
constexpr const char* kTokenRate = "tokens/s";
constexpr const char* kStepRate = "steps/s";

std::string unit_of(const Configuration& c) { return c.step_unit.empty() ? "s" : c.step_unit; }

std::string scope_of(const Configuration& c) {
  return c.rate_scope.empty() ? "global" : c.rate_scope;
}

bool is_rate(const std::string& unit) {
  return unit == kSampleRate || unit == kTokenRate || unit == kStepRate;
}

/// Samples of a step that a rate counts.
double samples_in(const Configuration& c, const std::string& scope) {
  // Without --ranks-per-host all ranks are on one node.
  const int on_a_node = c.ranks_per_host.empty() ? c.ranks : c.ranks_per_host.front();
  const int ranks = scope == "device" ? 1 : scope == "node" ? on_a_node : c.ranks;
  return static_cast<double>(c.batch_size) * ranks;
}

/// Of a rate: what it is divided into. Of a time: what it is multiplied by.
double scale_of(const Configuration& c, const std::string& unit, const std::string& scope) {
  if (unit == kSampleRate) {
    return samples_in(c, scope);
  }
  if (unit == kTokenRate) {
    return samples_in(c, scope) * c.tokens_of_sample();
  }
  const auto* const time =
      std::ranges::find(kTimeUnits, unit, &std::pair<std::string_view, double>::first);
  return time == kTimeUnits.end() ? 1 : time->second;
}

}  // namespace

double half_unit_of(const std::string& number) {
  const std::size_t exponent = number.find_first_of("eE");
  const std::size_t point = number.find('.');
  const std::size_t end = std::min(exponent, number.size());
  int digits = point < end ? static_cast<int>(end - point) - 1 : 0;
  if (exponent != std::string::npos) {
    std::string power = number.substr(exponent + 1);
    if (power.starts_with('+')) {
      power.erase(0, 1);
    }
    digits -= number_from<int>(power).value_or(0);
  }
  return 0.5 * std::pow(10.0, -digits);
}

bool finds_rate(const Configuration& c) { return is_rate(unit_of(c)); }

StatedStep stated_step(const Configuration& c, double value, const std::string& text, bool turned) {
  const std::string unit = unit_of(c);
  const double scale = scale_of(c, unit, scope_of(c)) * 1e9;
  const double half = half_unit_of(text);
  if (is_rate(unit) != turned) {
    return {
        .ns = scale / value,
        .low_ns = scale / (value + half),
        .high_ns = value > half ? scale / (value - half) : std::numeric_limits<double>::infinity()};
  }
  return {.ns = value * scale,
          .low_ns = std::max(0.0, value - half) * scale,
          .high_ns = (value + half) * scale};
}

std::vector<OtherReading> other_readings(const Configuration& c) {
  std::vector<OtherReading> others;
  const std::string unit = unit_of(c);
  const double scale = scale_of(c, unit, scope_of(c));
  const auto add = [&](const std::string& other, const std::string& scope) {
    const bool inverts = is_rate(other) != is_rate(unit);
    const double theirs = scale_of(c, other, scope);
    // A number v is v * scale seconds as a time, scale / v as a rate.
    const double factor = inverts ? theirs * scale * 1e18 : theirs / scale;
    if (inverts || factor != 1) {
      others.push_back({other == unit ? "--rate-scope " + scope
                        : scope.empty()
                            ? "--step-unit " + other
                            : fmt::format("--step-unit {} --rate-scope {}", other, scope),
                        factor, inverts});
    }
  };
  for (const auto& [other, seconds] : kTimeUnits) {
    add(std::string(other), "");
  }
  for (const char* const scope : {"global", "node", "device"}) {
    add(kSampleRate, scope);
    if (c.tokens_of_sample() > 0) {
      add(kTokenRate, scope);
    }
  }
  add(kStepRate, "");
  return others;
}

std::vector<OtherReading> other_readings_of_event(bool in_ns) {
  const double unit_s = in_ns ? 1e-9 : 1;
  std::vector<OtherReading> others;
  for (const auto& [name, seconds] :
       std::to_array<std::pair<const char*, double>>({{"seconds", 1},
                                                      {"milliseconds", 1e-3},
                                                      {"microseconds", 1e-6},
                                                      {"nanoseconds", 1e-9}})) {
    if (seconds != unit_s) {
      others.push_back({name, seconds / unit_s});
    }
  }
  others.push_back({"steps per second", unit_s * 1e18, true});
  return others;
}

}  // namespace paceline::rank
