// SPDX-License-Identifier: Apache-2.0
// Records that somebody has damaged, but that the reader takes: whatever shows records shows these
// too, or rejects them with a sentence.
#include "records/damage.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/records/json.h"
#include "paceline/report/formats.h"
#include "paceline/report/page.h"
#include "records/sample_record.h"
#include "report/fixed_records.h"

namespace paceline::report {
namespace {

using records::RunRecord;

void show(const std::vector<RunRecord>& records) {
  for (const Format& format : formats()) {
    format.render(records);
  }
  const std::string page = render_page(records);
  EXPECT_TRUE(page.ends_with("</html>\n"));
}

// Each next to good records of the same sweep, which it may be paired with.
TEST(Damage, WhatTheReaderTakesIsShown) {
  records::damage::Random random(3);
  RunRecord good = fixed_record({"1M/2G", "ddp", 2, 103.2});
  const std::vector<std::string> lines{records::to_line(records::full_record()),
                                       records::to_line(fixed_record({"no ddp", "none", 1, 97.2})),
                                       records::to_line(good)};
  constexpr int kTaken = 40;
  int taken = 0;
  for (int i = 0; i < 3000 && taken < kTaken; ++i) {
    const std::string& line = lines[records::damage::below(random, lines.size())];
    std::vector<RunRecord> records{good};
    try {
      records.push_back(records::from_line(records::damage::damage_values(line, random)));
    } catch (const UsageError&) {
      continue;
    }
    ++taken;
    show(records);
  }
  EXPECT_EQ(taken, kTaken);
}

TEST(Damage, ExtremesAreShown) {
  for (const std::int64_t ns : {std::int64_t{0}, std::int64_t{1}, INT64_MAX}) {
    SCOPED_TRACE(ns);
    std::vector<RunRecord> records = fixed_repetitions();
    for (records::RankSamples& rank : records[1].ranks) {
      std::fill(rank.step_ns.begin(), rank.step_ns.end(), ns);
      rank.window_ns = ns;
      rank.compute_only_step_ns = rank.step_ns;
    }
    show(records);
  }
  std::vector<RunRecord> huge{fixed_record({"x", "ddp", 2, 1})};
  huge[0].configuration.ranks = INT32_MAX;
  huge[0].configuration.batch_size = INT32_MAX;
  huge[0].wire.measured_per_step = INT64_MAX;
  show(huge);
}

}  // namespace
}  // namespace paceline::report
