// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/inputs.h"

#include <algorithm>

namespace paceline::validate {
namespace {

constexpr InputRule kInputs[] = {
    {Table::kSurvey,
     "the rates of one device (reference/ddl_benchmarks_setup.csv, no cells)"},
    {Table::kFrameworks, "each series' cells of 1 and 8 devices"},
    {Table::kDdp, "each model's median without DDP"},
    {Table::kDecentralized,
     "the rates of one device (frames of the charts, no cells)"},
};

constexpr std::string_view kShown[] = {
    "BSP-A2A|BERT-Base|10GbE|8",
    "WFBP-PS|BERT-Base|10GbE|8",
    "WFBP-PS|BERT-Base|10GbE|16",
    "BSP-A2A|BERT-Base|100GbIB|8",
    "WFBP-PS|BERT-Base|100GbIB|8",
    "WFBP-PS|BERT-Base|100GbIB|16",
    "BSP-A2A|BERT-Base|100GbE|8",
    "WFBP-PS|BERT-Base|100GbE|8",
    "WFBP-PS|BERT-Base|100GbE|16",
};

}  // namespace

std::span<const InputRule> input_rules() {
  return kInputs;
}

std::span<const std::string_view> shown_cells() {
  return kShown;
}

bool shown_of_new_network(const Cell& cell) {
  return std::ranges::find(kShown, cell.id) != std::end(kShown);
}

std::vector<Constant> own_constants(std::string_view network) {
  if (network == "10GbE") {
    return {Constant::kTcp10Rate, Constant::kServerTcp10Rate};
  }
  if (network == "100GbE") {
    return {Constant::kIpoibRate,
            Constant::kIpoibDecline,
            Constant::kServerIpoibRate,
            Constant::kServerIpoibGrowth};
  }
  return {};
}

std::vector<const Cell*> scorable(const std::vector<Cell>& cells, Table table) {
  std::vector<const Cell*> chosen;
  for (const Cell& cell : cells) {
    if (cell.table == table && cell.published.has_value() && !is_input(cell) &&
        !is_set_apart(cell) && !cell.has_flag("same_run_as_bert_amp_b64")) {
      chosen.push_back(&cell);
    }
  }
  return chosen;
}

std::vector<const Cell*> set_apart(const std::vector<Cell>& cells,
                                   Table table) {
  std::vector<const Cell*> apart;
  for (const Cell& cell : cells) {
    if (cell.table == table && cell.published.has_value() &&
        is_set_apart(cell)) {
      apart.push_back(&cell);
    }
  }
  return apart;
}

}  // namespace paceline::validate
