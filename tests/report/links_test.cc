// SPDX-License-Identifier: Apache-2.0
// Steps against the link's rate, and the rates at which the fastest strategy
// changes, against values worked out by hand from the fixed records.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/report/link_curves.h"
#include "paceline/report/markdown.h"
#include "paceline/report/page.h"
#include "report/expect_golden.h"
#include "report/fixed_records.h"

namespace paceline::report {
namespace {

using records::RunRecord;

const Section* section_of(const Page& page) {
  for (const Section& section : page.sections) {
    if (section.title == "Step time against the link") {
      return &section;
    }
  }
  return nullptr;
}

std::vector<RunRecord> without(std::vector<RunRecord> records,
                               const std::string& strategy,
                               const std::string& link) {
  std::erase_if(records, [&](const RunRecord& r) {
    return r.configuration.strategy == strategy && r.configuration.link == link;
  });
  return records;
}

// Two lines over one decade, `ahead` ms apart at its start and `behind` ms the
// other way round at its end, cross at start * 10^(ahead / (ahead + behind)).
double crossing_rate(double start, double ahead, double behind) {
  return start * std::pow(10, ahead / (ahead + behind));
}

TEST(LinkCurves, CrossingsFollowTheFastestLine) {
  const std::vector<RunRecord> records = fixed_link_records();
  const std::vector<Table> tables = summarize(records);
  const std::vector<LinkCurves> all = link_curves(tables.front());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].rates, (std::vector<double>{1, 10, 100}));
  const std::vector<Crossing> crossings = crossings_of(all[0]);
  // fusion is the fastest at no measured rate between dear and bsp.
  ASSERT_EQ(crossings.size(), 3U);
  EXPECT_EQ(crossings[0].below->strategy, "dear:bucket-mb=25");
  EXPECT_EQ(crossings[0].above->strategy, "fusion:bucket-mb=25");
  EXPECT_NEAR(*crossings[0].gbit_per_s, crossing_rate(1, 10, 1.5), 1e-9);
  EXPECT_EQ(crossings[1].above->strategy, "bsp");
  EXPECT_NEAR(*crossings[1].gbit_per_s, crossing_rate(1, 10, 0.5), 1e-9);
  EXPECT_EQ(crossings[2].below->strategy, "bsp");
  EXPECT_EQ(crossings[2].above->strategy, "fusion:bucket-mb=25");
  EXPECT_NEAR(*crossings[2].gbit_per_s, crossing_rate(10, 0.5, 1), 1e-9);
  EXPECT_EQ(crossings[2].low, 10);
  EXPECT_EQ(crossings[2].high, 100);
}

TEST(LinkCurves, ACaseThatIsMissingIsNotInterpolated) {
  const std::vector<RunRecord> records =
      without(fixed_link_records(), "dear:bucket-mb=25", "10Gbit,50us");
  const std::vector<Table> tables = summarize(records);
  const std::vector<LinkCurves> all = link_curves(tables.front());
  const std::vector<Crossing> crossings = crossings_of(all.at(0));
  ASSERT_EQ(crossings.size(), 2U);
  EXPECT_EQ(crossings[0].below->strategy, "dear:bucket-mb=25");
  EXPECT_EQ(crossings[0].above->strategy, "bsp");
  EXPECT_FALSE(crossings[0].gbit_per_s);
  EXPECT_FALSE(crossings[0].apart);
}

TEST(LinkCurves, NeedThreeRatesOfCasesThatAreOtherwiseEqual) {
  const auto curves = [](const std::vector<RunRecord>& records) {
    const std::vector<Table> tables = summarize(records);
    return link_curves(tables.front()).size();
  };
  std::vector<RunRecord> records = fixed_link_records();
  EXPECT_EQ(curves(records), 1U);
  for (RunRecord& r : records) {
    if (r.configuration.link == "10Gbit,50us") {
      r.configuration.link = "10Gbit,60us";
    }
  }
  EXPECT_EQ(curves(records), 0U);
  for (RunRecord& r : records) {
    r.configuration.link = "fast";
  }
  EXPECT_EQ(curves(records), 0U);
  EXPECT_EQ(curves(fixed_records()), 0U);
}

TEST(LinkCurves, OfOneCaseTheMostStretchedValidOneCounts) {
  std::vector<RunRecord> records = fixed_link_records();
  RunRecord again = records.back();  // valid, stretched 10 times
  again.configuration.stretch = 40;
  again.link_check->late = 1;
  records.push_back(again);
  const std::vector<Table> tables = summarize(records);
  const LinkCurves curves = link_curves(tables.front()).front();
  ASSERT_EQ(curves.lines.back().points.size(), 3U);
  EXPECT_EQ(curves.lines.back().points.back().row->configuration.stretch, 10);
  records.back().link_check->late = 0;
  const std::vector<Table> valid = summarize(records);
  EXPECT_EQ(link_curves(valid.front())
                .front()
                .lines.back()
                .points.back()
                .row->configuration.stretch,
            40);
}

TEST(LinkSection, DrawsTheRecordsAndSetsInvalidCasesApart) {
  const std::vector<RunRecord> records = fixed_link_records();
  const Page page = page_of(records);
  const Section* section = section_of(page);
  ASSERT_NE(section, nullptr);
  const Chart& chart = section->charts.at(0);
  EXPECT_TRUE(chart.along.log);
  EXPECT_EQ(chart.along.unit, "Gbit/s");
  EXPECT_EQ(chart.value.unit, "ms");
  ASSERT_EQ(chart.series.size(), 5U);
  const std::vector<Table> tables = summarize(records);
  std::size_t row = 0;
  for (const std::size_t series : {0U, 1U, 2U}) {
    for (std::size_t i = 0; i < 3; ++i, ++row) {
      const Point& point = chart.series[series].points.at(i);
      const stats::Estimate& median = tables[0].rows[row].step_s->median;
      EXPECT_EQ(point.along, std::vector<double>({1, 10, 100})[i]);
      EXPECT_EQ(point.value, median.value * 1e3);
      EXPECT_EQ(point.interval->low, median.interval->low * 1e3);
    }
  }
  EXPECT_EQ(chart.series[3].points.size(), 2U);  // wfbp
  EXPECT_EQ(chart.series[4].name, "wfbp (INVALID)");
  EXPECT_EQ(chart.series[4].points.size(), 1U);
  EXPECT_NE(chart.note.find("INVALID"), std::string::npos);
}

TEST(LinkSection, SaysWhenNothingCrosses) {
  std::vector<RunRecord> records = fixed_link_records();
  std::erase_if(records, [](const RunRecord& r) {
    return r.configuration.strategy != "wfbp" &&
           r.configuration.strategy != "bsp";
  });
  for (RunRecord& r : records) {
    r.link_check->late = r.configuration.strategy == "bsp" ? 1 : 0;
  }
  const Page page = page_of(records);
  ASSERT_NE(section_of(page), nullptr);
  EXPECT_FALSE(section_of(page)->sheet);
  EXPECT_NE(section_of(page)->note.find("wfbp is the fastest at every link"),
            std::string::npos);
}

TEST(LinkSection, IsGoldenAsMarkdown) {
  expect_golden("links.markdown.txt", render_markdown(fixed_link_records()));
}

}  // namespace
}  // namespace paceline::report
