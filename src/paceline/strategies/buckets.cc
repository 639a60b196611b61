// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/buckets.h"

#include <algorithm>
#include <utility>

#include "paceline/base/error.h"

namespace paceline::strategies {

Groups assign_buckets(const ModelShape& model,
                      const std::vector<ParameterId>& order,
                      const std::vector<std::int64_t>& limits) {
  PACELINE_CHECK(!limits.empty());
  Groups buckets;
  std::vector<ParameterId> open;
  std::int64_t bytes = 0;
  std::size_t limit = 0;
  for (const ParameterId id : order) {
    open.push_back(id);
    bytes += model.parameters[index_of(id)].elements * size_of(model.dtype);
    if (bytes >= limits[limit]) {
      buckets.push_back(std::exchange(open, {}));
      bytes = 0;
      limit = std::min(limit + 1, limits.size() - 1);
    }
  }
  if (!open.empty()) {
    buckets.push_back(std::move(open));
  }
  return buckets;
}

}  // namespace paceline::strategies
