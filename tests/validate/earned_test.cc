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
  all.erase({Table::kDdp, "a series"});
  EXPECT_THROW(earned_rows(all, presets), UsageError);
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
