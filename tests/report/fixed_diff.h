// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/fixed_records.h"

namespace paceline::report {

/// Two sides of a comparison.
struct Sides {
  std::vector<records::RunRecord> base, test;
};

/// Six runs in turns of a sweep on each side: one case grew slower, one
/// faster, one stayed, and each side has one that the other lacks; another bucket size, another
/// version.
inline Sides fixed_sides() {
  Sides sides;
  for (int run = 0; run < 6; ++run) {
    const double drift = 0.3 * (run * 3 % 5);
    for (const bool test : {false, true}) {
      std::vector<records::RunRecord>& side = test ? sides.test : sides.base;
      const double own = 0.2 * ((run * 5 + (test ? 2 : 0)) % 7) + drift;
      for (const FixedCase& one :
           {FixedCase{"no ddp", "none", 1, 97.2 + own},
            FixedCase{"1M/2G", "ddp", 2, (test ? 108.1 : 103.2) + own},
            FixedCase{"1M/4G", "ddp", 4, (test ? 101.0 : 104.1) + own},
            test ? FixedCase{"1M/8G", "ddp", 8, 104} : FixedCase{"1M/6G", "ddp", 6, 104}}) {
        records::RunRecord r = fixed_record(one, run);
        r.started_at = fmt::format("2024-05-06T07:{:02}:00Z", 2 * run + (test ? 1 : 0));
        if (test) {
          r.environment.torch_version = "2.14.0+cpu";
          r.configuration.bucket_mb = 1;
        }
        side.push_back(r);
      }
    }
  }
  return sides;
}

/// `runs` runs of one case on each side, in turns, the test by `factor` slower.
inline Sides repeated(int runs, double factor) {
  Sides sides;
  for (int run = 0; run < runs; ++run) {
    records::RunRecord base = fixed_record({"1M/2G", "ddp", 2, 100 + 0.4 * (run * 5 % 7)}, run);
    records::RunRecord test =
        fixed_record({"1M/2G", "ddp", 2, factor * (100 + 0.4 * (run * 3 % 7))}, run);
    base.started_at = fmt::format("2024-05-06T07:{:02}:00Z", 2 * run);
    test.started_at = fmt::format("2024-05-06T07:{:02}:00Z", 2 * run + 1);
    sides.base.push_back(base);
    sides.test.push_back(test);
  }
  return sides;
}

}  // namespace paceline::report
