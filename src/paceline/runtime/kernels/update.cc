// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"

namespace paceline::runtime {
namespace {

// A range of values that have the settings of one group; in a layerwise group, one parameter.
struct Segment {
  std::int64_t begin = 0, end = 0;  // in elements of the buffer
  std::size_t group = 0;            // the number of groups if it belongs to none
};

// Returns the segments of the written slice, ascending and without gaps.  The slice must hold each
// parameter of a layerwise group completely.
std::vector<Segment> segments_of(const OptimizerSettings& rule, const plan::Slice& written) {
  const std::int64_t end = written.begin + written.count;
  const auto layerwise = [&](std::size_t group) {
    return group < rule.groups.size() && rule.groups[group].layerwise;
  };
  std::vector<Segment> own;
  for (std::size_t g = 0; g < rule.groups.size(); ++g) {
    for (const plan::Slice& one : rule.groups[g].slices) {
      if (one.begin < end && one.begin + one.count > written.begin) {
        PACELINE_CHECK(!layerwise(g) ||
                       (one.begin >= written.begin && one.begin + one.count <= end));
        own.push_back(
            {std::max(one.begin, written.begin), std::min(one.begin + one.count, end), g});
      }
    }
  }
  std::ranges::sort(own, {}, &Segment::begin);
  std::vector<Segment> all;
  const auto add = [&](const Segment& one) {
    if (one.end == one.begin) {
      return;
    }
    if (!all.empty() && all.back().group == one.group && !layerwise(one.group)) {
      all.back().end = one.end;
    } else {
      all.push_back(one);
    }
  };
  std::int64_t at = written.begin;
  for (const Segment& one : own) {
    add({at, one.begin, rule.groups.size()});
    add(one);
    at = one.end;
  }
  add({at, end, rule.groups.size()});
  return all;
}

// Returns the call that updates only the values of `group`. A flat slice is cut into `segments`; in
// calls with one tensor per parameter, a parameter's tensor is a view of its range in the buffer.
Call call_of_group(const Call& call, const std::vector<Segment>& segments, std::size_t group) {
  const Operand& values = call.reads[0];
  const bool flat = values.size() == 1 && values.front().numel() == call.written.count;
  Call part = call;
  // Operands that are read but not written are scalars, which all groups share.
  for (std::size_t i = 0; i < call.writes.size(); ++i) {
    const Operand& whole = call.reads[i];
    Operand& some = part.reads[i];
    some.clear();
    for (const Segment& one : segments) {
      if (one.group != group) {
        continue;
      }
      if (flat) {
        some.push_back(
            whole.front().view(-1).narrow(0, one.begin - call.written.begin, one.end - one.begin));
        continue;
      }
      for (std::size_t p = 0; p < whole.size(); ++p) {
        const std::int64_t place = values[p].storage_offset();
        if (place >= one.begin && place < one.end) {
          some.push_back(whole[p]);
        }
      }
    }
  }
  return part;
}

}  // namespace

// If slices begin at multiples of 16 elements, calls for these slices give the same bits as one
// call for the whole.  Otherwise results may differ by one unit in the last place, because PyTorch
// rounds elements that fill no SIMD vector differently.
void run_update(const OptimizerSettings& rule, const Call& call) {
  if (rule.groups.empty()) {
    run_optimizer(rule, call);
    return;
  }
  const std::vector<Segment> segments = segments_of(rule, call.written);
  for (std::size_t g = 0; g <= rule.groups.size(); ++g) {
    const Call part = call_of_group(call, segments, g);
    if (!part.reads[0].empty()) {
      run_optimizer(g < rule.groups.size() ? rule.groups[g] : rule, part);
    }
  }
}

void run_count(const OptimizerSettings& /*rule*/, const Call& call) {
  const at::Tensor& counter = call.writes[0].front();
  counter.add_(1);
  if (call.reads.size() > 1) {
    counter.sub_(call.reads[1].front());
  }
}

// Checks the gradients without making the host wait for the device.
void run_check(const OptimizerSettings& /*rule*/, const Call& call) {
  at::Tensor found_inf = call.writes[1].front();
  found_inf.zero_();
  // The ATen call can also divide.  run_update() divides instead, so the divisor is one here.
  at::_amp_foreach_non_finite_check_and_unscale_(call.writes[0], found_inf,
                                                 at::ones_like(found_inf));
}

// Adapts the loss scale as PyTorch's GradScaler does. Micikevicius et al., ICLR 2018,
// arXiv:1710.03740.
void run_rescale(const OptimizerSettings& /*rule*/, const Call& call) {
  PACELINE_CHECK_EQ(call.numbers.size(), std::size_t{3});
  at::Tensor scale = call.writes[0].front();
  at::Tensor growth = call.writes[1].front();
  call.writes[2].front().copy_(scale);
  at::_amp_update_scale_(scale, growth, call.reads[0].front(), call.numbers[0], call.numbers[1],
                         static_cast<std::int64_t>(call.numbers[2]));
}

}  // namespace paceline::runtime
