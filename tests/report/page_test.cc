// SPDX-License-Identifier: Apache-2.0
// The page as text: what is in it, that it needs nothing else, and that no
// word of a record becomes markup.  page_test.py opens it in a browser.
#include "paceline/report/page.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/records/samples.h"
#include "paceline/report/summary.h"
#include "paceline/report/summary_json.h"
#include "paceline/report/summary_table.h"
#include "report/expect_golden.h"
#include "report/fixed_records.h"
#include "report/stub_assets.h"

namespace paceline::report {
namespace {

using nlohmann::json;
using records::RunRecord;

std::string stub_page(const std::vector<RunRecord>& records) {
  return render_page(records, "", stub_assets());
}

Json page_data(const std::vector<RunRecord>& records) {
  return report_json(summary_report(records, Detail::kFull), records);
}

long count(const std::string& text, const std::string& what) {
  long n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
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

TEST(Page, IsGolden) { expect_golden("sweep.page.html", stub_page(fixed_records())); }

// The page has every step's time, on its slowest rank, of every record.
TEST(Page, HoldsTheStepsOfEveryRun) {
  const std::vector<RunRecord> records = fixed_records();
  const json runs = json::parse(script_text(stub_page(records), "data"))["runs"];
  ASSERT_EQ(runs.size(), records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    std::vector<double> steps_s;
    for (const std::int64_t ns : runs[i]["step_ns"]) {
      steps_s.push_back(static_cast<double>(ns) * 1e-9);
    }
    EXPECT_EQ(steps_s, records::slowest_step_s(records[i])) << i;
  }
}

TEST(Page, NamesTheRunsAndTheCommandOfEveryCase) {
  const Json data = page_data(fixed_repetitions());
  const Json& cases = data["tables"][0]["cases"];
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[1]["case"], 1);
  EXPECT_EQ(cases[0]["records"], Json({0, 2, 4, 6}));
  EXPECT_EQ(cases[1]["records"], Json({1, 3, 5, 7}));
  EXPECT_TRUE(cases[1]["command"].get<std::string>().starts_with(
      "paceline run --model resnet50 --strategy ddp --ranks 2"));
}

TEST(Page, SaysWhichIntervalsAreFromOneRun) {
  const Json data = page_data(fixed_mixed_repetitions());
  for (const Json& one : data["cases"]) {
    for (const std::string stem :
         {"step_median", "examples_per_s", "efficiency", "exposed_communication"}) {
      if (const Json& of = one[stem + "_interval_of"]; !of.is_null()) {
        EXPECT_EQ(of == "these runs", one["case"] == "1M/4G") << one;
      }
    }
  }
}

TEST(Page, NothingInItLeadsElsewhere) {
  const std::string page = render_page(fixed_records());
  for (const char* way : {" src=", "href=\"http", "url(", "@import", "<link", "<iframe"}) {
    // The chart library's code holds words that are no markup of the page.
    const std::string markup = page.substr(0, page.find("id=\"data\""));
    EXPECT_EQ(count(markup, way), 0) << way;
  }
  EXPECT_EQ(count(page, "default-src 'none'"), 1);
  EXPECT_GE(count(page, "Observable, Inc."), 1);
}

TEST(Page, NoWordOfARecordBecomesMarkup) {
  const std::string evil =
      "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&<!--\x1b\x01\xe2\x80\xa8";
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
  EXPECT_EQ(json::parse(script_text(page, "data"))["runs"][0]["experiment"],
            json::parse(page_data(records).dump())["runs"][0]["experiment"]);
}

TEST(Page, HoldsTheJsonForm) {
  const std::vector<RunRecord> records = fixed_repetitions();
  const json data = json::parse(script_text(stub_page(records), "data"));
  const json printed = json::parse(render_json(records));
  EXPECT_EQ(data, printed);
  const CaseSummary one = summarize(records).front().rows[1];
  const json& test = data["cases"][1];
  EXPECT_EQ(test["examples_per_s"], one.examples_per_s->value);
  EXPECT_EQ(test["examples_per_s_low"], one.examples_per_s->interval->low);
  EXPECT_EQ(data["tables"][0]["time"]["unit"], "ms");
  EXPECT_EQ(data["tables"][0]["time"]["factor"], 1e3);
  EXPECT_EQ(test["baseline"], data["cases"][0]["case"]);
  EXPECT_TRUE(data["cases"][0]["exposed_communication_s"].is_null());
}

TEST(Page, SaysBoundAndErrorBarOfEveryPrediction) {
  const std::vector<RunRecord> records = fixed_predictions();
  const Json data = page_data(records);
  const Json& cases = data["tables"][0]["cases"];
  EXPECT_TRUE(cases[0]["prediction"].empty());
  EXPECT_TRUE(cases[2]["command"].is_null());
  const Json& first = cases[2]["prediction"];
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0]["text"],
            "90.000 ms with algorithm ring: compute 90.000 ms, wire 40.000 ms, which starts with "
            "the first gradient");
  EXPECT_EQ(first[1]["text"],
            "error bar ±7.5 %: [96.200, 111.800] ms; 9 of 10 published cells are within (BSP on a "
            "ring, 57 cells)");
  EXPECT_EQ(cases[3]["prediction"][1]["term"], "sharper bound");
  EXPECT_EQ(data["tables"][0]["rows"][3]["cells"][7], "±26.1 %?");
}

TEST(Page, ShowsTheTablesWithoutScripts) {
  const std::string page = stub_page(fixed_records());
  const std::size_t begin = page.find("<noscript>");
  const std::string text = page.substr(begin, page.find("</noscript>") - begin);
  EXPECT_EQ(count(text, "resnet50, batch 32 per rank: synthetic data, fp32 on cpu"), 1);
  EXPECT_EQ(count(text, "resnet101, batch 32 per rank: synthetic data, fp32 on cpu"), 1);
  EXPECT_EQ(count(text, "failed: rank 5 on a: killed by signal 9"), 1);
}

TEST(ScriptJson, ParsesToTheSameValue) {
  const json value{{"<key>", "</script>&<!--"}, {"n", -1.5}};
  const std::string text = script_json(value.dump());
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(json::parse(text), value);
}

}  // namespace
}  // namespace paceline::report
