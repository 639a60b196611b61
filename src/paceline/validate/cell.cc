// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/cell.h"

#include <map>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/validate/csv.h"

namespace paceline::validate {
namespace {

struct Source {
  Table table{};
  std::string_view system;  // in prediction_keys.csv
  std::string_view file;
  std::string_view throughput;
  std::string_view flags;  // empty: the file has none
};

constexpr Source kSources[] = {
    {Table::kSurvey,
     "ddl_benchmarks",
     "ddl_benchmarks.csv",
     "throughput_samples_per_s",
     "flags"},
    {Table::kFrameworks,
     "dlperf",
     "dlperf.csv",
     "throughput_samples_per_s",
     "flags"},
    {Table::kDdp,
     "pytorch_ddp",
     "pytorch_ddp.csv",
     "throughput_examples_per_s_per_gpu",
     ""},
    {Table::kDdpBuckets,
     "pytorch_ddp_bucket_diff",
     "pytorch_ddp_bucket_diff.csv",
     "throughput_examples_per_s_per_gpu",
     ""},
    {Table::kDecentralized,
     "bluefog",
     "bluefog.csv",
     "throughput_img_per_s",
     "flags"},
};

void fill_published(const std::filesystem::path& reference,
                    const Source& source,
                    std::map<std::string, Cell*>& cells) {
  const Csv csv = Csv::read(reference / source.file);
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const auto found = cells.find(csv.text(row, "row_id"));
    if (found == cells.end()) {
      continue;  // superseded charts
    }
    Cell& cell = *found->second;
    cell.published = csv.number(row, source.throughput);
    if (!source.flags.empty()) {
      cell.flags = csv.text(row, source.flags);
    }
  }
}

}  // namespace

std::string_view name_of(Table table) {
  switch (table) {
    case Table::kSurvey:
      return "survey";
    case Table::kFrameworks:
      return "frameworks";
    case Table::kDdp:
      return "ddp";
    case Table::kDdpBuckets:
      return "ddp-buckets";
    case Table::kDecentralized:
      return "decentralized";
  }
  return "";
}

Table table_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Table table : kTables) {
    if (table == Table::kDdpBuckets) {
      continue;  // stands with kDdp
    }
    if (name_of(table) == name) {
      return table;
    }
    names.push_back(name_of(table));
  }
  throw UsageError(
      fmt::format("no table '{}': there are {}", name, fmt::join(names, ", ")));
}

int Cell::gpus() const {
  if (table == Table::kDdp) {
    const std::string& setup = key.at(1);  // "no ddp", "2M/8G"
    return setup == "no ddp" ? 1 : (setup[0] - '0') * (setup[3] - '0');
  }
  return std::stoi(table == Table::kDdpBuckets ? key.at(1) : key.back());
}

bool Cell::has_flag(std::string_view flag) const {
  for (const std::string& one : split(flags, ';')) {
    if (one == flag) {
      return true;
    }
  }
  return false;
}

std::vector<Cell> read_cells(const std::filesystem::path& reference) {
  const Csv keys = Csv::read(reference / "prediction_keys.csv");
  std::vector<Cell> cells;
  for (std::size_t row = 0; row < keys.rows(); ++row) {
    for (const Source& source : kSources) {
      if (source.system == keys.text(row, "system")) {
        cells.push_back({.table = source.table,
                         .id = keys.text(row, "row_id"),
                         .key = split(keys.text(row, "row_id"), '|')});
      }
    }
  }
  for (const Source& source : kSources) {
    std::map<std::string, Cell*> of_table;
    for (Cell& cell : cells) {
      if (cell.table == source.table) {
        of_table[cell.id] = &cell;
      }
    }
    fill_published(reference, source, of_table);
  }
  return cells;
}

}  // namespace paceline::validate
