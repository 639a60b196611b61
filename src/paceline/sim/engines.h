// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "paceline/sim/machine.h"

namespace paceline::sim {

/// What an engine's software costs where nothing was measured.
struct EngineCosts {
  std::string_view name;
  std::string_view source;
  SoftwareCosts costs{};
};

/// ideal, nccl, gloo, link.
std::span<const EngineCosts> engine_costs();

/// Throws UsageError with the known names.
const EngineCosts& engine_costs_named(std::string_view name);

}  // namespace paceline::sim
