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

TEST(Earned, IsTheMeanOverAFamilysCells) {
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
  // What predict itself gets wrong stands where it is more.
  const Errors presets = {{&merged, 1},
                          {&more, -1},
                          {&servers, 6},
                          {&scheduled, -20},
                          {&several, 3},
                          {&neighbors, 5}};
  const std::string text = earned_rows(all, presets);
  std::vector<double> errors;
  for (std::size_t at = text.find(".error_percent = "); at != std::string::npos;
       at = text.find(".error_percent = ", at + 1)) {
    errors.push_back(std::stod(text.substr(at + 17)));
  }
  EXPECT_EQ(errors, (std::vector<double>{1.5, 20, 7, 3, 5}));
  all.erase({Table::kDdp, "a series"});
  EXPECT_THROW(earned_rows(all, presets), UsageError);
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The numbers that `paceline advise` prints are those of the protocols.
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
