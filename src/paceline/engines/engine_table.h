// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "paceline/plan/engine_traits.h"

namespace paceline::engines {

class Engine;  // engines/engine.h

/// The row of an engine.
struct EngineInfo : plan::EngineTraits {
  bool built = true;  // else `make` throws UsageError
  std::unique_ptr<Engine> (*make)();
  /// The mpirun whose processes its ranks must be (JobLaunch::mpirun); empty: none.
  std::string_view mpirun{};
};

/// Every engine, in the order of plan::kEngines.
const std::vector<EngineInfo>& engines();

/// Throws UsageError that lists the known names.
const EngineInfo& find_engine(std::string_view name);

}  // namespace paceline::engines
