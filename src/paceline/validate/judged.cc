// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/judged.h"

#include <fmt/format.h>

#include "paceline/validate/csv.h"
#include "paceline/validate/explanations.h"
#include "paceline/validate/score.h"

namespace paceline::validate {

std::string family_of(const Cell& cell) {
  switch (cell.table) {
    case Table::kSurvey:
    case Table::kFrameworks:
      return cell.key[0];
    case Table::kDdp:
    case Table::kDdpBuckets:
      return cell.key[2];
    case Table::kDecentralized:
      return cell.key[1];
  }
  return "";
}

std::vector<Judged> judged(const Errors& errors, const Grouping& group) {
  std::vector<Judged> all;
  for (const auto& [cell, error] : errors) {
    all.push_back({.id = cell->id,
                   .table = cell->table,
                   .family = family_of(*cell),
                   .group = group(*cell),
                   .gpus = cell->gpus(),
                   .multi_node = multi_node(*cell),
                   .scattered = is_scattered(*cell),
                   .predicted = *cell->published * (1 + error / 100),
                   .published = *cell->published,
                   .apart = is_set_apart(*cell),
                   .explanation = std::string(explanation_of(*cell))});
  }
  return all;
}

std::vector<BucketDifference> bucket_differences(
    Examinee& examinee,
    const std::vector<Cell>& cells,
    const Constants& constants,
    const std::filesystem::path& reference) {
  const Csv table = Csv::read(reference / "pytorch_ddp_bucket_diff.csv");
  std::map<std::string, double> published;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    published[table.text(row, "row_id")] =
        table.number(row, "diff_percent").value();
  }
  std::vector<BucketDifference> all;
  for (const Cell& small : cells) {
    const auto found = published.find(small.id);
    if (small.table != Table::kDdpBuckets || found == published.end()) {
      continue;
    }
    const int gpus = small.gpus();
    constexpr int kLocal = 8;
    Cell large = small;  // the same world in the table of 25 MiB
    large.table = Table::kDdp;
    large.key[1] = gpus > kLocal ? fmt::format("{}M/8G", gpus / kLocal)
                                 : fmt::format("1M/{}G", gpus);
    all.push_back(
        {.id = small.id,
         .predicted = 100 - 100 * examinee.samples_per_s(large, constants) /
                                examinee.samples_per_s(small, constants),
         .published = found->second});
  }
  return all;
}

}  // namespace paceline::validate
