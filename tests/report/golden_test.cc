// SPDX-License-Identifier: Apache-2.0
// What every format makes of fixed records, compared with the files in
// golden/.  PACELINE_UPDATE_GOLDEN=1 in the environment rewrites the files.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/report/diff_formats.h"
#include "paceline/report/formats.h"
#include "paceline/report/layouts.h"
#include "report/expect_golden.h"
#include "report/fixed_diff.h"
#include "report/fixed_records.h"

namespace paceline::report {
namespace {

TEST(Golden, EveryFormatOfOneSweep) {
  for (const Format& format : formats()) {
    SCOPED_TRACE(format.name);
    expect_golden("sweep." + std::string(format.name) + ".txt", format.render(fixed_records()));
  }
}

TEST(Golden, TableOfRepeatedRuns) {
  expect_golden("repetitions.table.txt", find_format("table").render(fixed_repetitions()));
}

TEST(Golden, TablesOfCasesThatWereRepeatedAndOthers) {
  for (const char* const name : {"table", "markdown"}) {
    expect_golden(std::string("mixed.") + name + ".txt",
                  find_format(name).render(fixed_mixed_repetitions()));
  }
}

TEST(Golden, TablesOfPredictionsWithTheirErrorBars) {
  for (const char* const name : {"table", "markdown", "csv"}) {
    expect_golden(fmt::format("predicted.{}.txt", name),
                  find_format(name).render(fixed_predictions()));
  }
}

TEST(Golden, TablesOfCasesThatReadTheirData) {
  for (const char* const name : {"table", "csv", "json"}) {
    expect_golden(fmt::format("readers.{}.txt", name), find_format(name).render(fixed_readers()));
  }
}

TEST(Golden, JsonOfTheOriginal) {
  expect_golden("sweep.original.json", ddp_reports(fixed_records())[0]["report"].dump());
}

TEST(Golden, EveryFormatOfOneComparison) {
  const Sides sides = fixed_sides();
  const Diff diff = diff_records(sides.base, sides.test, {.threshold = 0.01});
  for (const std::string& format : diff_format_names()) {
    SCOPED_TRACE(format);
    expect_golden("diff." + format + ".txt", render_diff(format, diff));
  }
}

}  // namespace
}  // namespace paceline::report
