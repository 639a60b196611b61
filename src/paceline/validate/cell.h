// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::validate {

/// The published tables, by the folder names of docs/ and experiments/.
enum class Table : std::uint8_t {
  kSurvey,         // ddl-benchmarks: seven methods
  kFrameworks,     // DLPerf
  kDdp,            // PyTorch DDP
  kDdpBuckets,     // PyTorch DDP, bucket cap 1 MiB
  kDecentralized,  // BlueFog
};

inline constexpr Table kTables[] = {Table::kSurvey,
                                    Table::kFrameworks,
                                    Table::kDdp,
                                    Table::kDdpBuckets,
                                    Table::kDecentralized};

std::string_view name_of(Table table);

/// One that is examined by itself; throws UsageError for other names.
Table table_named(std::string_view name);

/// A number that was published, or kept aside by whoever examines.
struct Cell {
  Table table{};
  std::string id;                     // row_id of the tables
  std::vector<std::string> key;       // its pieces
  std::optional<double> published{};  // samples/s; empty: kept aside
  std::string flags{};

  /// Samples/s means per device in the PyTorch tables, else of the whole job.
  int gpus() const;
  bool has_flag(std::string_view flag) const;
};

/// Every cell that can be predicted, published or not.
std::vector<Cell> read_cells(const std::filesystem::path& reference);

}  // namespace paceline::validate
