// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/formats.h"

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/report/console.h"
#include "paceline/report/csv.h"
#include "paceline/report/markdown.h"
#include "paceline/report/summary_json.h"
#include "paceline/report/text.h"
#include "report/fixed_records.h"

namespace paceline::report {
namespace {

using nlohmann::json;
using records::RunRecord;

TEST(Formats, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const Format& format : formats()) {
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    EXPECT_EQ(&find_format(format.name), &format);
    EXPECT_FALSE(format.summary.empty());
  }
}

TEST(Formats, UnknownNameListsTheKnown) {
  try {
    find_format("tabel");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              "--format: unknown format 'tabel'; did you mean 'table'? Known: table, ddp, bluefog, "
              "ddl, trainers, ddp-rpc, json, csv, dlperf, markdown");
  }
}

TEST(Formats, NoRecordsMakeNoRows) {
  for (const Format& format : formats()) {
    EXPECT_EQ(format.render({}).find("no ddp"), std::string::npos);
  }
}

// How often `part` is in `text`.
std::size_t times(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Heading, NamesABucketOnlyWhereAStrategyHasOne) {
  const auto heading = [](const std::vector<RunRecord>& records) {
    return times(find_format("table").render(records), "bucket 25 MiB");
  };
  const RunRecord none = fixed_record({"no ddp", "none", 1, 97.2});
  const RunRecord bsp = fixed_record({"bsp", "bsp", 2, 97.2});
  const RunRecord ddp = fixed_record({"1M/2G", "ddp:bucket-mb=25", 2, 97.2});
  RunRecord other = fixed_record({"1M/4G", "ddp:bucket-mb=5", 4, 97.2});
  other.configuration.bucket_mb = 5;
  EXPECT_EQ(heading({none, bsp}), 0U);
  EXPECT_EQ(heading({none, bsp, ddp}), 1U);
  EXPECT_EQ(heading({none, ddp, other}), 0U);
}

TEST(Heading, SaysTheBucketOfTheStrategyAndWhatNoRowNames) {
  RunRecord one = fixed_record({"16 ranks", "fusion:bucket-mb=50+ps:local=0", 2, 97.2});
  one.source = records::Source::kPredicted;
  one.configuration.bucket_mb = 5;
  one.configuration.cluster = "two nodes; prices 0123abcd";
  const auto shown = [&] {
    const std::string text = find_format("table").render({&one, 1});
    return text.substr(0, text.find("\n\n"));
  };
  EXPECT_EQ(shown(),
            "resnet50, batch 32 per rank: fusion:bucket-mb=50+ps:local=0, fp32 on cpu, gloo, "
            "cluster two nodes; prices 0123abcd,\nbucket 50 MiB, 1 thread per rank");
  one.configuration.label.clear();  // the row is called as its strategy
  EXPECT_EQ(shown(),
            "resnet50, batch 32 per rank: fp32 on cpu, gloo, cluster two nodes; prices 0123abcd, "
            "bucket 50 MiB, 1 thread per rank");
}

TEST(Notes, SayWhereStepsDifferByTheRule) {
  const auto notes = [](const std::string& strategy) {
    const RunRecord one = fixed_record({"a", strategy, 2, 97.2});
    return times(find_format("table").render({&one, 1}), "every=H");
  };
  EXPECT_EQ(notes("fusion+local-sgd:every=10"), 2U);  // the term and the rule
  EXPECT_EQ(notes("fusion+diloco:every=2"), 2U);
  EXPECT_EQ(notes("fusion+local-sgd:every=1"), 0U);
  EXPECT_EQ(notes("fusion"), 0U);
  EXPECT_EQ(notes("a newer program's"), 0U);
}

TEST(Intervals, OfPredictionsAreSaidToBeOfSimulatedSteps) {
  std::vector<RunRecord> records{fixed_record({"a", "none", 1, 97.2}),
                                 fixed_record({"b", "ddp", 2, 103.2})};
  const auto shown = [&] {
    std::string text = find_format("table").render(records);
    for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos;) {
      text.replace(at, std::max(text.find_first_not_of(' ', at + 1), at + 1) - at, " ");
    }
    return text;
  };
  EXPECT_EQ(times(shown(), "simulated"), 0U);
  records[1].source = records::Source::kPredicted;
  const std::string mixed = shown();
  EXPECT_EQ(times(mixed, "wall time of all measured steps"), 1U) << mixed;
  records[0].source = records::Source::kPredicted;
  const std::string all = shown();
  EXPECT_EQ(times(all, "each simulated step"), 1U) << all;
  EXPECT_EQ(times(all, "examples / simulated time"), 1U) << all;
  EXPECT_EQ(times(all, "95 % interval from simulated steps"), 1U) << all;
  EXPECT_EQ(times(all, "measured") + times(all, "--runs"), 0U) << all;
}

TEST(Intervals, OfOneRunAreMarkedWhereOthersAreOverRuns) {
  const std::string mixed = find_format("table").render(fixed_mixed_repetitions());
  EXPECT_EQ(times(mixed, "]* "), 3u) << "rate, efficiency and exposed of one case";
  EXPECT_EQ(times(mixed, "where a * follows"), 1u) << mixed;
  EXPECT_EQ(times(mixed, "95 % interval over repeated runs"), 1u);
  for (const auto& records : {fixed_records(), fixed_repetitions()}) {
    EXPECT_EQ(times(find_format("table").render(records), "*"), 0u);
  }
  const std::string csv = render_csv(fixed_mixed_repetitions());
  EXPECT_GT(times(csv, ",runs,"), 0u);
  EXPECT_GT(times(csv, ",these runs,"), 0u);
}

TEST(Csv, QuotesAsRfc4180) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

// Fields of RFC 4180 text, line by line.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> lines(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"') {
      lines.back().back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      lines.back().emplace_back();
    } else if (c == '\n' && !quoted) {
      lines.push_back({""});
    } else {
      lines.back().back() += c;
    }
  }
  lines.pop_back();
  return lines;
}

TEST(Csv, EveryLineHasEveryFieldAndReadsBack) {
  std::vector<RunRecord> records = fixed_records();
  const std::string nasty = "a \"b\", c\nd";
  records[1].configuration.label = nasty;
  const auto lines = parse_csv(render_csv(records));
  ASSERT_EQ(lines.size(), 8u);
  for (const auto& line : lines) {
    EXPECT_EQ(line.size(), summary_fields().size() + 2);
  }
  EXPECT_EQ(lines[1][0], nasty);
}

TEST(Csv, MissingIsEmptyNeverZero) {
  const auto lines = parse_csv(render_csv(fixed_records()));
  const auto column = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(lines[0].begin(), lines[0].end(), name) -
                                    lines[0].begin());
  };
  const auto& failed = lines[5];
  EXPECT_EQ(failed[column("case")], "1M/8G");
  EXPECT_EQ(failed[column("step_p50_s")], "");
  EXPECT_EQ(failed[column("wire_bytes_per_rank_per_step")], "");
  EXPECT_EQ(lines[1][column("wire_bytes_per_rank_per_step")], "0");
}

TEST(Json, HoldsTheColumnsOfTheCsvForm) {
  const json report = json::parse(render_json(fixed_records()));
  ASSERT_EQ(report["cases"].size(), 7u);
  for (const json& one : report["cases"]) {
    for (const Field<CaseSummary>& field : summary_fields()) {
      EXPECT_TRUE(one.contains(field.name)) << field.name;
    }
  }
  EXPECT_TRUE(report["cases"][4]["step_p50_s"].is_null());
  EXPECT_EQ(report["cases"][4]["errors"].size(), 1u);
}

TEST(Table, ControlCharactersDoNotReachTheTerminal) {
  std::vector<RunRecord> records = fixed_records();
  records[1].configuration.label = "\x1b[2Jgone";
  records[5].error = "\x1b]0;title\x07";
  EXPECT_EQ(find_format("table").render(records).find('\x1b'), std::string::npos);
}

TEST(Markdown, ShowsAHostileLabelAsItIs) {
  EXPECT_EQ(markdown_escaped("a|b\n<script>[x](y)"), "a\\|b \\<script\\>[x]\\(y)");
  std::vector<RunRecord> records = fixed_records();
  const auto rows = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto lines = rows(find_format("markdown").render(records));
  records[1].configuration.label = "|\n| x | y |\n";
  EXPECT_EQ(rows(find_format("markdown").render(records)), lines);
}

TEST(Layout, BreaksWordsUnderTheirHead) {
  EXPECT_EQ(with_hanging_indent("a: ", "one two three", 10), "a: one two\n   three\n");
  EXPECT_EQ(with_hanging_indent("a: ", "unbreakable-word", 5), "a: unbreakable-word\n");
}

// One table with all that a table may have, in both forms for readers.
TEST(Table, HasHeadingsUnitsSpansAndText) {
  const Document document{
      .header = {{"of", "a & b"}},
      .tables = {{.title = "title",
                  .columns = {{.name = "case", .align = Align::kLeft},
                              {.name = "p50", .group = "step", .unit = "ms"},
                              {.name = "p95", .group = "step", .unit = "ms"},
                              {.name = "", .group = "efficiency", .unit = "%"},
                              {.name = "rate", .unit = "Gbit/s"}},
                  .rows = {{.cells = {"a", "1", "2", "3", "4"}, .emphasized = true},
                           {.cells = {"long"}, .span = "failed"}},
                  .text = "below"}},
      .notes = {{"step", "of the slowest rank"}}};
  EXPECT_EQ(console_text(document),
            "of  a & b\n\n"
            "title\n\n"
            "      step, ms  efficiency\n"
            "case  p50  p95           %  rate, Gbit/s\n"
            "a       1    2           3             4\n"
            "long  failed\n"
            "\nbelow\n\n"
            "step        of the slowest rank\n");
  EXPECT_EQ(markdown_text(document),
            "of: a \\& b\n\n"
            "### title\n\n"
            "| case | step, ms p50 | step, ms p95 | efficiency, % | rate, Gbit/s |\n"
            "| :-- | --: | --: | --: | --: |\n"
            "| a | 1 | 2 | 3 | **4** |\n"
            "| long | failed | | | |\n\n"
            "below\n\n"
            "- **step**: of the slowest rank\n");
}

// A table as wide as asked for: the label, a narrow column, and two wide ones.
std::string table_of_width(std::size_t label, std::size_t wide) {
  return console_text(Table{.columns = {{.name = "case", .align = Align::kLeft},
                                        {.name = "ranks"},
                                        {.name = "a", .group = "first"},
                                        {.name = "b", .group = "second"}},
                            .rows = {{.cells = {std::string(label, 'l'), "2",
                                                std::string(wide, 'x'), std::string(wide, 'y')}},
                                     {.cells = {"short", "4"}, .span = "failed"}}});
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  for (const std::string& line : split_lines(text)) {
    longest = std::max(longest, line.size());
  }
  return longest;
}

TEST(Layout, ALabelThatDoesNotFitHasALineOfItsOwn) {
  EXPECT_EQ(longest_line(table_of_width(29, 40)), 120U);
  EXPECT_EQ(times(table_of_width(29, 40), "\n"), 4U);
  const std::string text = table_of_width(30, 40);
  EXPECT_EQ(longest_line(text), 120U);
  EXPECT_EQ(times(text, std::string(30, 'l') + "\n" + std::string(35, ' ') + "2"), 1U) << text;
  EXPECT_EQ(times(text, "short"), 1U);
}

TEST(Layout, ColumnsThatDoNotFitFollowInASecondBlock) {
  const std::string text = table_of_width(8, 90);
  EXPECT_LE(longest_line(text), 120U) << text;
  EXPECT_EQ(times(text, "case"), 2U);
  EXPECT_EQ(times(text, "llllllll"), 2U);  // each block names its rows
  EXPECT_EQ(times(text, "failed"), 1U);
  EXPECT_LT(text.find(std::string(90, 'x')), text.find("second"));
}

TEST(Layout, NothingUnseenIsPrinted) {
  EXPECT_EQ(printable("a\tb\x1b[2J\x7f"), "a b?[2J?");
  EXPECT_EQ(printable("\xC2\x9B\x32J"), "?2J");  // CSI in one character
  EXPECT_EQ(printable("\xE2\x80\xAE\xE2\x81\xA6\xE2\x80\x8F"), "???");
  EXPECT_EQ(printable("\xC2\xB5s \xE2\x80\x93"), "\xC2\xB5s \xE2\x80\x93");
  EXPECT_EQ(printable("\xE2\x80"), "\xE2\x80");
}

TEST(Layout, LongTextsAreContinuedWithin120Columns) {
  const std::string strategy(100, 's');
  const Table table{
      .columns = {{.name = "step"}, {.name = "error"}, {.name = "strategy", .align = Align::kLeft}},
      .rows = {{.cells = {"1", "2", "short"}},
               {.cells = {"1", std::string(20, '2'), strategy + " (why)"}}},
      .legend = "l",
      .text = "first\n" + std::string(100, 'x') + " " + std::string(50, 'y')};
  const std::string text = console_text(table);
  EXPECT_LE(longest_line(text), 120U) << text;
  EXPECT_NE(text.find("\n    " + strategy + " (why)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nfirst\n"), std::string::npos) << text;
}

TEST(Layout, CountsCharactersNotBytes) {
  const Table table{.columns = {{.name = "x", .align = Align::kLeft}, {.name = "yy"}},
                    .rows = {{.cells = {"\xC2\xB5", "1"}}, {.cells = {"mm", "1"}}}};
  EXPECT_EQ(console_text(table), "x   yy\n\xC2\xB5    1\nmm   1\n");
}

// 40 MB saved in 32 ms: 1.25 GB/s, 10 Gbit/s.
TEST(CodingCost, HasTheBreakEvenBandwidthInEveryFormat) {
  std::vector<records::RunRecord> both{fixed_record({"fusion", "fusion", 2, 1}),
                                       fixed_record({"sign", "fusion+sign", 2, 1})};
  records::RunRecord& coded = both[1];
  coded.coding = records::CodingCost{.ns_per_step = 32'000'000, .plain_bytes_per_step = 41'000'000};
  coded.wire.measured_per_step = 1'000'000;
  coded.training = records::Training{1.5};
  coded.configuration.link = "8Gbit,50us";
  const Json cases = Json::parse(render_json(both))["cases"];
  EXPECT_TRUE(cases[0]["break_even_bits_per_s"].is_null());
  EXPECT_TRUE(cases[0]["link_bits_per_s"].is_null());
  EXPECT_EQ(cases[1]["break_even_bits_per_s"].get<double>(), 1e10);
  EXPECT_EQ(cases[1]["link_bits_per_s"].get<double>(), 8e9);
  EXPECT_NE(render_csv(both).find(",0.032,41000000,10000000000.0,8000000000.0,1.5,"),
            std::string::npos);
  EXPECT_NE(find_format("markdown").render(both).find("| 32.000 | 10 |"), std::string::npos)
      << find_format("markdown").render(both);
  coded.coding->plain_bytes_per_step = 9;
  EXPECT_TRUE(Json::parse(render_json(both))["cases"][1]["break_even_bits_per_s"].is_null());
  coded.configuration.link = "any text";
  EXPECT_TRUE(Json::parse(render_json(both))["cases"][1]["link_bits_per_s"].is_null());
}

}  // namespace
}  // namespace paceline::report
