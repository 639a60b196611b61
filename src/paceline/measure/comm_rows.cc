// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/comm_rows.h"

#include <algorithm>

#include "paceline/base/text.h"
#include "paceline/measure/comm_case.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::measure {

std::int64_t whole_bytes(std::string_view operation,
                         std::int64_t bytes,
                         std::int64_t element,
                         std::int64_t world) {
  std::int64_t count = std::max<std::int64_t>(1, bytes / element);
  if (operation == plan::name_of(plan::Pattern::kReduceScatter) ||
      operation == plan::name_of(plan::Pattern::kAllGather)) {
    count = (count + world - 1) / world * world;
  }
  return count * element;
}

std::vector<CommRow> comm_rows(const std::vector<std::string>& operations,
                               const std::vector<std::int64_t>& sizes,
                               std::string_view dtype,
                               std::int64_t world) {
  std::vector<CommRow> rows;
  for (const std::string& operation : operations) {
    for (const std::int64_t size : sizes) {
      const std::int64_t bytes =
          whole_bytes(operation, size, element_bytes(dtype), world);
      add_once(rows, {.operation = operation, .bytes = bytes});
    }
  }
  return rows;
}

}  // namespace paceline::measure
