// SPDX-License-Identifier: Apache-2.0
// DLPerf's report from its published cells, and what the validator says of
// them.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/base/file.h"
#include "paceline/records/importers.h"
#include "paceline/report/formats.h"
#include "paceline/report/framework_report.h"

namespace paceline::report {
namespace {

std::vector<records::RunRecord> published() {
  const std::string path = PACELINE_SOURCE_DIR "/reference/dlperf.csv";
  return records::import_rate_table(read_text(path), path);
}

const FrameworkTable& table_named(const std::vector<FrameworkTable>& tables,
                                  std::string_view id) {
  return *std::ranges::find(tables, id, &FrameworkTable::id);
}

bool any_finding(const std::vector<Finding>& all,
                 const std::string& column,
                 const std::string& words) {
  return std::ranges::any_of(all, [&](const Finding& one) {
    return one.column == column && one.text.find(words) != std::string::npos;
  });
}

TEST(Dlperf, SixTablesOfFourRows) {
  const auto records = published();
  const auto tables = framework_tables(records);
  ASSERT_EQ(tables.size(), 6U);
  std::size_t columns = 0;
  for (const FrameworkTable& table : tables) {
    EXPECT_EQ(table.rows,
              (std::vector<Devices>{{1, 1}, {1, 8}, {2, 16}, {4, 32}}));
    columns += table.columns.size();
  }
  EXPECT_EQ(columns, 42U) << "series";
  EXPECT_EQ(tables[0].title, "FP32, batch size = 128");
  EXPECT_EQ(tables[0].unit, "img/s");
}

// To the last printed digit of the source.
TEST(Dlperf, EveryCellAndSpeedUpAsPublished) {
  const auto records = published();
  const auto tables = framework_tables(records);
  std::size_t cells = 0;
  std::size_t speed_ups = 0;
  for (const FrameworkTable& table : tables) {
    for (const FrameworkColumn& column : table.columns) {
      for (const auto& [devices, cell] : column.cells) {
        ASSERT_EQ(cell.runs.size(), 1U) << table.id << column.title;
        const auto& said = cell.runs[0]->adapter;
        EXPECT_EQ(cell_text(cell), said.at("reported_samples_per_s"));
        ++cells;
        const auto published_one = said.find("published_speed_up");
        const auto mine = column.speed_up(devices);
        if (published_one == said.end() || !mine) {
          continue;
        }
        char digits[40];
        std::snprintf(digits, sizeof digits, "%.6g", *mine);
        EXPECT_EQ(std::strtod(digits, nullptr),
                  std::strtod(published_one->second.c_str(), nullptr))
            << table.id << " " << column.title << " " << devices.devices;
        ++speed_ups;
      }
    }
  }
  EXPECT_EQ(cells, records.size());
  EXPECT_GT(speed_ups, 100U);
}

TEST(Dlperf, AbsentCellsAreDashes) {
  const auto records = published();
  const auto tables = framework_tables(records);
  const FrameworkTable& table = table_named(tables, "rn50_fp32_b128");
  EXPECT_EQ(table.columns[0].title, "OneFlow");
  EXPECT_FALSE(table.columns[0].cells.contains({4, 32}));
  EXPECT_EQ(speed_up_text(table.columns[0], {4, 32}), "-");
  EXPECT_EQ(speed_up_text(table.columns[0], {1, 8}), "7.8723x, 98.4 %");
  const std::string text = render_dlperf(records);
  EXPECT_NE(text.find("| 4 | 32 | - | 11331.93 | 9514.64 | - |"),
            std::string::npos)
      << text;
}

TEST(Dlperf, ColumnsSayWhatTheyAre) {
  const auto records = published();
  const auto tables = framework_tables(records);
  std::vector<std::string> titles;
  for (const auto& column : table_named(tables, "rn50_amp_b256").columns) {
    titles.push_back(column.title);
  }
  for (const char* title : {"NGC TensorFlow 1.x w/XLA bsz=224",
                            "NGC TensorFlow 1.x bsz=224",
                            "PaddlePaddle w/DALI bsz=196"}) {
    EXPECT_EQ(std::ranges::count(titles, title), 1) << title;
  }
}

TEST(Dlperf, TheValidatorKnowsWhatIsWrong) {
  const auto records = published();
  const auto tables = framework_tables(records);
  const auto amp = findings(table_named(tables, "rn50_amp_b256"));
  EXPECT_TRUE(any_finding(
      amp, "PaddlePaddle w/DALI bsz=196", "falls from 6862.17 on 1n8d"));
  EXPECT_TRUE(any_finding(amp, "MXNet", "a speed-up of 3.49 on 8 devices"));
  EXPECT_TRUE(any_finding(amp, "NGC MXNet", "fp16_without_loss_scaling"));
  const auto bert = findings(table_named(tables, "bert_fp32_b32"));
  EXPECT_TRUE(any_finding(bert, "", "the columns differ in clipping"));
  // No published cell scales beyond its devices.
  for (const FrameworkTable& table : tables) {
    for (const Finding& one : findings(table)) {
      EXPECT_EQ(one.text.find("cannot be"), std::string::npos) << one.text;
      EXPECT_EQ(one.text.find("published"), std::string::npos) << one.text;
    }
  }
}

TEST(Dlperf, APublishedSpeedUpIsThatOfTheThroughputBesideIt) {
  const auto finding_of = [](const std::string& speed_up) {
    const std::string path = "table.csv";
    const auto records = records::import_rate_table(
        "framework,model,precision,batch_size_per_device,nodes,gpus,"
        "throughput_samples_per_s,published_speedup\n"
        "a,bert,fp32,32,1,1,100.00,1\na,bert,fp32,32,1,8,787.23," +
            speed_up + "\n",
        path);
    std::vector<std::string> texts;
    for (const Finding& one : findings(framework_tables(records).at(0))) {
      texts.push_back(one.column + ": " + one.text);
    }
    return texts;
  };
  const std::vector<std::string> none;
  EXPECT_EQ(finding_of("7.8723"), none);
  EXPECT_EQ(finding_of("7.9"), none) << "rounded";
  EXPECT_EQ(finding_of("8"), none) << "rounded";
  EXPECT_EQ(finding_of(""), none);
  EXPECT_EQ(finding_of("7.94"),
            std::vector<std::string>{
                "a: the published speed-up of 7.94 on 1n8d is not that of the "
                "throughput beside it, which is 7.87"});
  EXPECT_EQ(finding_of("9").size(), 1U);
  EXPECT_EQ(finding_of("many").size(), 1U);
}

// A measured run of one rank whose loss is said.
records::RunRecord measured(const std::string& framework,
                            int ranks,
                            std::int64_t step_ns,
                            const std::string& loss,
                            int run = 0) {
  records::RunRecord record;
  record.source = records::Source::kExternal;
  record.experiment = "frameworks";
  record.run = run;
  records::Configuration& c = record.configuration;
  c.framework = c.label = framework;
  c.strategy = "external";
  c.model = "lenet";
  c.batch_size = 8;
  c.ranks = ranks;
  record.ranks.resize(1);
  record.ranks[0].step_ns.assign(10, step_ns);
  record.ranks[0].window_ns = 10 * step_ns;
  record.adapter = {{"loss_first", loss}, {"parameters", "61706"}};
  return record;
}

TEST(Frameworks, FiguresAreMediansOfRunsOverTheWindow) {
  const std::vector<records::RunRecord> records{
      measured("a", 1, 8'000'000, "2.5", 0),
      measured("a", 1, 4'000'000, "2.5", 1),
      measured("a", 1, 16'000'000, "2.5", 2)};
  const auto tables = framework_tables(records);
  ASSERT_EQ(tables.size(), 1U);
  const FrameworkCell& cell = tables[0].columns[0].cells.at({1, 1});
  EXPECT_DOUBLE_EQ(cell.rate->value, 1000.0);
  EXPECT_TRUE(cell.rate->interval.has_value());
  EXPECT_TRUE(any_finding(findings(tables[0]), "a", "spread by"));
}

TEST(Frameworks, RunsOfOneColumnThatDifferSaySo) {
  std::vector<records::RunRecord> records(3,
                                          measured("a", 1, 8'000'000, "2.5"));
  for (std::size_t run = 0; run < records.size(); ++run) {
    records[run].run = static_cast<int>(run);
    records[run].adapter["layout"] = run == 1 ? "NHWC" : "NCHW";
    records[run].adapter["framework_version"] = run == 2 ? "1.1" : "1.0";
    records[run].adapter["exchange"] = "all-reduce";
  }
  const auto tables = framework_tables(records);
  const FrameworkColumn& column = tables.at(0).columns.at(0);
  EXPECT_EQ(column.facts.at("layout"), "NCHW or NHWC");
  EXPECT_EQ(column.facts.at("exchange"), "all-reduce");
  const auto found = findings(tables[0]);
  EXPECT_TRUE(
      any_finding(found, "a", "its runs differ in layout: NCHW or NHWC"));
  EXPECT_TRUE(
      any_finding(found, "a", "its runs are of several versions: 1.0 or 1.1"));
  EXPECT_FALSE(any_finding(found, "a", "exchange"));
}

TEST(Frameworks, ContainersAndSourcesAreShownWhereRecordsSayThem) {
  const std::string path = "table.csv";
  const std::string head =
      "framework,model,precision,batch_size_per_device,gpus,"
      "throughput_samples_per_s";
  const auto table_of = [&](const std::string& more,
                            const std::string& values) {
    return framework_report(
               records::import_rate_table(
                   head + more + "\na,bert,fp32,32,1,100.00" + values + "\n",
                   path))
        .frameworks;
  };
  const Table without = table_of("", "");
  ASSERT_EQ(without.columns.size(), 5U);
  const Table with =
      table_of(",docker,model_source", ",nvcr.io/x:20.03,examples 4b119d7");
  ASSERT_EQ(with.columns.size(), 7U);
  EXPECT_EQ(with.columns[2].name, "docker");
  EXPECT_EQ(with.rows.at(0).cells[2], "nvcr.io/x:20.03");
  EXPECT_EQ(with.columns[3].name, "model source");
  EXPECT_EQ(with.rows.at(0).cells[3], "examples 4b119d7");
}

TEST(Frameworks, RunsOfOtherSettingsAreOtherColumns) {
  std::vector<records::RunRecord> records(5, measured("", 1, 8'000'000, "2.5"));
  for (records::RunRecord& record : records) {
    record.configuration.label = "fusion";
  }
  records[1].configuration.clip_norm = 1;
  records[2].configuration.image_size = 64;
  records[3].configuration.data = "mnist";
  // A run like the first, on more devices: fewer threads, another seed.
  records[4].configuration.ranks = 2;
  records[4].configuration.seed = 7;
  records[4].configuration.threads = records[0].configuration.threads + 1;
  const auto tables = framework_tables(records);
  ASSERT_EQ(tables.size(), 1U);
  std::vector<std::string> titles;
  for (const FrameworkColumn& column : tables[0].columns) {
    titles.push_back(column.title);
    EXPECT_EQ(column.cells.at({1, 1}).runs.size(), 1U) << column.title;
  }
  const std::string usual =
      fmt::format(" image={}", records[0].configuration.image_size);
  EXPECT_EQ(
      titles,
      (std::vector<std::string>{"paceline fusion" + usual,
                                "paceline fusion" + usual + " clip_norm=1",
                                "paceline fusion image=64",
                                "paceline fusion" + usual + " data=mnist"}));
  EXPECT_EQ(tables[0].columns[0].cells.size(), 2U);
}

TEST(Frameworks, ThreadsThatWereAskedForAreOtherColumns) {
  std::vector<records::RunRecord> records(2,
                                          measured("a", 1, 8'000'000, "2.5"));
  records[0].configuration.threads = 1;
  records[1].configuration.threads = 2;
  const auto tables = framework_tables(records);
  ASSERT_EQ(tables[0].columns.size(), 2U);
  EXPECT_EQ(tables[0].columns[1].title, "a threads=2");
}

TEST(Frameworks, NothingIsSaidOfCommandsAndOfWhatDidNotRun) {
  std::vector<records::RunRecord> records{measured("a", 1, 8'000'000, "2.5"),
                                          measured("b", 1, 8'000'000, "2.5"),
                                          measured("", 1, 8'000'000, "2.5")};
  records[1].error = "it is not installed";
  records[2].configuration.label = "c";
  records[2].configuration.command = "train";
  const auto tables = framework_tables(records);
  std::vector<std::string> known;
  for (const FrameworkTable& table : tables) {
    for (const FrameworkColumn& column : table.columns) {
      if (column.facts.contains("optimizer")) {
        known.push_back(column.title);
      }
    }
  }
  EXPECT_EQ(known, std::vector<std::string>{"a"});
}

TEST(Frameworks, OtherMathematicsIsNotComparable) {
  std::vector<records::RunRecord> records{measured("a", 1, 8'000'000, "2.5"),
                                          measured("b", 1, 8'000'000, "2.501"),
                                          measured("c", 1, 8'000'000, "2.51")};
  records[1].verified["ranks_hold_equal_parameters"] = false;
  records.push_back(measured("d", 1, 8'000'000, "2.5"));
  records[3].ranks.clear();
  records[3].error = "d is not installed here: make adapters NAME=d";
  records[3].status = "not-installed";
  const auto tables = framework_tables(records);
  const auto all = findings(tables[0]);
  EXPECT_TRUE(any_finding(all, "c", "not comparable"));
  EXPECT_FALSE(any_finding(all, "b", "not comparable"));
  EXPECT_TRUE(any_finding(all, "b", "ranks_hold_equal_parameters"));
  const std::string text = render_dlperf(records);
  EXPECT_NE(text.find("not run (1)"), std::string::npos) << text;
  EXPECT_NE(text.find("(1) d is not installed here"), std::string::npos);
}

TEST(Frameworks, ParametersAndFlopsAreComparedExactly) {
  for (const char* name : {"parameters", "flops"}) {
    std::vector<records::RunRecord> records{measured("a", 1, 8'000'000, "2.5"),
                                            measured("b", 1, 8'000'000, "2.5"),
                                            measured("c", 1, 8'000'000, "2.5")};
    for (records::RunRecord& record : records) {
      record.adapter[name] = "8178368512";
    }
    records[2].adapter[name] = "8178368514";
    const auto all = findings(framework_tables(records)[0]);
    EXPECT_TRUE(any_finding(all, "c", "not comparable")) << name;
    EXPECT_FALSE(any_finding(all, "b", "not comparable")) << name;
  }
}

TEST(Frameworks, WarningsOfAllFiguresAreOptions) {
  std::vector<records::RunRecord> records{measured("a", 1, 8'000'000, "2.5")};
  records[0].warnings = {
      {"busy-machine", "a load of 9", "others compute", "wait"},
      {"shortened-protocol", "5 steps", "the protocol has 100", "leave out"}};
  const std::string text = render_dlperf(records);
  EXPECT_NE(text.find("- **busy machine**: a load of 9; others compute"),
            std::string::npos);
  EXPECT_NE(text.find("- **shortened**: 5 steps; the protocol has 100"),
            std::string::npos);
}

// Each quantity against the first column that says it.
TEST(Frameworks, WhatAColumnDoesNotSayIsComparedAmongTheOthers) {
  std::vector<records::RunRecord> records{measured("a", 1, 8'000'000, "2.5"),
                                          measured("b", 1, 8'000'000, "2.5"),
                                          measured("c", 1, 8'000'000, "2.5"),
                                          measured("d", 1, 8'000'000, "2.5")};
  for (records::RunRecord& record : records) {
    record.adapter["flops"] = "9";
    record.adapter["loss_fifth"] = "1.5";
    record.configuration.warmup = 1;
    record.configuration.steps = 4;
  }
  records[0].adapter.erase("loss_first");
  records[0].adapter.erase("loss_fifth");
  records[2].adapter["loss_fifth"] = "1.6";
  records[3].adapter.erase("loss_fifth");
  records[3].configuration.steps = 3;
  const auto all = findings(framework_tables(records)[0]);
  EXPECT_TRUE(any_finding(all,
                          "a",
                          "not compared: its loss of the first step, loss of "
                          "the fifth step, which it does not say (1n1d)"));
  EXPECT_TRUE(any_finding(all, "c", "the fifth step is 1.6, b's 1.5"));
  EXPECT_TRUE(any_finding(all,
                          "d",
                          "not compared: its loss of the fifth step, because "
                          "it took 4 steps (1n1d)"));
  EXPECT_FALSE(any_finding(all, "b", "compar"));
}

// Clipping and batches change the loss, and only the same is comparable.
TEST(Frameworks, LossesAreComparedWhereTheSameTrainingWasAskedFor) {
  std::vector<records::RunRecord> records{measured("a", 1, 8'000'000, "2.5"),
                                          measured("b", 1, 8'000'000, "2.5"),
                                          measured("a", 1, 8'000'000, "2.9"),
                                          measured("b", 1, 8'000'000, "2.9"),
                                          measured("c", 1, 8'000'000, "2.5"),
                                          measured("d", 1, 8'000'000, "3.5")};
  for (const std::size_t i : {2U, 3U, 4U}) {
    records[i].configuration.clip_norm = 1;
  }
  records[5].configuration.learning_rate = 1;
  records[5].adapter["parameters"] = "61707";
  const auto all = findings(framework_tables(records)[0]);
  EXPECT_FALSE(any_finding(all, "a clip_norm=1", "not comparable"));
  EXPECT_FALSE(any_finding(all, "b clip_norm=1", "not comparable"));
  EXPECT_TRUE(any_finding(all, "c", "first step is 2.5, a clip_norm=1's 2.9"));
  EXPECT_TRUE(any_finding(all, "d", "number of parameters is 61707, a's"));
  records[5].adapter["parameters"] = "61706";
  EXPECT_TRUE(any_finding(findings(framework_tables(records)[0]),
                          "d",
                          "not compared: its loss of the first step, which no "
                          "other column has with its settings (1n1d)"));
}

TEST(Frameworks, AGpuSaysTheFifthLossOfAWarmUpAlone) {
  std::vector<records::RunRecord> records{measured("a", 1, 8'000'000, "2.5"),
                                          measured("b", 1, 8'000'000, "2.5")};
  for (records::RunRecord& record : records) {
    record.configuration.device = "cuda";
    record.configuration.warmup = 2;
  }
  const auto all = findings(framework_tables(records)[0]);
  EXPECT_TRUE(any_finding(all, "a", "a warm-up of 5 steps; this one had 2"));
}

TEST(Frameworks, LossesOfReducedPrecisionAreComparedAsFarAsTheyAreShown) {
  for (const auto& [dtype, is_reduced] :
       {std::pair{"bf16", true}, {"amp", true}, {"fp32", false}}) {
    std::vector<records::RunRecord> records{
        measured("a", 1, 8'000'000, "2.125"),
        measured("b", 1, 8'000'000, "2.14"),
        measured("c", 1, 8'000'000, "2.53"),
        measured("d", 1, 8'000'000, "2.125")};
    for (records::RunRecord& record : records) {
      record.configuration.dtype = dtype;
      record.adapter["loss_fifth"] = "1.5";
    }
    records[3].adapter["loss_fifth"] = "1.57";
    const auto all = findings(framework_tables(records)[0]);
    EXPECT_TRUE(any_finding(all, "c", "not comparable")) << dtype;
    EXPECT_NE(any_finding(all, "b", "not comparable"), is_reduced) << dtype;
    EXPECT_NE(any_finding(all, "d", "not comparable"), is_reduced) << dtype;
    EXPECT_TRUE(any_finding(all, "d", "the fifth step is 1.57, a's 1.5"))
        << dtype;
  }
}

TEST(Frameworks, ASpeedUpBeyondTheDevicesCannotBe) {
  const std::vector<records::RunRecord> records{
      measured("a", 1, 8'000'000, "2.5"), measured("a", 2, 7'000'000, "2.5")};
  const auto all = findings(framework_tables(records)[0]);
  EXPECT_TRUE(any_finding(all, "a", "a speed-up of 2.29 on 2 devices cannot"));
}

// A column without a figure in some row has a chart of the other rows.
TEST(Frameworks, AColumnWithoutOneFigureIsInAChartOfTheOtherRows) {
  std::vector<records::RunRecord> records;
  for (const int ranks : {1, 2, 4}) {
    records.push_back(measured("a", ranks, 8'000'000, "2.5"));
    if (ranks < 4) {
      records.push_back(measured("b", ranks, 4'000'000, "2.5"));
    }
  }
  const std::string text = render_dlperf(records);
  EXPECT_NE(text.find("[\"1\", \"2\", \"4\"]"), std::string::npos) << text;
  const std::size_t second = text.find("[\"1\", \"2\"]");
  ASSERT_NE(second, std::string::npos) << text;
  EXPECT_NE(text.find("line [2000, 4000]", second), std::string::npos) << text;
  EXPECT_EQ(text.find("Left out"), std::string::npos) << text;
}

}  // namespace
}  // namespace paceline::report
