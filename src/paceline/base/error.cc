// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/error.h"

#include <cstdio>
#include <cstdlib>

namespace paceline::detail {

void check_failed(const char* file, int line, std::string_view expression,
                  const std::string& values) {
  fmt::print(stderr, "{}:{}: check failed: {} {}\n", file, line, expression, values);
  std::fflush(stderr);
  std::abort();
}

}  // namespace paceline::detail
