// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "paceline/plan/engine_traits.h"

namespace paceline::engines {

class Engine;  // engines/engine.h

/// An engine's row in the table of engines.
struct EngineInfo : plan::EngineTraits {
  bool built = true;  // if false, `make` throws UsageError
  std::unique_ptr<Engine> (*make)();
  /// The mpirun that must start this engine's ranks (JobLaunch::mpirun); empty: none.
  std::string_view mpirun{};
};

/// Returns every engine, in the order of plan::kEngines.
const std::vector<EngineInfo>& engines();

/// Throws UsageError that lists the known names if `name` is none of them.
const EngineInfo& find_engine(std::string_view name);

}  // namespace paceline::engines
