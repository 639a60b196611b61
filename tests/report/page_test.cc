// SPDX-License-Identifier: Apache-2.0
// The page as text: what is in it, that it needs nothing else, and that no
// word of a record becomes markup.  page_test.py opens it in a browser.
#include "paceline/report/page.h"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/records/json.h"
#include "paceline/records/samples.h"
#include "paceline/report/summary.h"
#include "paceline/report/summary_json.h"
#include "report/expect_golden.h"
#include "report/fixed_records.h"
#include "report/stub_assets.h"

namespace paceline::report {
namespace {

using nlohmann::json;
using records::RunRecord;

std::string stub_page(const std::vector<RunRecord>& records) {
  return render_page({.records = records}, stub_assets());
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

TEST(Page, HoldsTheRecordsAsTheyAre) {
  const std::vector<RunRecord> records = fixed_records();
  std::istringstream lines(script_text(stub_page(records), "records"));
  std::vector<RunRecord> read;
  for (std::string line; std::getline(lines, line);) {
    read.push_back(records::from_line(line));
  }
  EXPECT_EQ(read, records);
}

// One rank's steps do for what is drawn; nothing else of a record is lost.
TEST(Page, HoldsTheSlowestStepsOfRecordsThatAreTooLong) {
  const std::vector<RunRecord> records = fixed_records();
  Page page{.records = records, .most_record_bytes = 1000};
  const std::string text = render_page(page);
  EXPECT_EQ(json::parse(script_text(text, "data"))["whole_records"], false);
  std::istringstream lines(script_text(text, "records"));
  for (RunRecord expected : records) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    const RunRecord drawn = records::from_line(line);
    EXPECT_EQ(records::slowest_step_s(drawn), records::slowest_step_s(expected));
    ASSERT_EQ(drawn.ranks.size(), 1U);
    EXPECT_TRUE(drawn.ranks[0].compute_only_step_ns.empty());
    expected.ranks = drawn.ranks;
    EXPECT_EQ(drawn, expected);
  }
  page.most_record_bytes = 20'000'000;
  EXPECT_EQ(json::parse(script_text(render_page(page), "data"))["whole_records"], true);
}

TEST(Page, NamesTheRecordsAndTheCommandOfEveryCase) {
  const std::vector<RunRecord> records = fixed_repetitions();
  Page page{.records = records};
  for (std::size_t i = 0; i < records.size(); ++i) {
    page.origins.push_back({"r.jsonl", i + 1});
  }
  const Json data = page_data(page);
  EXPECT_EQ(data["origins"][7], "r.jsonl, record 8");
  const Json& cases = data["tables"][0]["cases"];
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[1]["case"], 1);
  EXPECT_EQ(cases[0]["records"], Json({0, 2, 4, 6}));
  EXPECT_EQ(cases[1]["records"], Json({1, 3, 5, 7}));
  EXPECT_TRUE(cases[1]["command"].get<std::string>().starts_with(
      "paceline run --model resnet50 --strategy ddp --ranks 2"));
}

TEST(Page, SaysWhichIntervalsAreFromOneRun) {
  const Json data = page_data({.records = fixed_mixed_repetitions()});
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
  const std::string page = render_page({.records = fixed_records()});
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
  std::istringstream lines(script_text(page, "records"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(records::from_line(line), records.front());
}

// The page draws what `--format json` prints.
TEST(Page, HoldsTheCasesAndTablesOfTheJsonForm) {
  const std::vector<RunRecord> records = fixed_repetitions();
  const json data = json::parse(script_text(stub_page(records), "data"));
  const json printed = json::parse(render_json(records));
  for (const char* key : {"cases", "tables", "training", "notes"}) {
    EXPECT_EQ(data[key], printed[key]) << key;
  }
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
  const Json data = page_data({.records = records});
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

// What the page's scripts draw of frameworks; null where there are none.
TEST(Page, HasTheTablesAndTheSeriesOfFrameworks) {
  EXPECT_TRUE(page_data({.records = fixed_records()})["frameworks"].is_null());
  const std::vector<RunRecord> records = fixed_frameworks();
  const Json data = page_data({.records = records});
  const Json& report = data["frameworks"];
  EXPECT_EQ(report["table"]["rows"][0]["cells"][0], "resnet50: alpha");
  ASSERT_EQ(report["results"].size(), 1U);
  const Json& one = report["results"][0];
  EXPECT_EQ(one["title"], "resnet50, FP32, batch size = 32");
  const Json& rows = one["throughput"]["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["cells"].size(), 8U);
  EXPECT_EQ(rows[0]["cells"][5], "-") << "delta on one device";
  EXPECT_EQ(rows[0]["cells"][6], "not run (1)");
  EXPECT_EQ(rows[0]["cells"][7], "failed (2)");
  EXPECT_EQ(one["footnotes"], Json({"epsilon is not installed here", "ended with code 3"}));
  std::vector<std::string> drawn;
  for (const Json& series : one["series"]) {
    drawn.push_back(series["name"]);
  }
  EXPECT_EQ(drawn, (std::vector<std::string>{"alpha", "beta", "delta"}));
  const Json& alpha = one["series"][0]["points"];
  ASSERT_EQ(alpha.size(), 2U);
  EXPECT_EQ(alpha[1]["speed_up"],
            alpha[1]["value"].get<double>() / alpha[0]["value"].get<double>());
  EXPECT_LT(alpha[1]["low"], alpha[1]["value"]);
  EXPECT_EQ(one["series"][2]["points"].size(), 1U) << "a gap is left out";
  EXPECT_TRUE(one["series"][2]["points"][0]["speed_up"].is_null());
  std::vector<std::string> left_out;
  for (const Json& column : one["left_out"]) {
    left_out.push_back(column["column"].get<std::string>() + ": " +
                       column["why"].get<std::string>());
  }
  EXPECT_EQ(left_out,
            (std::vector<std::string>{"gamma: not comparable",
                                      "delta: no speed-up: it has no figure on one device",
                                      "epsilon: it has no figure", "zeta: it has no figure"}));
  EXPECT_NE(one["findings"].dump().find("the columns differ in layout"), std::string::npos);
  EXPECT_NE(data["text"].get<std::string>().find("throughput, img/s"), std::string::npos)
      << "without scripts";
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
