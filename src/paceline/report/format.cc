// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/format.h"

#include <fmt/format.h>

namespace paceline::report {

std::string format_bytes(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1000 && unit < 4) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", value, kUnits[unit]);
}

}  // namespace paceline::report
