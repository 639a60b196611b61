// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/examinee.h"

#include <algorithm>
#include <functional>
#include <map>
#include <ranges>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "validate/slice.h"

namespace paceline::validate {
namespace {

constexpr auto kReference = PACELINE_SOURCE_DIR "/reference";

using Predictions = std::map<std::string, double>;

template <typename Range>
Predictions predict(const std::vector<Cell>& all, const Range& asked) {
  Examinee examinee(all, kReference);
  Predictions predictions;
  for (const Cell& cell : asked) {
    predictions[cell.id] = examinee.samples_per_s(cell, {});
  }
  return predictions;
}

void expect_refused(const std::function<void()>& ask,
                    const std::string& words) {
  try {
    ask();
    ADD_FAILURE() << "not refused: " << words;
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos)
        << error.what();
  }
}

/// One line for each cell that differs.
void expect_equal(const Predictions& some, const Predictions& all) {
  for (const auto& [id, samples_per_s] : some) {
    EXPECT_EQ(samples_per_s, all.at(id)) << id;
  }
}

/// Models keep what they compile: one cell's plan must not stand for another's.
void expect_the_same_in_any_order(const std::vector<Cell>& cells) {
  const std::vector<Cell> all = read_cells(kReference);
  const Predictions forward = predict(all, cells);
  EXPECT_EQ(forward.size(), cells.size());
  expect_equal(predict(all, cells | std::views::reverse), forward);
  for (const Table table : kTables) {
    std::vector<Cell> asked = cells;
    std::erase_if(asked, [&](const Cell& cell) { return cell.table != table; });
    EXPECT_FALSE(asked.empty());
    expect_equal(predict(all, asked), forward);
  }
}

TEST(Examinee, PredictsTheSameInAnyOrder) {
  expect_the_same_in_any_order(slice_of(read_cells(kReference)));
}

TEST(ExamineeNightly, PredictsEveryCellTheSameInAnyOrder) {
  expect_the_same_in_any_order(read_cells(kReference));
}

Cell survey(std::vector<std::string> key) {
  return {.table = Table::kSurvey, .id = "asked", .key = std::move(key)};
}

TEST(Examinee, RefusesWhatTheSurveyHasNot) {
  EXPECT_NO_THROW(survey_cell(survey({"BSP-A2A", "BERT-Base", "10GbE", "8"})));
  const std::map<std::string, std::vector<std::string>> refused = {
      {"unknown method 'BSP'", {"BSP", "BERT-Base", "10GbE", "8"}},
      {"unknown model 'GPT'", {"BSP-A2A", "GPT", "10GbE", "8"}},
      {"unknown network '1GbE'", {"BSP-A2A", "BERT-Base", "1GbE", "8"}},
      {"unknown number of devices '64'",
       {"BSP-A2A", "BERT-Base", "10GbE", "64"}},
      {"method|model|network|devices", {"BSP-A2A", "BERT-Base", "10GbE"}}};
  Examinee examinee(read_cells(kReference), kReference);
  for (const auto& [words, key] : refused) {
    expect_refused([&] { examinee.samples_per_s(survey(key), {}); }, words);
  }
}

// Pushes and pulls of a fused tensor take turns on the card, and four servers
// are enough for a worker to copy faster than that.
TEST(Examinee, HoldsAFusedTensorBackByOneWayOfTheCard) {
  const Cell cell = survey({"BSP-PS", "BERT-Base", "100GbE", "16"});
  Examinee examinee(read_cells(kReference), kReference);
  const double now = examinee.samples_per_s(cell, {});
  Constants copied;
  copied[Constant::kServerIpoibRate] *= 2;
  EXPECT_EQ(examinee.samples_per_s(cell, copied), now);
  Constants carried;
  carried[Constant::kIpoibRate] *= 1.1;
  EXPECT_GT(examinee.samples_per_s(cell, carried), now);
  // Told by NCCL's rows alone.
  EXPECT_FALSE(is_heard_on(cell, Constant::kIpoibRate));
  EXPECT_TRUE(is_heard_on(survey({"BSP-A2A", "BERT-Base", "100GbE", "16"}),
                          Constant::kIpoibRate));
}

// The rest of a series is predicted from such a row.
TEST(Examinee, NamesTheInputThatIsMissing) {
  const std::vector<Cell> all = read_cells(kReference);
  const auto without = [&](std::string_view id) {
    std::vector<Cell> cells = all;
    EXPECT_EQ(
        std::erase_if(cells, [&](const Cell& cell) { return cell.id == id; }),
        1U)
        << id;
    return cells;
  };
  const auto asked = [&](std::string_view id) {
    return *std::ranges::find(all, id, &Cell::id);
  };
  expect_refused(
      [&] {
        const auto cells = without("rn50_fp32_b128|PyTorch|8");
        Examinee(cells, kReference)
            .samples_per_s(asked("rn50_fp32_b128|PyTorch|16"), {});
      },
      "dlperf.csv has no row 'rn50_fp32_b128|PyTorch|8'");
  for (const char* id : {"resnet50|no ddp|p95", "resnet50|1M/4G|p50"}) {
    expect_refused(
        [&] {
          const auto cells = without("resnet50|no ddp|p50");
          Examinee(cells, kReference).samples_per_s(asked(id), {});
        },
        "pytorch_ddp.csv has no row 'resnet50|no ddp|p50'");
  }
  Cell unknown = asked("rn50_fp32_b128|PyTorch|16");
  unknown.key[1] = "Caffe";
  expect_refused([&] { Examinee(all, kReference).samples_per_s(unknown, {}); },
                 "dlperf.csv has no series 'rn50_fp32_b128|Caffe'");
}

}  // namespace
}  // namespace paceline::validate
