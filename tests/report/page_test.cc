// SPDX-License-Identifier: Apache-2.0
// The page as text: what is in it, that it needs nothing else, and that no
// word of a record becomes markup.  page_test.py opens it in a browser.
#include "paceline/report/page.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/records/json.h"
#include "paceline/report/page_html.h"
#include "report/expect_golden.h"
#include "report/fixed_records.h"

namespace paceline::report {
namespace {

using nlohmann::json;
using records::RunRecord;

PageAssets stub_assets() {
  return {.style = "/* style */\n",
          .scripts = {"/* script */\n"},
          .licences = {"licence <of> others\n"}};
}

std::string stub_page(const std::vector<RunRecord>& records) {
  return render_page(page_of(records), stub_assets());
}

long count(const std::string& text, const std::string& what) {
  long n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1)) {
    ++n;
  }
  return n;
}

// What the script element `id` holds.
std::string script_text(const std::string& page, const std::string& id) {
  const std::string begin = "id=\"" + id + "\">";
  const std::size_t at = page.find(begin) + begin.size();
  return page.substr(at, page.find("</script>", at) - at);
}

TEST(Page, IsGolden) {
  expect_golden("sweep.page.html", stub_page(fixed_records()));
}

TEST(Page, HoldsTheRecordsAsTheyAre) {
  const std::vector<RunRecord> records = fixed_records();
  std::istringstream lines(script_text(stub_page(records), "records"));
  std::vector<RunRecord> read;
  for (std::string line; std::getline(lines, line);) {
    read.push_back(records::from_line(line));
  }
  EXPECT_EQ(read, records);
}

TEST(Page, NamesTheRecordBehindEveryRun) {
  const std::vector<RunRecord> records = fixed_repetitions();
  Page page = page_of(records);
  for (std::size_t i = 0; i < records.size(); ++i) {
    page.origins.push_back({"<r>.jsonl", i + 1});
  }
  const std::string text = render_page(page, stub_assets());
  for (std::size_t i = 1; i <= records.size(); ++i) {
    EXPECT_EQ(
        count(text, "&lt;r&gt;.jsonl, record " + std::to_string(i) + "</td>"),
        1)
        << i;
  }
}

TEST(Page, WhiskersOfOneRunAreDottedAndSaidToBe) {
  const auto note_of = [](const std::vector<RunRecord>& records) {
    const Page page = page_of(records);  // its charts: throughput, efficiency
    return page.sections[0].charts[0].note;
  };
  EXPECT_NE(note_of(fixed_repetitions())
                .find("A whisker is the 95 % interval "
                      "over repeated runs."),
            std::string::npos);
  EXPECT_NE(note_of(fixed_records()).find("A dotted whisker is the 95 %"),
            std::string::npos);
  const std::vector<RunRecord> mixed = fixed_mixed_repetitions();
  const Page page = page_of(mixed);
  for (const Section& section : page.sections) {
    for (const Chart& chart : section.charts) {
      for (const Series& series : chart.series) {
        for (const Point& point : series.points) {
          if (point.interval) {
            const bool one_run = point.name.find("1M/4G") != std::string::npos;
            EXPECT_EQ(point.within_run, one_run) << point.name;
            EXPECT_EQ(point.text.ends_with("]*"), one_run) << point.text;
            EXPECT_NE(chart.note.find("a dotted one (*)"), std::string::npos);
          }
        }
      }
    }
  }
}

TEST(Page, NothingInItLeadsElsewhere) {
  const std::string page = render_page(page_of(fixed_records()));
  for (const char* way :
       {" src=", "href=\"http", "url(", "@import", "<link", "<iframe"}) {
    // The chart library's code holds words that are no markup of the page.
    const std::string markup = page.substr(0, page.find("id=\"charts\""));
    EXPECT_EQ(count(markup, way), 0) << way;
  }
  EXPECT_EQ(count(page, "default-src 'none'"), 1);
  EXPECT_GE(count(page, "Observable, Inc."), 1);
}

TEST(Page, NoWordOfARecordBecomesMarkup) {
  const std::string evil =
      "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&"
      "<!--\x1b\x01\xe2\x80\xa8";
  std::vector<RunRecord> records = fixed_records();
  const std::string plain = stub_page(records);
  for (RunRecord& r : records) {
    r.experiment = evil;
    r.started_at = evil;
    r.configuration.label = evil + r.configuration.label;
    r.configuration.model = evil + r.configuration.model;
    r.configuration.strategy = evil + r.configuration.strategy;
    r.configuration.engine = evil;
    r.environment.torch_version = evil;
    r.environment.variables = {{evil, evil}};
    r.environment.hosts = {{evil, {{"cpu_model", evil}, {evil, evil}}, evil}};
    r.warnings = {{evil, evil, evil, evil}};
    r.verified = {{evil, false}};
    if (r.error) {
      r.error = evil;
    }
  }
  const std::string page = stub_page(records);
  EXPECT_EQ(count(page, "<script"), count(plain, "<script"));
  EXPECT_EQ(count(page, "</script"), count(plain, "</script"));
  EXPECT_EQ(count(page, "<img"), 0);
  EXPECT_EQ(count(page, "<!--"), 0);
  EXPECT_EQ(count(page, "\x1b"), 0);
  std::istringstream lines(script_text(page, "records"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(records::from_line(line), records.front());
}

TEST(Page, ChartsAreTheTablesFigures) {
  const std::vector<RunRecord> records = fixed_repetitions();
  const json charts = json::parse(script_text(stub_page(records), "charts"));
  const Row row = summarize(records).front().rows[1];
  const json& bar = charts[0]["series"][0]["points"][1];
  EXPECT_EQ(charts[0]["kind"], "bars");
  EXPECT_EQ(charts[0]["value"]["unit"], "examples/s");
  EXPECT_EQ(bar["value"], row.examples_per_s->value);
  EXPECT_EQ(bar["low"], row.examples_per_s->interval->low);
  EXPECT_EQ(bar["high"], row.examples_per_s->interval->high);
  const Row base = summarize(records).front().rows[0];
  EXPECT_EQ(bar["mark"], 2 * base.examples_per_s->value);
}

// A sweep of worlds without a single rank has no linear scaling to show.
TEST(Page, SpeaksOfLinearScalingWhereItIsMarked) {
  const std::string words = "The dashed mark is linear scaling";
  std::vector<RunRecord> records = fixed_repetitions();
  EXPECT_EQ(count(stub_page(records), "<p class=\"note\">" + words), 1);
  std::erase_if(records, [](const RunRecord& record) {
    return record.configuration.ranks == 1;
  });
  EXPECT_FALSE(records.empty());
  EXPECT_EQ(count(stub_page(records), words), 0);
}

TEST(Page, PredictedFiguresStandInASeriesOfTheirOwn) {
  std::vector<RunRecord> records = fixed_repetitions();
  records.push_back(fixed_record({"1M/16G", "ddp", 16, 110}));
  records.back().source = records::Source::kPredicted;
  const json charts = json::parse(script_text(stub_page(records), "charts"));
  ASSERT_EQ(charts[0]["series"].size(), 2U);
  EXPECT_EQ(charts[0]["series"][1]["name"], "predicted");
  EXPECT_EQ(charts[0]["series"][1]["look"], "other");
}

TEST(Page, SaysBoundAndErrorBarOfEveryPrediction) {
  const std::string text = stub_page(fixed_predictions());
  EXPECT_EQ(count(text, "<h4>Prediction</h4>"), 4);
  EXPECT_EQ(count(text,
                  "<dt>bound</dt><dd>90.000 ms with algorithm ring: compute "
                  "90.000 ms, wire 40.000 ms, which starts with the first "
                  "gradient</dd>"),
            4);
  EXPECT_EQ(count(text, "<dt>sharper bound</dt><dd>95.000 ms: "), 1);
  EXPECT_EQ(count(text,
                  "<dt>how far off</dt><dd>error bar ±7.5 %: [96.200, 111.800] "
                  "ms; 9 of 10 published cells are within"),
            1);
  EXPECT_EQ(count(text, "<td>±26.1 %?</td><td>95.00</td>"), 1);
  EXPECT_EQ(count(stub_page(fixed_records()), "bound"), 0);
}

TEST(Page, NumbersThatAreNotFiniteAreLeftOut) {
  const Chart chart{.kind = ChartKind::kPoints,
                    .title = "t",
                    .value = {"y"},
                    .series = {{.name = "s",
                                .points = {{.along = 1, .value = 2},
                                           {.along = 1, .value = std::nan("")},
                                           {.along = INFINITY, .value = 1}}}}};
  EXPECT_EQ(chart_json(chart)["series"][0]["points"].size(), 1U);
}

TEST(Page, ListsPointsThatNothingJoinsByTheirNames) {
  const Chart chart{
      .kind = ChartKind::kPoints,
      .title = "t",
      .value = {"y"},
      .series = {{.name = "s", .points = {{.name = "cell", .value = 2}}},
                 {.name = "equal",
                  .look = Look::kReference,
                  .points = {{.along = 1, .value = 1}}}}};
  const Sheet sheet = chart_sheet(chart);
  ASSERT_EQ(sheet.columns.size(), 4U);
  EXPECT_EQ(sheet.columns[1].header, "point");
  ASSERT_EQ(sheet.lines.size(), 1U);
  EXPECT_EQ(sheet.lines[0].cells,
            (std::vector<std::string>{"s", "cell", "0", "2"}));
}

TEST(Page, ShowsSectionsOfOthers) {
  const std::vector<RunRecord> records;
  Page page = page_of(records);
  page.title = "Validation";
  page.sections.push_back(
      {.title = "Predicted against <published>",
       .note = "On the diagonal the two are equal.",
       .charts = {{.kind = ChartKind::kPoints,
                   .title = "Throughput",
                   .along = {"published", "images/s", true},
                   .value = {"predicted", "images/s", true},
                   .series = {{.name = "cells",
                               .points = {{"a", 100, 104},
                                          {"b", 1000, 950}}}}}},
       .sheet = Sheet{.heading = "errors",
                      .columns = {{"", "cell"}, {"", "error, %"}},
                      .lines = {{.cells = {"a", "4.0"}}}}});
  expect_golden("sections.page.html", render_page(page, stub_assets()));
}

TEST(ScriptJson, ParsesToTheSameValue) {
  const json value{{"<key>", "</script>&<!--"}, {"n", -1.5}};
  const std::string text = script_json(value.dump());
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(json::parse(text), value);
}

}  // namespace
}  // namespace paceline::report
