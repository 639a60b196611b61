// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/protocols.h"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "paceline/validate/score.h"
#include "validate/slice.h"

namespace paceline::validate {
namespace {

constexpr auto kReference = PACELINE_SOURCE_DIR "/reference";

TEST(Protocols, NeverScoreAnInput) {
  const std::vector<Cell> cells = read_cells(kReference);
  std::size_t inputs = 0;
  for (const Table table : kTables) {
    for (const Cell* cell : scorable(cells, table)) {
      EXPECT_FALSE(is_input(*cell)) << cell->id;
      EXPECT_FALSE(is_set_apart(*cell)) << cell->id;
      EXPECT_TRUE(cell->published.has_value()) << cell->id;
    }
  }
  for (const Cell& cell : cells) {
    if (is_input(cell)) {
      ++inputs;
      EXPECT_TRUE(cell.published.has_value())
          << cell.id << " is an input that is not there";
    }
  }
  EXPECT_EQ(inputs, 42U * 2 + 4);  // 42 series, 4 networks
}

TEST(Protocols, NameEveryTableWithInputs) {
  for (const Cell& cell : read_cells(kReference)) {
    if (is_input(cell)) {
      EXPECT_TRUE(std::ranges::any_of(
          input_rules(),
          [&](const InputRule& rule) { return rule.table == cell.table; }))
          << cell.id;
    }
  }
}

TEST(Protocols, ShowThreeCellsOfANetworkAtMost) {
  std::map<std::string, int> shown;
  for (const Cell& cell : read_cells(kReference)) {
    if (cell.table == Table::kSurvey && shown_of_new_network(cell)) {
      ++shown[cell.key[2]];
      EXPECT_TRUE(cell.published.has_value()) << cell.id;
    }
  }
  EXPECT_EQ(shown,
            (std::map<std::string, int>{
                {"10GbE", 3}, {"100GbE", 3}, {"100GbIB", 3}}));
}

TEST(Protocols, ShowCellsThatTellOfTheirNetwork) {
  const std::vector<Cell> cells = read_cells(kReference);
  for (const std::string_view network : survey_networks()) {
    for (const Constant own : own_constants(network)) {
      EXPECT_TRUE(std::ranges::any_of(cells,
                                      [&](const Cell& cell) {
                                        return cell.table == Table::kSurvey &&
                                               cell.key[2] == network &&
                                               shown_of_new_network(cell) &&
                                               is_heard_on(cell, own);
                                      }))
          << network << ": constant " << static_cast<int>(own);
    }
  }
}

/// The cells, but all published numbers that are no inputs are others.
std::vector<Cell> cells_with_other_numbers() {
  std::vector<Cell> cells = read_cells(kReference);
  for (Cell& cell : cells) {
    if (cell.published.has_value() && !is_input(cell)) {
      *cell.published *= 1.75;
    }
  }
  return cells;
}

void expect_predicted_blind(const std::vector<Cell>& cells) {
  Examinee examinee(read_cells(kReference), kReference);
  Examinee misled(cells_with_other_numbers(), kReference);
  for (const Cell& cell : cells) {
    if (is_input(cell)) {
      continue;
    }
    Cell blind = cell;
    blind.published.reset();
    blind.flags.clear();
    Cell other = cell;
    other.published = 1;
    const double honest = examinee.samples_per_s(blind, {});
    EXPECT_EQ(examinee.samples_per_s(other, {}), honest) << cell.id;
    EXPECT_EQ(misled.samples_per_s(blind, {}), honest) << cell.id;
  }
}

TEST(Protocols, PredictWithoutThePublishedNumber) {
  expect_predicted_blind(slice_of(read_cells(kReference)));
}

TEST(ProtocolsNightly, PredictEveryCellWithoutThePublishedNumber) {
  expect_predicted_blind(read_cells(kReference));
}

/// depends_on() saves simulations in fits: it must not save too many.
void expect_dependence_known(const std::vector<Cell>& cells) {
  const std::vector<Cell> all = read_cells(kReference);
  Examinee examinee(all, kReference);
  Examinee other(all, kReference);  // never asked with the same constants
  for (const Cell& cell : cells) {
    Constants changed;
    for (const ConstantInfo& info : constant_table()) {
      if (!depends_on(cell, info.id)) {
        changed[info.id] *= 1.5;
      }
    }
    EXPECT_EQ(other.samples_per_s(cell, changed),
              examinee.samples_per_s(cell, {}))
        << cell.id << " depends on a constant that depends_on() does not name";
  }
}

TEST(Protocols, KnowWhichConstantsMatter) {
  expect_dependence_known(slice_of(read_cells(kReference)));
}

TEST(ProtocolsNightly, KnowWhichConstantsMatterToEveryCell) {
  expect_dependence_known(read_cells(kReference));
}

TEST(Protocols, SetApartTheRowsThatTheTableSuspects) {
  std::size_t suspected = 0;
  for (const Cell& cell : read_cells(kReference)) {
    if (cell.table == Table::kSurvey && cell.published.has_value()) {
      const bool suspect = cell.has_flag("suspect_ran_over_10gbe");
      suspected += suspect ? 1 : 0;
      EXPECT_EQ(ran_over_10gbe(survey_cell(cell)), suspect) << cell.id;
    }
  }
  EXPECT_EQ(suspected, 12U);
}

/// Cells of a few cheap series, some of them doubled.
std::vector<Cell> few_cells(const std::function<bool(const Cell&)>& doubled) {
  std::vector<Cell> few;
  for (const Cell& cell : read_cells(kReference)) {
    if (cell.table == Table::kSurvey && cell.published.has_value() &&
        cell.key[0] == "BSP-A2A" && cell.key[1] != "BERT-Large") {
      few.push_back(cell);
      if (doubled(cell)) {
        *few.back().published *= 2;
      }
    }
  }
  return few;
}

std::map<std::string, double> predicted(const Errors& errors) {
  std::map<std::string, double> all;
  for (const auto& [cell, error] : errors) {
    all[cell->id] = *cell->published * (1 + error / 100);
  }
  return all;
}

using Protocol =
    std::function<Errors(Examinees&, std::span<const Cell* const>)>;

/// What a protocol says of cells does not change with what was published of
/// them, neither where they are asked nor where the models are made.
void expect_blind(const Protocol& protocol,
                  const std::function<bool(const Cell&)>& asked) {
  const auto predict = [&](const std::vector<Cell>& made_of,
                           const std::vector<Cell>& cells) {
    Examinees examinees(made_of, kReference, 2);
    return predicted(protocol(examinees, scorable(cells, Table::kSurvey)));
  };
  const auto honest = predict(read_cells(kReference),
                              few_cells([](const Cell&) { return false; }));
  const auto doubled = predict(cells_with_other_numbers(), few_cells(asked));
  std::size_t compared = 0;
  for (const Cell& cell : few_cells([](const Cell&) { return false; })) {
    if (asked(cell)) {
      ++compared;
      EXPECT_NEAR(
          doubled.at(cell.id), honest.at(cell.id), 1e-9 * *cell.published)
          << cell.id;
    }
  }
  EXPECT_GT(compared, 0U);
}

TEST(Protocols, CrossValidateWithoutTheCellsAsked) {
  const auto network = [](const Cell& cell) { return cell.key[2]; };
  expect_blind(
      [&](Examinees& examinees, std::span<const Cell* const> cells) {
        const Errors all = cross_validate(examinees, cells, network);
        EXPECT_EQ(all.size(), cells.size());
        return all;
      },
      [](const Cell& cell) { return cell.key[2] == "10GbE"; });
}

// ByteScheduler's rows and servers' depend on what the ring's tell, and the
// ring's on nothing of theirs: that part alone is fitted for each.
TEST(Protocols, FitWhatTellsOfTheCellsAskedAsIfAllWereFitted) {
  std::vector<Cell> few;
  for (const Cell& cell : read_cells(kReference)) {
    const auto& method = cell.key[0];
    const std::string_view model =
        method == "ByteScheduler-PS" ? "BERT-Base" : "ResNet-50";
    if (cell.table == Table::kSurvey && cell.published.has_value() &&
        (method == "BSP-A2A" || method == "ByteScheduler-A2A" ||
         (method == "ByteScheduler-PS" && cell.gpus() == 8)) &&
        cell.key[1] == model) {
      few.push_back(cell);
    }
  }
  const auto group = [](const Cell& cell) { return cell.key[0] + cell.key[2]; };
  Examinees examinees(read_cells(kReference), kReference, 2);
  const auto cells = scorable(few, Table::kSurvey);
  const Errors errors = cross_validate(examinees, cells, group);
  for (const char* asked :
       {"BSP-A2A10GbE", "ByteScheduler-A2A10GbE", "ByteScheduler-PS100GbE"}) {
    std::vector<const Cell*> known, left_out;
    for (const Cell* cell : cells) {
      (group(*cell) == asked ? left_out : known).push_back(cell);
    }
    const Constants all = fit_to(
        examinees.first(), known, constants_of(Table::kSurvey), fit_starts());
    ASSERT_FALSE(left_out.empty());
    for (const auto& [cell, error] :
         errors_of(examinees.first(), left_out, all)) {
      EXPECT_EQ(errors.at(cell), error) << cell->id;
    }
  }
}

TEST(Protocols, LeaveOutOnlyWhatHasAGroup) {
  const std::vector<Cell> cells = few_cells([](const Cell&) { return false; });
  Examinees examinees(read_cells(kReference), kReference, 1);
  const Errors errors = cross_validate(
      examinees, scorable(cells, Table::kSurvey), [](const Cell& cell) {
        return cell.gpus() == 32 ? "32" : "";
      });
  EXPECT_FALSE(errors.empty());
  for (const auto& [cell, error] : errors) {
    EXPECT_EQ(cell->gpus(), 32);
  }
}

TEST(Protocols, PredictANewNetworkFromWhatIsShown) {
  expect_blind(
      [](Examinees& examinees, std::span<const Cell* const> cells) {
        Errors all = new_network(examinees, cells);
        for (const auto& [cell, error] : all) {
          EXPECT_FALSE(shown_of_new_network(*cell)) << cell->id;
        }
        std::erase_if(all, [](const auto& entry) {
          return entry.first->key[2] != "10GbE";
        });
        return all;
      },
      [](const Cell& cell) {
        return cell.key[2] == "10GbE" && multi_node(cell) &&
               !shown_of_new_network(cell);
      });
}

TEST(Protocols, BeginFitsWithoutTheTable) {
  const Constants before = Constants::before();
  for (const ConstantInfo& info : constant_table()) {
    EXPECT_EQ(before[info.id], info.before) << info.name;
    EXPECT_NE(info.before, info.value) << info.name;
  }
  EXPECT_EQ(fit_starts().front()[Constant::kBusRate],
            before[Constant::kBusRate]);
}

}  // namespace
}  // namespace paceline::validate
