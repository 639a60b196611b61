// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/examined.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/validate/protocols.h"

namespace paceline::validate {
namespace {

struct Family {
  std::string_view name;
  Table table{};
  std::function<bool(const Cell&)> belongs;
};

/// What the examination says of a family with its constants as they are.
double fitted_error(Examinee& examinee,
                    const std::vector<Cell>& cells,
                    const Family& family) {
  double sum = 0;
  int count = 0;
  std::vector<const Cell*> chosen = scorable(cells, family.table);
  std::erase_if(chosen, [&](const Cell* cell) {
    // Many servers take long to simulate.
    const bool much = cell->key[0].ends_with("-PS") && cell->gpus() > 16;
    return cell->gpus() <= 8 || much || !family.belongs(*cell);
  });
  for (const auto& [cell, error] : errors_of(examinee, chosen, Constants())) {
    sum += std::abs(error);
    ++count;
  }
  EXPECT_GT(count, 1) << family.name;
  return sum / count;
}

// The mean behind a family's bar is at least that of the cells its constants
// were fitted to.
TEST(Examined, ErrorsAgreeWithTheExamination) {
  const std::string reference = PACELINE_SOURCE_DIR "/reference";
  const std::vector<Cell> cells = read_cells(reference);
  Examinee examinee(cells, reference);
  const auto method = [](std::initializer_list<const char*> names) {
    return [all = std::vector<std::string>(names.begin(), names.end())](
               const Cell& cell) {
      return std::find(all.begin(), all.end(), cell.key[0]) != all.end();
    };
  };
  const auto any = [](const Cell&) { return true; };
  const Family families[] = {
      {"merged", Table::kSurvey, method({"BSP-A2A", "WFBP-A2A", "MG-WFBP"})},
      {"scheduled", Table::kSurvey, method({"ByteScheduler-A2A"})},
      {"servers",
       Table::kSurvey,
       method({"BSP-PS", "WFBP-PS", "ByteScheduler-PS"})},
      {"reducer", Table::kDdp, any},
      {"neighbors", Table::kDecentralized, any}};
  ASSERT_EQ(predict::examined().size(), std::size(families));
  for (std::size_t i = 0; i < std::size(families); ++i) {
    const predict::Examined& row = predict::examined()[i];
    SCOPED_TRACE(row.family);
    ASSERT_EQ(row.family, families[i].name);
    const double fitted = fitted_error(examinee, cells, families[i]);
    EXPECT_GE(row.mean_percent, 0.99 * fitted);
  }
}

}  // namespace
}  // namespace paceline::validate
