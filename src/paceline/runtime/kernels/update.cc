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

// Elements of a flat slice, counted from its begin.
struct Segment {
  std::int64_t begin = 0, end = 0;
  bool decays = true;
};

std::vector<Segment> segments_of(const OptimizerSettings& rule,
                                 const plan::Slice& written) {
  std::vector<Segment> segments;
  std::int64_t at = 0;
  const auto until = [&](std::int64_t end, bool decays) {
    end = std::clamp<std::int64_t>(end - written.begin, at, written.count);
    if (end > at) {
      segments.push_back({at, end, decays});
      at = end;
    }
  };
  for (const plan::Slice& one : rule.undecayed) {
    until(one.begin, true);
    until(one.begin + one.count, false);
  }
  until(written.begin + written.count, true);
  return segments;
}

// The part of an update's call whose weights decay, or the other part.  A flat
// slice is cut where they meet, into `segments`.
Call part_of(const Call& call,
             const std::vector<Segment>& segments,
             bool decays) {
  const Operand& values = call.reads[0];
  const bool flat =
      values.size() == 1 && values.front().numel() == call.written.count;
  Call part = call;
  // What is read besides are scalars.
  for (std::size_t i = 0; i < call.writes.size(); ++i) {
    const Operand& whole = call.reads[i];
    Operand& some = part.reads[i];
    some.clear();
    if (!flat) {
      for (std::size_t p = 0; p < whole.size(); ++p) {
        if ((values[p].dim() > 1) == decays) {
          some.push_back(whole[p]);
        }
      }
      continue;
    }
    for (const Segment& one : segments) {
      if (one.decays == decays) {
        some.push_back(
            whole.front().view(-1).narrow(0, one.begin, one.end - one.begin));
      }
    }
  }
  return part;
}

}  // namespace

void run_update(const OptimizerSettings& rule, const Call& call) {
  if (rule.undecayed.empty()) {
    run_optimizer(rule, call);
    return;
  }
  const std::vector<Segment> segments = segments_of(rule, call.written);
  OptimizerSettings own = rule;
  for (const bool decays : {true, false}) {
    own.weight_decay = decays ? rule.weight_decay : 0;
    const Call part = part_of(call, segments, decays);
    if (!part.reads[0].empty()) {
      run_optimizer(own, part);
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

void run_check(const OptimizerSettings& /*rule*/, const Call& call) {
  at::Tensor found_inf = call.writes[1].front();
  found_inf.zero_();
  // This call can divide as well.  The update does it, so the divisor is one.
  at::_amp_foreach_non_finite_check_and_unscale_(
      call.writes[0], found_inf, at::ones_like(found_inf));
}

void run_rescale(const OptimizerSettings& /*rule*/, const Call& call) {
  PACELINE_CHECK_EQ(call.numbers.size(), std::size_t{3});
  at::Tensor scale = call.writes[0].front();
  at::Tensor growth = call.writes[1].front();
  call.writes[2].front().copy_(scale);
  at::_amp_update_scale_(scale,
                         growth,
                         call.reads[0].front(),
                         call.numbers[0],
                         call.numbers[1],
                         static_cast<std::int64_t>(call.numbers[2]));
}

}  // namespace paceline::runtime
