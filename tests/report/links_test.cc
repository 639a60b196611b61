// SPDX-License-Identifier: Apache-2.0
// Steps against the link's rate, and the rates at which the fastest strategy changes, against
// values worked out by hand from the fixed records.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/report/formats.h"
#include "paceline/report/link_curves.h"
#include "paceline/report/summary_json.h"
#include "report/expect_golden.h"
#include "report/fixed_records.h"

namespace paceline::report {
namespace {

using records::RunRecord;

std::vector<RunRecord> without(std::vector<RunRecord> records, const std::string& strategy,
                               const std::string& link) {
  std::erase_if(records, [&](const RunRecord& r) {
    return r.configuration.strategy == strategy && r.configuration.link == link;
  });
  return records;
}

// Two lines over one decade, `ahead` ms apart at its start and `behind` ms the other way round at
// its end, cross at start * 10^(ahead / (ahead + behind)).
double crossing_rate(double start, double ahead, double behind) {
  return start * std::pow(10, ahead / (ahead + behind));
}

TEST(LinkCurves, CrossingsFollowTheFastestLine) {
  const std::vector<RunRecord> records = fixed_link_records();
  const std::vector<GroupSummary> tables = summarize(records);
  const std::vector<LinkCurves> all = link_curves(tables.front());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].rates, (std::vector<double>{1, 10, 100}));
  const std::vector<Crossover> crossovers = crossovers_of(all[0]);
  // fusion is the fastest at no measured rate between dear and bsp.
  ASSERT_EQ(crossovers.size(), 3U);
  EXPECT_EQ(crossovers[0].below->strategy, "dear:bucket-mb=25");
  EXPECT_EQ(crossovers[0].above->strategy, "fusion:bucket-mb=25");
  EXPECT_NEAR(*crossovers[0].gbit_per_s, crossing_rate(1, 10, 1.5), 1e-9);
  EXPECT_EQ(crossovers[1].above->strategy, "bsp");
  EXPECT_NEAR(*crossovers[1].gbit_per_s, crossing_rate(1, 10, 0.5), 1e-9);
  EXPECT_EQ(crossovers[2].below->strategy, "bsp");
  EXPECT_EQ(crossovers[2].above->strategy, "fusion:bucket-mb=25");
  EXPECT_NEAR(*crossovers[2].gbit_per_s, crossing_rate(10, 0.5, 1), 1e-9);
  EXPECT_EQ(crossovers[2].low, 10);
  EXPECT_EQ(crossovers[2].high, 100);
}

TEST(LinkCurves, ACaseThatIsMissingIsNotInterpolated) {
  const std::vector<RunRecord> records =
      without(fixed_link_records(), "dear:bucket-mb=25", "10Gbit,50us");
  const std::vector<GroupSummary> tables = summarize(records);
  const std::vector<LinkCurves> all = link_curves(tables.front());
  const std::vector<Crossover> crossovers = crossovers_of(all.at(0));
  ASSERT_EQ(crossovers.size(), 2U);
  EXPECT_EQ(crossovers[0].below->strategy, "dear:bucket-mb=25");
  EXPECT_EQ(crossovers[0].above->strategy, "bsp");
  EXPECT_FALSE(crossovers[0].gbit_per_s);
  EXPECT_FALSE(crossovers[0].apart);
}

// At 10 Gbit/s, which both pairs of rates have.
TEST(LinkCurves, AFasterCaseThatIsInvalidLeavesTheFastestUnknown) {
  std::vector<RunRecord> records = fixed_link_records();
  for (RunRecord& r : records) {
    if (r.link_check->late > 0) {
      for (records::RankSamples& rank : r.ranks) {
        for (std::int64_t& ns : rank.step_ns) {
          ns /= 2;
        }
      }
    }
  }
  const std::vector<GroupSummary> tables = summarize(records);
  const Table table =
      crossover_table(link_curves(tables.front()).at(0), time_format(tables.front().rows));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].cells.at(0), "1 and 10");
  EXPECT_EQ(table.rows[1].cells.at(0), "10 and 100");
  for (const auto& row : table.rows) {
    EXPECT_EQ(row.cells.size(), table.columns.size());
    EXPECT_EQ(row.cells.at(1), "not known: an INVALID case was faster");
  }
}

TEST(LinkCurves, NeedThreeRatesOfCasesThatAreOtherwiseEqual) {
  const auto curves = [](const std::vector<RunRecord>& records) {
    const std::vector<GroupSummary> tables = summarize(records);
    return link_curves(tables.front()).size();
  };
  std::vector<RunRecord> records = fixed_link_records();
  EXPECT_EQ(curves(records), 1U);
  // A rate of two latencies: one has three rates, the other one.
  std::vector<RunRecord> slower = records;
  for (RunRecord& r : slower) {
    r.configuration.link = "10Gbit,60us";
    records.push_back(r);
  }
  EXPECT_EQ(curves(records), 1U);
  std::erase_if(records, [](const RunRecord& r) { return r.configuration.link == "100Gbit,50us"; });
  EXPECT_EQ(curves(records), 0U);
  for (RunRecord& r : records) {
    r.configuration.link = "fast";
  }
  EXPECT_EQ(curves(records), 0U);
  EXPECT_EQ(curves(fixed_records()), 0U);
}

TEST(LinkCurves, JoinLinksThatDifferInLatencyToo) {
  std::vector<RunRecord> records = fixed_link_records();
  for (RunRecord& r : records) {
    if (r.configuration.link == "100Gbit,50us") {
      r.configuration.link = "100Gbit,2us";
    }
  }
  const std::vector<GroupSummary> tables = summarize(records);
  const std::vector<LinkCurves> all = link_curves(tables.front());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(describe(all[0]).ends_with(", latency 2 to 50 us"));
  EXPECT_EQ(crossovers_of(all[0]).size(), 3U);
}

TEST(LinkCurves, AreNamedByTheirLabels) {
  std::vector<RunRecord> records = fixed_link_records();
  for (RunRecord& r : records) {
    if (r.configuration.strategy == "dear:bucket-mb=25") {
      r.configuration.label = "DeAR";
    }
  }
  const std::vector<GroupSummary> tables = summarize(records);
  const LinkCurves curves = link_curves(tables.front()).at(0);
  const Table table = crossover_table(curves, time_format(tables.front().rows));
  EXPECT_EQ(table.rows.at(0).cells.at(1), "DeAR");
  EXPECT_EQ(table.rows.at(0).cells.at(3), "fusion:bucket-mb=25");
  for (RunRecord& r : records) {
    r.configuration.label = "one for all";
  }
  const std::vector<GroupSummary> alike = summarize(records);
  EXPECT_EQ(link_curves(alike.front()).at(0).lines.at(0).name, "bsp");
}

TEST(LinkCurves, OfOneCaseTheMostStretchedValidOneCounts) {
  std::vector<RunRecord> records = fixed_link_records();
  RunRecord again = records.back();  // valid, stretched 10 times
  again.configuration.stretch = 40;
  again.link_check->late = 1;
  records.push_back(again);
  const std::vector<GroupSummary> tables = summarize(records);
  const LinkCurves curves = link_curves(tables.front()).front();
  ASSERT_EQ(curves.lines.back().points.size(), 3U);
  EXPECT_EQ(curves.lines.back().points.back().row->configuration.stretch, 10);
  records.back().link_check->late = 0;
  const std::vector<GroupSummary> valid = summarize(records);
  EXPECT_EQ(
      link_curves(valid.front()).front().lines.back().points.back().row->configuration.stretch, 40);
}

TEST(LinkData, HasThePointsOfEveryStrategy) {
  const std::vector<RunRecord> records = fixed_link_records();
  const Json data = Json::parse(render_json(records));
  const Json& group = data["tables"][0];
  ASSERT_EQ(group["links"].size(), 1U);
  const Json& lines = group["links"][0]["lines"];
  ASSERT_EQ(lines.size(), 4U);
  std::size_t next = 0;  // the cases come strategy by strategy
  for (const Json& line : lines) {
    ASSERT_EQ(line["points"].size(), 3U);
    for (std::size_t i = 0; i < 3; ++i, ++next) {
      const Json& point = line["points"][i];
      EXPECT_EQ(point["gbit_per_s"], std::vector<double>({1, 10, 100})[i]);
      EXPECT_EQ(point["row"], next);
      EXPECT_EQ(point["valid"], !(line["name"] == "wfbp" && i == 1));
    }
  }
  EXPECT_EQ(group["links"][0]["table"]["rows"].size(), 3U);
}

TEST(LinkData, SaysWhenNothingCrosses) {
  std::vector<RunRecord> records = fixed_link_records();
  std::erase_if(records, [](const RunRecord& r) {
    return r.configuration.strategy != "wfbp" && r.configuration.strategy != "bsp";
  });
  for (RunRecord& r : records) {
    r.link_check->late = r.configuration.strategy == "bsp" ? 1 : 0;
  }
  const Json data = Json::parse(render_json(records));
  const Json& table = data["tables"][0]["links"].at(0)["table"];
  EXPECT_TRUE(table["rows"].empty());
  EXPECT_NE(table["text"].get<std::string>().find("wfbp is the fastest at every link"),
            std::string::npos);
}

TEST(LinkCurves, AreGoldenAsMarkdown) {
  expect_golden("links.markdown.txt", find_format("markdown").render(fixed_link_records()));
}

}  // namespace
}  // namespace paceline::report
