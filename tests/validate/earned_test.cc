// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/earned.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/validate/examination.h"

namespace paceline::validate {
namespace {

Cell cell(Table table, std::vector<std::string> key) {
  return {.table = table, .id = "", .key = std::move(key)};
}

/// The numbers behind each `.field = ` of the text.
std::vector<double> numbers(const std::string& text, const std::string& field) {
  const std::string key = "." + field + " = ";
  std::vector<double> found;
  for (std::size_t at = text.find(key); at != std::string::npos;
       at = text.find(key, at + 1)) {
    found.push_back(std::stod(text.substr(at + key.size())));
  }
  return found;
}

TEST(Earned, IsMeanAndNinetiethPercentileOverAFamilysCells) {
  const Cell merged = cell(Table::kSurvey, {"BSP-A2A", "m", "n", "8"});
  const Cell more = cell(Table::kSurvey, {"MG-WFBP", "m", "n", "8"});
  const Cell servers = cell(Table::kSurvey, {"BSP-PS", "m", "n", "8"});
  const Cell scheduled =
      cell(Table::kSurvey, {"ByteScheduler-A2A", "", "", "8"});
  const Cell alone = cell(Table::kDdp, {"m", "1M/8G", "p50"});
  const Cell several = cell(Table::kDdp, {"m", "2M/8G", "p50"});
  const Cell neighbors = cell(Table::kDecentralized, {"c", "horovod", "16"});
  LeftOut all;
  all[{Table::kSurvey, "a model"}] = {
      {&merged, -1}, {&more, 2}, {&servers, 7}, {&scheduled, 9}};
  all[{Table::kDdp, "a series"}] = {{&alone, 50}, {&several, -3}};
  all[{Table::kDecentralized, "a series"}] = {{&neighbors, 4.25}};
  // What predict itself gets wrong stands where more of it is worse.
  const Errors presets = {{&merged, 1.8},
                          {&more, -1.8},
                          {&servers, 6},
                          {&scheduled, -20},
                          {&several, 3},
                          {&neighbors, 5}};
  const std::string text = earned_rows(all, presets);
  EXPECT_EQ(numbers(text, "mean_percent"),
            (std::vector<double>{1.5, 20, 7, 3, 5}));
  EXPECT_EQ(numbers(text, "p90_percent"),
            (std::vector<double>{1.9, 20, 7, 3, 5}));
  EXPECT_EQ(numbers(text, "cells"), (std::vector<double>{2, 1, 1, 1, 1}));
  // Two strategies of a family on one job: 1.018 / 0.982.
  EXPECT_EQ(numbers(text, "apart_percent"),
            (std::vector<double>{3.7, 0, 0, 0, 0}));
  EXPECT_EQ(numbers(text, "pairs"), (std::vector<double>{1, 0, 0, 0, 0}));
  all.erase({Table::kDdp, "a series"});
  EXPECT_THROW(earned_rows(all, presets), UsageError);
}

// One strategy that was published twice, and two percentiles, are no pairs; two
// bucket sizes are.
TEST(Earned, ComparesStrategiesOnOneJob) {
  const Cell wfbp = cell(Table::kSurvey, {"WFBP-PS", "m", "n", "8"});
  const Cell again = cell(Table::kSurvey, {"ByteScheduler-PS", "m", "n", "8"});
  const Cell more = cell(Table::kSurvey, {"BSP-PS", "m", "n", "16"});
  const Cell merged = cell(Table::kSurvey, {"BSP-A2A", "m", "n", "8"});
  const Cell scheduled =
      cell(Table::kSurvey, {"ByteScheduler-A2A", "", "", "8"});
  const Cell large = cell(Table::kDdp, {"m", "2M/8G", "p75"});
  const Cell other = cell(Table::kDdp, {"m", "2M/8G", "p95"});
  const Cell small = cell(Table::kDdpBuckets, {"m", "16", "p75"});
  const Cell neighbors = cell(Table::kDecentralized, {"c", "horovod", "16"});
  LeftOut all;
  all[{Table::kSurvey, "a model"}] = {{&wfbp, 3}, {&again, -9}, {&more, 5}};
  all[{Table::kDdp, "a series"}] = {{&large, 2}, {&other, 9}, {&small, 0}};
  all[{Table::kDecentralized, "a series"}] = {{&neighbors, 4.25}};
  const Errors presets = {
      {&merged, 0}, {&wfbp, 0}, {&scheduled, 0}, {&large, 0}, {&neighbors, 0}};
  const std::string text = earned_rows(all, presets);
  EXPECT_EQ(numbers(text, "pairs"), (std::vector<double>{0, 0, 0, 1, 0}));
  EXPECT_EQ(numbers(text, "apart_percent"),
            (std::vector<double>{0, 0, 0, 2, 0}));
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The numbers that `paceline predict` and `advise` print are those of the
// protocols.
TEST(EarnedNightly, StandsInTheProgramAsExamined) {
  const auto path =
      std::filesystem::path(testing::TempDir()) / "paceline_examined.inc";
  examine({.reference = PACELINE_SOURCE_DIR "/reference",
           .protocols = true,
           .earned = path});
  EXPECT_EQ(text_of(path),
            text_of(PACELINE_SOURCE_DIR "/src/paceline/sim/examined.inc"));
}

}  // namespace
}  // namespace paceline::validate
