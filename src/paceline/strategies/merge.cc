// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/merge.h"

#include <algorithm>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/plan_input.h"

namespace paceline::strategies {

std::vector<ReadyTensor> tensors_of(const PlanInput& input, std::string_view schedule) {
  if (!input.profile.has_value()) {
    throw UsageError(fmt::format(
        "schedule '{}' cuts by the times of layers, and the plan was given no profile of '{}'",
        schedule, input.model.name));
  }
  check_profile(input.model, *input.profile);
  const auto ready = ready_times(input.model, *input.profile);
  std::vector<ReadyTensor> tensors;
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const auto id = input.model.ready_order[i];
    const Elements elements = input.model.parameters[index_of(id)].elements;
    tensors.push_back({elements, elements * size_of(input.model.dtype), ready[i]});
  }
  return tensors;
}

Groups groups_of_sizes(const ModelShape& model, const std::vector<std::size_t>& sizes) {
  Groups groups;
  auto next = model.ready_order.begin();
  for (const std::size_t size : sizes) {
    const auto end = next + static_cast<std::ptrdiff_t>(size);
    groups.emplace_back(next, end);
    next = end;
  }
  PACELINE_CHECK(next == model.ready_order.end());
  return groups;
}

std::vector<std::size_t> greedy_merge(const std::vector<ReadyTensor>& tensors,
                                      const TransferTime& time, Elements small) {
  std::vector<std::size_t> sizes;
  Picoseconds free = 0;  // when the transfers of all earlier buckets end
  ReadyTensor pending;
  std::size_t count = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    pending.elements += tensors[i].elements;
    pending.bytes += tensors[i].bytes;
    pending.ready = tensors[i].ready;
    ++count;
    const Picoseconds start = std::max(free, pending.ready);
    const Picoseconds crossed = start + time(pending.bytes);
    bool merges = false;
    if (i + 1 < tensors.size()) {
      const ReadyTensor& next = tensors[i + 1];
      const Picoseconds saved =
          time(pending.bytes) + time(next.bytes) - time(pending.bytes + next.bytes);
      merges = (next.ready < crossed && next.ready - start < saved) || pending.elements < small;
    }
    if (!merges) {
      sizes.push_back(count);
      free = crossed;
      pending = {};
      count = 0;
    }
  }
  return sizes;
}

}  // namespace paceline::strategies
