// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::measure {

/// What one row of `paceline comm` measures.
struct CommRow {
  std::string operation;
  std::int64_t bytes = 0;

  friend bool operator==(const CommRow&, const CommRow&) = default;
};

/// `bytes` rounded to whole elements, at least one, and to equal shards for an
/// operation of which each of `world` ranks holds a shard.
std::int64_t whole_bytes(std::string_view operation,
                         std::int64_t bytes,
                         std::int64_t element,
                         std::int64_t world);

/// Every operation at every size, in order, rounded as above, each once.
std::vector<CommRow> comm_rows(const std::vector<std::string>& operations,
                               const std::vector<std::int64_t>& sizes,
                               std::string_view dtype,
                               std::int64_t world);

}  // namespace paceline::measure
