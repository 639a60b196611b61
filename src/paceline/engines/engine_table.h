// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace paceline::engines {

class Engine;  // engines/engine.h

struct EngineInfo {
  std::string_view name;     // gloo
  std::string_view summary;  // one line
  std::string_view devices;  // "cpu cuda"
  bool built = true;         // else `make` throws UsageError
  std::unique_ptr<Engine> (*make)();
};

/// Every engine, in the order `paceline list` prints.
const std::vector<EngineInfo>& engines();

/// Throws UsageError that lists the known names.
const EngineInfo& find_engine(std::string_view name);

}  // namespace paceline::engines
