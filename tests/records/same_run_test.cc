// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/same_run.h"

#include <vector>

#include <gtest/gtest.h>

#include "records/sample_record.h"

namespace paceline::records {
namespace {

using Places = std::vector<std::size_t>;

// A measured run whose first step takes `step_ns`.
RunRecord run_of(int run, std::int64_t step_ns) {
  RunRecord record = full_record();
  record.source = Source::kMeasured;
  record.run = run;
  record.ranks[0].step_ns[0] = step_ns;
  return record;
}

RunRecord imported(std::int64_t step_ns) {
  RunRecord record = run_of(0, step_ns);
  record.source = Source::kImported;
  record.started_at.clear();
  return record;
}

TEST(SameRun, ASecondImportDoesNotCount) {
  const std::vector<RunRecord> records{imported(1), imported(2), imported(1)};
  EXPECT_EQ(distinct_runs(records), (Places{0, 1}));
  EXPECT_EQ(distinct_runs(records, Places{0, 0, 1}), (Places{0, 1}));
}

TEST(SameRun, OfACommandThatWasGivenAgainTheLastRecordCounts) {
  std::vector<RunRecord> records{run_of(0, 1), run_of(0, 2), run_of(1, 3)};
  records[1].started_at = "2024-05-06T08:00:00Z";
  EXPECT_EQ(distinct_runs(records), (Places{1, 2}));
  // A failed repetition replaces nothing, and is replaced.
  records[1].error = "killed";
  EXPECT_EQ(distinct_runs(records), (Places{0, 2}));
  std::swap(records[0], records[1]);
  EXPECT_EQ(distinct_runs(records), (Places{1, 2}));
}

TEST(SameRun, OtherRunsCount) {
  std::vector<RunRecord> records{run_of(0, 1), run_of(0, 2)};
  EXPECT_EQ(distinct_runs(records, Places{0, 1}), (Places{0, 1})) << "files of their own";
  records[1].experiment = "quick";
  EXPECT_EQ(distinct_runs(records), (Places{0, 1}));
  records[1] = run_of(0, 2);
  records[1].configuration.seed = 1;
  EXPECT_EQ(distinct_runs(records), (Places{0, 1}));
  records[1] = run_of(0, 2);
  records[1].adapter[kRunOfCommand] = "1";  // as `paceline ab` writes it
  EXPECT_EQ(distinct_runs(records), (Places{0, 1}));
}

}  // namespace
}  // namespace paceline::records
