// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/summary.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/report/cases.h"
#include "paceline/report/summary_table.h"
#include "paceline/report/value_format.h"
#include "report/fixed_records.h"

namespace paceline::report {
namespace {

using records::RunRecord;

// Two ranks of which the slow one changes from step to step.
RunRecord alternating() {
  RunRecord r = fixed_record({"1M/2G", "ddp", 2, 1});
  r.ranks[0].step_ns = {100'000'000, 300'000'000};
  r.ranks[1].step_ns = {200'000'000, 100'000'000};
  r.ranks[0].compute_only_step_ns = {90'000'000, 50'000'000};
  r.ranks[1].compute_only_step_ns = {50'000'000, 110'000'000};
  r.ranks[0].window_ns = 400'000'000;
  r.ranks[1].window_ns = 640'000'000;
  return r;
}

CaseSummary only_row(const std::vector<RunRecord>& records) {
  const std::vector<GroupSummary> tables = summarize(records);
  EXPECT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables.at(0).rows.size(), 1u);
  return tables.at(0).rows.at(0);
}

TEST(Summary, AStepTakesAsLongAsItsSlowestRank) {
  const CaseSummary row = only_row({alternating()});
  EXPECT_DOUBLE_EQ(row.step_s->percentiles.p50, 0.25);
}

TEST(Summary, RateIsExamplesOverTheLongestWindow) {
  const CaseSummary row = only_row({alternating()});
  EXPECT_DOUBLE_EQ(row.examples_per_s->value, 2 * 32 * 2 / 0.64);
  EXPECT_DOUBLE_EQ(*row.examples_per_s_per_rank(), 100);
}

// A prediction for many ranks has samples of a few.
TEST(Summary, RateOfAPredictionIsOfAllRanksThatTrain) {
  RunRecord few = alternating();
  few.source = records::Source::kPredicted;
  few.configuration.ranks = 5000;  // a thousand servers
  few.predicted = records::PredictionDetails{.training_ranks = 4000, .bound = {}};
  const CaseSummary row = only_row({few});
  EXPECT_DOUBLE_EQ(row.examples_per_s->value, 4000 * 32 * 2 / 0.64);
  EXPECT_DOUBLE_EQ(*row.examples_per_s_per_rank(), 100);
}

TEST(Summary, ExposedIsStepMinusTheStepWithoutCommunication) {
  // Medians over steps of the slowest rank: 0.25 s with, 0.10 s without.
  EXPECT_DOUBLE_EQ(only_row({alternating()}).exposed_s->value, 0.15);
}

TEST(Summary, ExposedIsOfThePairsWhereThereAreSome) {
  RunRecord paired = alternating();
  for (records::RankSamples& rank : paired.ranks) {
    rank.compute_only_step_ns = {90'000'000, 80'000'000, 70'000'000};
    rank.paired_step_ns = {100'000'000, 100'000'000, 100'000'000};
    rank.pair_of_step = {0, 1, 2};
  }
  const auto exposed = only_row({paired}).exposed_s;
  EXPECT_NEAR(exposed->value, 0.02, 1e-15);
  EXPECT_TRUE(exposed->interval->contains(0.02));
}

// Records of older programs have such steps where no byte crossed too.
TEST(Summary, ExposedIsAbsentWhereNothingCrosses) {
  RunRecord one = alternating();
  one.wire.measured_per_step = 0;
  EXPECT_FALSE(only_row({one}).exposed_s);
  one.wire.measured_per_step.reset();
  one.wire.planned_per_step = 0;
  EXPECT_FALSE(only_row({one}).exposed_s);
  one.wire.planned_per_step.reset();  // not known
  EXPECT_TRUE(only_row({one}).exposed_s);
}

TEST(Summary, ExposedIsAbsentWhereItWasNotMeasured) {
  EXPECT_FALSE(only_row({fixed_record({"no ddp", "none", 1, 97})}).exposed_s);
}

TEST(Summary, EfficiencyIsTheShareOfTheOneRankRate) {
  const std::vector<GroupSummary> tables = summarize(
      std::vector{fixed_record({"no ddp", "none", 1, 100}), fixed_record({"1M/1G", "ddp", 1, 110}),
                  fixed_record({"1M/2G", "ddp", 2, 124.9})});
  const std::vector<CaseSummary>& rows = tables.at(0).rows;
  EXPECT_FALSE(rows[0].efficiency);
  EXPECT_EQ(rows[0].baseline, "no ddp");
  EXPECT_NEAR(rows[1].efficiency->value, 100.0 / 110.0, 1e-12);
  EXPECT_EQ(rows[2].baseline, "no ddp");
  // The slower rank's steps last 124.9 + 0.1 ms, its swing cancels.
  EXPECT_NEAR(rows[2].efficiency->value, 100.0 / 125.0, 1e-12);
  EXPECT_NEAR(rows[2].efficiency->value,
              *rows[2].examples_per_s_per_rank() / *rows[0].examples_per_s_per_rank(), 1e-12);
}

TEST(Summary, WithoutAPlainCaseTheSameStrategyOnOneRankIsTheBaseline) {
  const std::vector<GroupSummary> tables = summarize(
      std::vector{fixed_record({"1M/1G", "ddp", 1, 110}), fixed_record({"1M/2G", "ddp", 2, 120}),
                  fixed_record({"fusion", "fusion", 2, 120})});
  EXPECT_EQ(tables.at(0).rows[1].baseline, "1M/1G");
  EXPECT_FALSE(tables.at(0).rows[2].baseline);
  EXPECT_FALSE(tables.at(0).rows[2].efficiency);
}

TEST(Summary, AnExternalCaseScalesAgainstTheMeasuredOneRankCase) {
  RunRecord external = fixed_record({"python", "python-ddp", 2, 125});
  external.source = records::Source::kExternal;
  RunRecord alone = external;
  alone.configuration.ranks = 1;
  const std::vector<GroupSummary> tables =
      summarize(std::vector{alone, fixed_record({"no ddp", "none", 1, 100}), external});
  const CaseSummary& row = tables.at(0).rows.at(2);
  EXPECT_EQ(row.baseline, "no ddp");
  EXPECT_NEAR(row.efficiency->value,
              *row.examples_per_s_per_rank() / *tables.at(0).rows.at(1).examples_per_s_per_rank(),
              1e-12);
}

TEST(Summary, AnotherShapeIsNoBaseline) {
  RunRecord plain = fixed_record({"no ddp", "none", 1, 100});
  const RunRecord test = fixed_record({"1M/2G", "ddp", 2, 120});
  plain.configuration.threads = 2;
  EXPECT_FALSE(summarize(std::vector{plain, test})[0].rows[1].baseline);
  plain.configuration.threads = 1;
  EXPECT_TRUE(summarize(std::vector{plain, test})[0].rows[1].baseline);
  plain.configuration.replay = "other.profile.json";
  EXPECT_FALSE(summarize(std::vector{plain, test})[0].rows[1].baseline);
  plain.configuration.replay.clear();
  plain.configuration.stretch = 4;
  EXPECT_FALSE(summarize(std::vector{plain, test})[0].rows[1].baseline);
  plain.configuration.stretch = 1;
  plain.configuration.clip_norm = 1;
  EXPECT_FALSE(summarize(std::vector{plain, test})[0].rows[1].baseline);
  plain.configuration.clip_norm = 0;
  plain.configuration.data = "digits";
  EXPECT_FALSE(summarize(std::vector{plain, test})[0].rows[1].baseline);
  plain.configuration.data.clear();
  plain.source = records::Source::kPredicted;
  EXPECT_FALSE(summarize(std::vector{plain, test})[0].rows[1].baseline);
}

TEST(Summary, RepetitionsMakeOneRowWithAnIntervalOverRuns) {
  const std::vector<GroupSummary> tables = summarize(fixed_repetitions());
  ASSERT_EQ(tables.at(0).rows.size(), 2u);
  const CaseSummary& row = tables.at(0).rows[1];
  EXPECT_EQ(row.step_s->runs, 4u);
  EXPECT_EQ(row.step_s->steps, 40u);
  EXPECT_EQ(row.efficiency->basis, stats::IntervalBasis::kRuns);
  EXPECT_TRUE(row.efficiency->interval->contains(row.efficiency->value));
}

TEST(Summary, FailedRunsAreKeptBesideTheGoodOnes) {
  std::vector<RunRecord> records = fixed_repetitions();
  records[3].error = "rank 1: killed";
  const CaseSummary row = summarize(records)[0].rows[1];
  EXPECT_EQ(row.failed_runs, 1u);
  EXPECT_EQ(row.errors, std::vector<std::string>{"rank 1: killed"});
  EXPECT_EQ(row.step_s->runs, 3u);
}

TEST(Summary, ExplainsTheIntervalOfTheRateOfOneCase) {
  const RunRecord alone = fixed_record({"no ddp", "none", 1, 100});
  for (const Detail detail : {Detail::kShort, Detail::kFull}) {
    const auto notes = case_columns(summarize({{alone}}).at(0).rows, detail).notes();
    EXPECT_EQ(std::ranges::count(notes, "[low, high]", &Note::term), 1);
  }
}

TEST(Summary, ZeroStepsGiveNoRatio) {
  RunRecord plain = fixed_record({"no ddp", "none", 1, 100});
  plain.ranks[0].step_ns.assign(10, 0);
  plain.ranks[0].window_ns = 0;
  const RunRecord test = fixed_record({"1M/2G", "ddp", 2, 120});
  EXPECT_FALSE(summarize(std::vector{plain, test})[0].rows[1].efficiency);
}

std::vector<std::string> warning_codes(const RunRecord& record) {
  std::vector<std::string> codes;
  for (const records::Warning& warning : only_row({record}).warnings) {
    codes.push_back(warning.code);
  }
  return codes;
}

TEST(Summary, WarnsOfWhatTheSamplesShow) {
  RunRecord r = fixed_record({"1M/2G", "ddp", 2, 100});
  EXPECT_EQ(warning_codes(r), std::vector<std::string>{"few-samples"});
  for (records::RankSamples& rank : r.ranks) {
    rank.step_ns.assign(21, 100'000'000);
  }
  EXPECT_TRUE(warning_codes(r).empty());
  r.verified["reduced-values"] = false;
  r.wire.measured_per_step = 1;
  EXPECT_EQ(warning_codes(r),
            (std::vector<std::string>{"verification-failed", "bytes-differ-from-plan"}));
}

TEST(Summary, ImportedRunsCannotBeMeasuredAgain) {
  RunRecord r = fixed_record({"1M/2G", "ddp", 2, 100});
  r.source = records::Source::kImported;
  EXPECT_EQ(only_row({r}).warnings.at(0).advice, "import more of its runs, or longer ones");
}

// 40 steps of one rank that swing by 2 ms around 100 ms; those from `begin` to
// `end` take three times as long.
RunRecord disturbed(std::size_t begin, std::size_t end) {
  RunRecord r = fixed_record({"no ddp", "none", 1, 100});
  r.ranks[0].step_ns.clear();
  for (std::size_t i = 0; i < 40; ++i) {
    const auto swing = static_cast<std::int64_t>(i % 3) * 1'000'000;
    const std::int64_t factor = i >= begin && i < end ? 3 : 1;
    r.ranks[0].step_ns.push_back((99'000'000 + swing) * factor);
  }
  return r;
}

TEST(Summary, WarnsOfStepsThatAreNotSteady) {
  EXPECT_EQ(warning_codes(disturbed(0, 0)), std::vector<std::string>{});
  // One of three is chance.
  EXPECT_TRUE(only_row({disturbed(0, 0), disturbed(0, 4), disturbed(0, 0)}).warnings.empty());
  const CaseSummary late = only_row({disturbed(0, 0), disturbed(0, 4)});
  ASSERT_EQ(late.warnings.size(), 1u);
  EXPECT_EQ(late.warnings[0].code, "not-steady");
  EXPECT_EQ(late.warnings[0].seen,
            "1 of 2 runs not steady at first: one settles after 4 of 40 steps");
  RunRecord simulated = disturbed(0, 4);
  simulated.source = records::Source::kPredicted;
  EXPECT_TRUE(only_row({simulated}).warnings.empty());
  const CaseSummary never = only_row({disturbed(28, 40), disturbed(0, 4)});
  ASSERT_EQ(never.warnings.size(), 2u);
  EXPECT_EQ(never.warnings[1].code, "correlated-steps");
  EXPECT_EQ(never.warnings[0].seen,
            "2 of 2 runs not steady at first: one never settles in 40 steps");
}

TEST(Summary, WarnsOfStepsThatResembleTheirNeighbors) {
  // `level` steps above the median, as many below, and so on.
  const auto swinging = [](std::size_t level, std::size_t steps) {
    RunRecord r = fixed_record({"no ddp", "none", 1, 100});
    r.ranks[0].step_ns.clear();
    for (std::size_t i = 0; i < steps; ++i) {
      r.ranks[0].step_ns.push_back(i / level % 2 == 0 ? 99'000'000 : 101'000'000);
    }
    return r;
  };
  const auto warned = [](const std::vector<RunRecord>& runs) {
    const CaseSummary row = only_row(runs);
    return std::any_of(row.warnings.begin(), row.warnings.end(),
                       [](const auto& warning) { return warning.code == "correlated-steps"; });
  };
  EXPECT_TRUE(warned({swinging(10, 60)}));
  EXPECT_TRUE(warned({swinging(10, 60), swinging(1, 60)}));
  EXPECT_FALSE(warned({swinging(1, 60)}));
  EXPECT_FALSE(warned({swinging(10, 300)}));  // long enough
  // The interval is over runs.
  EXPECT_FALSE(warned({swinging(10, 60), swinging(10, 60), swinging(10, 60)}));
}

TEST(Summary, PredictionsForOtherClustersAreOtherCases) {
  std::vector<RunRecord> records{fixed_record({"16 ranks", "ddp", 2, 100}),
                                 fixed_record({"16 ranks", "ddp", 2, 90}),
                                 fixed_record({"1 rank", "ddp", 1, 80})};
  records[0].configuration.cluster = "2 nodes, 10 Gb; prices 00000001";
  records[1].configuration.cluster = "2 nodes, 40 Gb; prices 00000002";
  records[2].configuration.cluster = "2 nodes, 40 Gb; prices 00000002";
  const std::vector<GroupSummary> tables = summarize(records);
  const std::vector<CaseSummary>& rows = tables.at(0).rows;
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].label, "16 ranks cluster=2 nodes, 10 Gb; prices 00000001");
  EXPECT_EQ(rows[1].label, "16 ranks cluster=2 nodes, 40 Gb; prices 00000002");
  EXPECT_FALSE(rows[0].baseline.has_value());
  EXPECT_EQ(rows[1].baseline, "1 rank");
}

TEST(Summary, AveragesAreLateByTheirRanksAndRuns) {
  std::vector<RunRecord> records{fixed_record({"late", "win-put", 2, 100}),
                                 fixed_record({"late", "win-put", 2, 100}, 1),
                                 fixed_record({"other", "ddp", 2, 100})};
  records[0].ranks[0].averages_by_steps_missed = {6, 2};
  records[1].ranks[1].averages_by_steps_missed = {1, 0, 0, 1};
  const std::vector<GroupSummary> tables = summarize(records);
  const std::vector<CaseSummary>& rows = tables.at(0).rows;
  ASSERT_EQ(rows.size(), 2u);
  ASSERT_TRUE(rows[0].average_staleness.has_value());
  EXPECT_DOUBLE_EQ(rows[0].average_staleness->mean_steps, 0.5);
  EXPECT_EQ(rows[0].average_staleness->most_steps, 3);
  EXPECT_FALSE(rows[1].average_staleness.has_value());
  const Document document = summary_document(tables, Detail::kShort);
  const Table& table = document.tables.at(0);
  const auto column =
      std::ranges::find(table.columns, "late by", &Column::group) - table.columns.begin();
  const auto at = static_cast<std::size_t>(column);
  ASSERT_LT(at, table.columns.size());
  EXPECT_EQ(table.rows.at(0).cells.at(at), "0.50, 3");
  EXPECT_EQ(table.rows.at(1).cells.at(at), "-");
}

TEST(SummaryHeading, SaysNothingOfADeviceThatIsNotKnown) {
  std::vector<RunRecord> records{fixed_record({"theirs", "external", 2, 100})};
  records[0].source = records::Source::kImported;
  cases::Case& c = records[0].configuration;
  c.device = c.engine = "";
  c.dtype = "amp";
  EXPECT_EQ(heading_of(summarize(records).at(0)),
            "resnet50, batch 32 per rank: amp, 1 thread per rank");
  c.dtype = "-";
  c.threads = 0;
  EXPECT_EQ(heading_of(summarize(records).at(0)), "resnet50, batch 32 per rank");
}

TEST(Summary, LinesOfSeveralStepsAreCountedInSteps) {
  std::vector<RunRecord> records{fixed_record({"train.py", "external", 1, 100})};
  records[0].configuration.command = "train.py";
  records[0].configuration.steps_per_line = 5;
  records[0].configuration.steps = 10;
  records[0].ranks[0].step_ns.resize(2);
  const CaseSummary row = summarize(records).at(0).rows.at(0);
  EXPECT_EQ(row.measured_steps(), 10U);
  const auto few = std::ranges::find(row.warnings, "few-samples", &records::Warning::code);
  ASSERT_NE(few, row.warnings.end());
  EXPECT_EQ(few->seen, "10 steps in 2 lines");
  EXPECT_TRUE(few->why.starts_with("p95 lies between the two slowest of these")) << few->why;
  const auto notes = case_columns({row}, Detail::kShort).notes();
  EXPECT_TRUE(notes.at(0).text.ends_with("over 10 steps in 2 lines of 1 run")) << notes.at(0).text;
}

TEST(Summary, SaysHowManyOfTheRanksTrain) {
  std::vector<RunRecord> records{fixed_record({"ddp", "ddp", 5, 100})};
  records[0].configuration.model = "hybrid";
  for (const std::size_t serving : {2U, 3U, 4U}) {
    records[0].ranks[serving].step_ns.clear();
  }
  const auto notes = case_columns(summarize(records).at(0).rows, Detail::kShort).notes();
  EXPECT_EQ(notes.at(0).term, "ranks");
  EXPECT_TRUE(notes.at(0).text.starts_with("2 of 5 train")) << notes[0].text;
}

TEST(Summary, WhatTheSourceDoesNotSayHasNoFigure) {
  std::vector<RunRecord> records{fixed_record({"theirs", "", 2, 100})};
  records[0].source = records::Source::kImported;
  cases::Case& c = records[0].configuration;
  c.label = "theirs";
  c.unstated = {"batch_size", "ranks", "strategy", "dtype"};
  c.batch_size = 0;
  c.ranks = 1;
  c.dtype = "";
  const GroupSummary group = summarize(records).at(0);
  const CaseSummary& row = group.rows.at(0);
  EXPECT_EQ(row.examples_per_s, std::nullopt);
  EXPECT_EQ(row.examples_per_s_per_rank(), std::nullopt);
  EXPECT_TRUE(row.step_s.has_value());
  EXPECT_TRUE(heading_of(group).starts_with("resnet50, batch - per rank: - on"))
      << heading_of(group);
  const Document shown = summary_document({group}, Detail::kShort);
  EXPECT_EQ(shown.tables.at(0).rows.at(0).cells.at(1), "-");
  records[0].ranks.at(0).examples_of_step.assign(records[0].ranks[0].step_ns.size(), 64);
  const CaseSummary counted = summarize(records).at(0).rows.at(0);
  EXPECT_TRUE(counted.examples_per_s.has_value());
  EXPECT_EQ(counted.examples_per_s_per_rank(), std::nullopt);
}

TEST(SummaryHeading, SaysOnWhichDataWasTrained) {
  std::vector<RunRecord> records{fixed_record({"ours", "fusion", 2, 100})};
  cases::Case& c = records[0].configuration;
  const auto says = [&](std::string_view words) {
    return heading_of(summarize(records).at(0)).find(words) != std::string::npos;
  };
  EXPECT_TRUE(says("synthetic data"));
  c.data = "digits";
  EXPECT_TRUE(says("data digits"));
  EXPECT_FALSE(says("synthetic"));
  c.data.clear();
  c.command = "train.py";  // which does not say
  EXPECT_FALSE(says("synthetic"));
}

TEST(ValueFormat, ShowsWhatIsFarBelowItsColumn) {
  const ValueFormat seconds = time_format(1564.0);
  EXPECT_EQ(seconds.show(0.256), "0");
  EXPECT_EQ(seconds.show_small(0.256), "0.256");
  EXPECT_EQ(seconds.show_small(1200), "1200");
  EXPECT_EQ(seconds.show_small(0), "0");
  EXPECT_EQ(time_format(1e-4).unit, "ms");
  EXPECT_EQ(time_format(0.99e-4).unit, "us");
  EXPECT_EQ(time_format(0.1).show_small(0.0999), "99.9");
}

// A step of other tables is another job.
TEST(Summary, EfficiencyOfTablesIsThatOfTheSameTables) {
  records::RunRecord one = fixed_record({"one", "none", 1, 100}, 0);
  records::RunRecord two = fixed_record({"two", "none", 2, 110}, 0);
  for (records::RunRecord* record : {&one, &two}) {
    record->configuration.model = "hybrid";
    record->configuration.servers = 0;
  }
  EXPECT_TRUE(summarize(std::vector{one, two})[0].rows[1].efficiency);
  two.configuration.embeddings = 9000;
  EXPECT_FALSE(summarize(std::vector{one, two})[0].rows[1].efficiency);
}

}  // namespace
}  // namespace paceline::report
