// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/utc.h"

#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace paceline {

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace paceline
