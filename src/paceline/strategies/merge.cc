// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/merge.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/plan_input.h"

namespace paceline::strategies {
namespace {

/// before[i]: bytes of the first i tensors.
std::vector<std::int64_t> bytes_before(
    const std::vector<ReadyTensor>& tensors) {
  std::vector<std::int64_t> before(tensors.size() + 1, 0);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    before[i + 1] = before[i] + tensors[i].bytes;
  }
  return before;
}

Merge finished(const std::vector<ReadyTensor>& tensors,
               const TransferTime& time,
               std::vector<std::size_t> sizes) {
  const Picoseconds end = end_of(tensors, time, sizes);
  return {std::move(sizes), end, merge_bound(tensors, time)};
}

}  // namespace

std::vector<ReadyTensor> tensors_of(const PlanInput& input,
                                    std::string_view schedule) {
  if (!input.profile.has_value()) {
    throw UsageError(
        fmt::format("schedule '{}' cuts by the times of layers, and the plan "
                    "was given no profile of '{}'",
                    schedule,
                    input.model.name));
  }
  check_profile(input.model, *input.profile);
  const auto ready = ready_times(input.model, *input.profile);
  std::vector<ReadyTensor> tensors;
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const auto id = input.model.ready_order[i];
    const Elements elements = input.model.parameters[index_of(id)].elements;
    tensors.push_back(
        {elements, elements * size_of(input.model.dtype), ready[i]});
  }
  return tensors;
}

Groups grouped(const ModelShape& model, const std::vector<std::size_t>& sizes) {
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

Picoseconds end_of(const std::vector<ReadyTensor>& tensors,
                   const TransferTime& time,
                   const std::vector<std::size_t>& sizes) {
  Picoseconds end = 0;
  std::size_t next = 0;
  for (const std::size_t size : sizes) {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < size; ++i, ++next) {
      bytes += tensors[next].bytes;
    }
    end = std::max(end, tensors[next - 1].ready) + time(bytes);
  }
  PACELINE_CHECK_EQ(next, tensors.size());
  return end;
}

Merge greedy_merge(const std::vector<ReadyTensor>& tensors,
                   const TransferTime& time,
                   Elements small) {
  std::vector<std::size_t> sizes;
  Picoseconds free = 0;  // when the buckets before the pending one have crossed
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
      const Picoseconds saved = time(pending.bytes) + time(next.bytes) -
                                time(pending.bytes + next.bytes);
      merges = (next.ready < crossed && next.ready - start < saved) ||
               pending.elements < small;
    }
    if (!merges) {
      sizes.push_back(count);
      free = crossed;
      pending = {};
      count = 0;
    }
  }
  return finished(tensors, time, std::move(sizes));
}

Merge best_merge(const std::vector<ReadyTensor>& tensors,
                 const TransferTime& time) {
  const std::size_t count = tensors.size();
  const auto before = bytes_before(tensors);
  std::vector<Picoseconds> end(count + 1,
                               std::numeric_limits<Picoseconds>::max());
  std::vector<std::size_t> from(count + 1, 0);
  end[0] = 0;
  for (std::size_t j = 1; j <= count; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      const Picoseconds here =
          std::max(end[i], tensors[j - 1].ready) + time(before[j] - before[i]);
      if (here < end[j]) {
        end[j] = here;
        from[j] = i;
      }
    }
  }
  std::vector<std::size_t> sizes;
  for (std::size_t j = count; j > 0; j = from[j]) {
    sizes.push_back(j - from[j]);
  }
  std::ranges::reverse(sizes);
  return finished(tensors, time, std::move(sizes));
}

Picoseconds merge_bound(const std::vector<ReadyTensor>& tensors,
                        const TransferTime& time) {
  PACELINE_CHECK(!tensors.empty());
  const std::size_t count = tensors.size();
  const auto before = bytes_before(tensors);
  constexpr auto kNever = std::numeric_limits<Picoseconds>::max();
  std::vector<Picoseconds> work(count + 1, kNever);  // of the first j tensors
  work[0] = 0;
  Picoseconds last = kNever;
  for (std::size_t j = 1; j <= count; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      work[j] = std::min(work[j], work[i] + time(before[j] - before[i]));
    }
    last = std::min(last, time(before[count] - before[j - 1]));
  }
  return std::max(tensors.front().ready + work[count],
                  tensors.back().ready + last);
}

std::string remark_on(const Merge& merge) {
  std::size_t tensors = 0;
  for (const std::size_t size : merge.sizes) {
    tensors += size;
  }
  return fmt::format(
      "{} buckets of {} tensors; communication is predicted to end {:.3f} ms "
      "after the start of backward, no cut can end before {:.3f} ms",
      merge.sizes.size(),
      tensors,
      milliseconds_of(merge.end),
      milliseconds_of(merge.bound));
}

}  // namespace paceline::strategies
