// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/plan/comm_plan.h"

namespace paceline::cli {

/// Cases that cannot be, which leave the others what they are.
class LeftOut {
 public:
  void add(const std::string& strategy, plan::Rank ranks, const char* why) {
    if (first_.empty()) {
      first_ = why;
    }
    words_ +=
        fmt::format("paceline: left out: {} on {}: {}\n", strategy, counted(ranks, "rank"), why);
  }

  /// Throws UsageError where no case is left.
  void print_beside(std::size_t cases) const {
    if (cases == 0) {
      throw UsageError(first_);
    }
    fmt::print(stderr, "{}", words_);
  }

 private:
  std::string first_, words_;
};

}  // namespace paceline::cli
