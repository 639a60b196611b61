// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/buckets.h"

#include <algorithm>
#include <utility>

#include "paceline/base/error.h"

namespace paceline::strategies {

Groups assign_buckets(const ModelShape& model, const std::vector<ParameterId>& order,
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

Groups single_groups(const ModelShape& model) {
  Groups groups;
  for (const ParameterId id : model.ready_order) {
    groups.push_back({id});
  }
  return groups;
}

Groups module_groups(const ModelShape& model) {
  const auto module_of = [&](ParameterId id) { return model.parameters[index_of(id)].module; };
  Groups groups;
  for (const ParameterId id : model.ready_order) {
    if (groups.empty() || module_of(groups.back().back()) != module_of(id)) {
      groups.emplace_back();
    }
    groups.back().push_back(id);
  }
  return groups;
}

Bucket join(const std::vector<Bucket>& buckets) {
  PACELINE_CHECK(!buckets.empty());
  Bucket all = buckets.front();
  for (std::size_t i = 1; i < buckets.size(); ++i) {
    const Bucket& bucket = buckets[i];
    PACELINE_CHECK_EQ(all.values.begin + all.values.count, bucket.values.begin);
    all.parameters.insert(all.parameters.end(), bucket.parameters.begin(), bucket.parameters.end());
    all.values.count += bucket.values.count;
    all.gradients.count += bucket.gradients.count;
  }
  return all;
}

FirstReads first_reads_of(const ModelShape& model, const std::vector<Bucket>& buckets) {
  FirstReads reads;
  for (const Bucket& bucket : buckets) {
    auto first = static_cast<std::int32_t>(model.modules.size());
    for (const ParameterId id : bucket.parameters) {
      first = std::min(first, static_cast<std::int32_t>(model.parameters[index_of(id)].module));
    }
    reads.order.push_back(reads.modules.size());
    reads.modules.push_back(first);
  }
  std::ranges::stable_sort(reads.order, {}, [&](std::size_t b) { return reads.modules[b]; });
  return reads;
}

}  // namespace paceline::strategies
