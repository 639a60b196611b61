// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/left_out.h"

#include "paceline/validate/score.h"
#include "paceline/validate/survey_cell.h"

namespace paceline::validate {
namespace {

constexpr int kMost = 32;  // devices

/// Rows that are one experiment, or one simulation, are left out together:
/// those of one host, which stand under every network, and WFBP and
/// ByteScheduler on servers.
std::string survey_series(const Cell& cell) {
  return std::string(simulated_as(cell.key[0])) + cell.key[1] +
         (multi_node(cell) ? cell.key[2] : "one host");
}

}  // namespace

std::string series_of(const Cell& cell) {
  switch (cell.table) {
    case Table::kSurvey:
      return survey_series(cell);
    case Table::kFrameworks:
    case Table::kDecentralized:
      return cell.key[0] + cell.key[1];
    case Table::kDdp:
    case Table::kDdpBuckets:
      return cell.key[0];
  }
  return "";
}

std::vector<Leaving> leavings_of(Table table) {
  std::vector<Leaving> all{{"a series", series_of}};
  if (table == Table::kFrameworks) {
    all.push_back({"32 devices of a series", [](const Cell& cell) {
                     return cell.gpus() == kMost ? series_of(cell) : "";
                   }});
  }
  if (table == Table::kDdp) {
    all.push_back(
        {"a model's rows of more than one machine",
         [](const Cell& cell) { return multi_node(cell) ? cell.key[0] : ""; }});
  }
  if (table == Table::kSurvey) {
    all.push_back({"a model", [](const Cell& cell) { return cell.key[1]; }});
    all.push_back(
        {"a network, all of it but its rows of 4 devices",
         [](const Cell& cell) { return multi_node(cell) ? cell.key[2] : ""; }});
    all.push_back({"32 devices", [](const Cell& cell) {
                     return cell.gpus() == kMost ? cell.key[3] : "";
                   }});
  }
  return all;
}

}  // namespace paceline::validate
