// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paceline/records/configuration.h"

namespace paceline::rank {

/// What a program says of how long a step took, in nanoseconds. What it printed is known to half a
/// unit of its last digit: `low` and `high` are the step's bounds.
struct StatedStep {
  double ns = 0, low_ns = 0, high_ns = 0;
};

/// Half a unit of the last digit of a number as it is printed: 0.05 of "12.3", 50 of "1.2e3".
double half_unit_of(const std::string& number);

/// The step that a number of --step-regex stands for: `value`, as `text` prints it, in the case's
/// unit and scope, or in that unit turned over: s/it of it/s.
StatedStep stated_step(const records::Configuration& c, double value, const std::string& text,
                       bool turned = false);

/// Whether --step-regex finds a rate, no time.
bool finds_rate(const records::Configuration& c);

/// Another reading of the numbers of a case, of a time as a rate too.
struct OtherReading {
  std::string name;  // the flag that asks for it, or the unit of an event
  double factor = 1;
  bool inverts = false;

  /// The step in nanoseconds, which the reading of the case takes for `ns`.
  double step_ns(double ns) const { return inverts ? factor / ns : factor * ns; }
};

/// Every other unit and scope of what --step-regex finds.
std::vector<OtherReading> other_readings(const records::Configuration& c);

/// The same of the step of an event: step_ns if it is `in_ns`, else step_s.
std::vector<OtherReading> other_readings_of_event(bool in_ns);

}  // namespace paceline::rank
