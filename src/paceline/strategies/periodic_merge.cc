// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/periodic_merge.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/plan/program.h"
#include "paceline/strategies/concurrent_transfers.h"
#include "paceline/strategies/merge.h"

namespace paceline::strategies {
namespace {

/// The transfer times of all ranges of the ready order: [i][j - i - 1] is that of tensors i+1 .. j.
using Times = std::vector<std::vector<Picoseconds>>;

Times transfer_times_of_ranges(const StepTimings& step, const TransferTime& time) {
  const std::size_t count = step.tensors.size();
  Times times(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t bytes = 0;
    for (std::size_t j = i; j < count; ++j) {
      bytes += step.tensors[j].bytes;
      times[i].push_back(time(bytes));
    }
  }
  return times;
}

/// Returns the cut, among those with a step of at most `longest`, whose communication ends
/// earliest; nullopt if there is none.
std::optional<std::vector<std::size_t>> cut_within(const StepTimings& step, const Times& times,
                                                   Picoseconds longest) {
  constexpr auto kNever = std::numeric_limits<Picoseconds>::max();
  const std::size_t count = step.tensors.size();
  std::vector<Picoseconds> end(count + 1, kNever);
  std::vector<std::size_t> from(count + 1, 0);
  end[0] = 0;
  for (std::size_t j = 1; j <= count; ++j) {
    const Picoseconds ready = step.tensors[j - 1].ready;
    Picoseconds left = 0;
    for (std::size_t i = j; i-- > 0;) {
      left = std::max(left, step.tensors[i].left);
      if (end[i] == kNever) {
        continue;
      }
      const Picoseconds here = std::max(end[i], ready) + times[i][j - i - 1];
      if (here <= end[j] && here + left <= longest) {
        end[j] = here;
        from[j] = i;
      }
    }
  }
  if (end[count] == kNever) {
    return std::nullopt;
  }
  std::vector<std::size_t> sizes;
  for (std::size_t j = count; j > 0; j = from[j]) {
    sizes.push_back(j - from[j]);
  }
  std::ranges::reverse(sizes);
  return sizes;
}

PredictedCut best_serial(const StepTimings& step, const TransferTime& time) {
  const Times times = transfer_times_of_ranges(step, time);
  Picoseconds possible = step_of(step, time, {step.tensors.size()}).step;  // for one bucket
  Picoseconds impossible = step.compute - 1;
  while (possible - impossible > 1) {
    const Picoseconds middle = std::midpoint(impossible, possible);
    (cut_within(step, times, middle) ? possible : impossible) = middle;
  }
  auto sizes = cut_within(step, times, possible);
  PACELINE_CHECK(sizes.has_value());
  PredictedCut best = step_of(step, time, *std::move(sizes));
  PACELINE_CHECK_EQ(best.step, possible);
  best.is_least = true;
  return best;
}

}  // namespace

StepTimings step_timings_of(const PlanInput& input, std::string_view schedule) {
  const auto ready = tensors_of(input, schedule);
  const ModelShape& model = input.model;
  const LayerProfile& profile = *input.profile;
  const Picoseconds forward = profile.forward_total();
  const Picoseconds whole = forward + profile.backward_total();
  const Picoseconds others = (input.micro_batches - 1) * whole;
  std::vector<Picoseconds> left(model.modules.size() + 1, 0);
  for (std::size_t m = model.modules.size(); m-- > 0;) {
    left[m] = left[m + 1] + profile.forward[m];
  }
  StepTimings step{.compute = whole + others};
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const auto& parameter = model.parameters[index_of(model.ready_order[i])];
    // With loss scaling, updates wait for all gradients, so the whole forward follows them.
    const Picoseconds own = input.loss_scaling ? forward : left[index_of(parameter.module)];
    step.tensors.push_back(
        {.bytes = (ready[i].bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes,
         .ready = ready[i].ready,
         .left = own + others});
  }
  return step;
}

PredictedCut step_of(const StepTimings& step, const TransferTime& time,
                     std::vector<std::size_t> sizes) {
  PredictedCut merge{.sizes = std::move(sizes), .step = step.compute};
  ConcurrentTransfers wire(time.concurrent_collectives());
  std::vector<Picoseconds> left;
  std::size_t next = 0;
  for (const std::size_t size : merge.sizes) {
    std::int64_t bytes = 0;
    left.push_back(0);
    for (std::size_t i = 0; i < size; ++i, ++next) {
      bytes += step.tensors[next].bytes;
      left.back() = std::max(left.back(), step.tensors[next].left);
    }
    const Picoseconds ready = step.tensors[next - 1].ready;
    if (time.is_one_by_one()) {
      merge.end = std::max(merge.end, ready) + time(bytes);
      merge.step = std::max(merge.step, merge.end + left.back());
    } else {
      const Picoseconds start = time.start(bytes);
      wire.add(ready, start, time(bytes) - start);
    }
  }
  PACELINE_CHECK_EQ(next, step.tensors.size());
  if (!time.is_one_by_one()) {
    const auto& ends = wire.ends();
    for (std::size_t k = 0; k < ends.size(); ++k) {
      merge.end = std::max(merge.end, ends[k]);
      merge.step = std::max(merge.step, ends[k] + left[k]);
    }
  }
  return merge;
}

PredictedCut best_step(const StepTimings& step, const TransferTime& time) {
  PACELINE_CHECK(!step.tensors.empty());
  return time.is_one_by_one() ? best_serial(step, time) : best_concurrent(step, time);
}

std::string remark_text_of(const PredictedCut& merge) {
  const std::size_t tensors =
      std::accumulate(merge.sizes.begin(), merge.sizes.end(), std::size_t{0});
  return fmt::format("{} of {}; a step is predicted to take {:.3f} ms{}",
                     counted(std::ssize(merge.sizes), "bucket"),
                     counted(std::int64_t(tensors), "tensor"), milliseconds_of(merge.step),
                     merge.is_least ? ", no cut takes less" : "");
}

}  // namespace paceline::strategies
