// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace paceline::cli {

enum class Health : std::uint8_t {
  kGood,
  kAdvice,  // works, but something should be changed or known
  kBroken   // nothing can be measured so
};

/// One thing that `paceline doctor` looked at.
struct Finding {
  std::string name;
  Health health = Health::kGood;
  std::string seen{};
  std::string advice{};  // what to change; empty where all is well
};

/// The interface towards other hosts, cores, their load and clocks, shared memory, the clock.
std::vector<Finding> check_machine();
/// The wheel, engines, GPUs, launchers, the adapters' Python.
std::vector<Finding> check_software();

/// Lines of the findings, each with its advice below it.
std::string doctor_text(const std::vector<Finding>& findings);

/// `paceline doctor`: all checks.  Returns 0 unless something is broken.
int run_doctor();

}  // namespace paceline::cli
