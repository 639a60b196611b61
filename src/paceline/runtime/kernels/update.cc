// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/kernels/update.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include "paceline/base/error.h"
#include "paceline/runtime/kernels/call.h"

namespace paceline::runtime {
namespace {

// How PyTorch's fused optimizers scale the gradient that they read.
struct Scaling {
  std::optional<at::Tensor> divisor;
  std::optional<at::Tensor> found_inf;  // 1: the update is skipped
};

// `reads`: how many a call has without loss scaling.
Scaling scaling_of(const Call& call, std::size_t reads) {
  const double divisor = call.numbers.empty() ? 1.0 : call.numbers[0];
  if (call.reads.size() == reads + 2) {
    return {.divisor = call.reads[reads].front() * divisor,
            .found_inf = call.reads[reads + 1].front()};
  }
  PACELINE_CHECK_EQ(call.reads.size(), reads);
  if (divisor == 1.0) {
    return {};
  }
  return {.divisor = at::full({},
                              divisor,
                              at::TensorOptions()
                                  .dtype(at::kFloat)
                                  .device(call.reads[0].front().device())),
          .found_inf = std::nullopt};
}

// The fused kernels take a double on the CPU and a float on a GPU.
at::Tensor learning_rate(const at::Tensor& rate) {
  return rate.is_cpu() ? rate : rate.to(at::kFloat);
}

// Elements that a thread takes at least.
constexpr std::int64_t kGrain = 1 << 14;

bool is_bf16_on_cpu(const Operand& values) {
  return !values.empty() && values.front().is_cpu() &&
         values.front().scalar_type() == at::kBFloat16;
}

// In float32, each result rounded once, as PyTorch's fused kernels on a GPU.
// Its kernel for CPUs leaves each whole vector of bf16 parameters as it was
// (pytorch#191763; 2.13 has it).
void update_bf16(const UpdateRule& rule,
                 const at::Tensor& value,
                 const at::Tensor& gradient,
                 const at::Tensor* momentum,
                 float rate,
                 float divisor) {
  auto* const w = value.data_ptr<at::BFloat16>();
  auto* const g = gradient.data_ptr<at::BFloat16>();
  auto* const v =
      momentum == nullptr ? nullptr : momentum->data_ptr<at::BFloat16>();
  const auto decay = static_cast<float>(rule.weight_decay);
  const auto factor = static_cast<float>(rule.momentum);
  at::parallel_for(0, value.numel(), kGrain, [&](auto begin, auto end) {
    for (std::int64_t i = begin; i < end; ++i) {
      float change = static_cast<float>(g[i]) / divisor;
      g[i] = change;
      change += static_cast<float>(w[i]) * decay;
      if (v != nullptr) {
        change += static_cast<float>(v[i]) * factor;
        v[i] = change;
      }
      w[i] = static_cast<float>(w[i]) - rate * change;
    }
  });
}

void update_bf16(const UpdateRule& rule,
                 const Call& call,
                 const Operand& momentum,
                 const at::Tensor& rate,
                 const Scaling& scaling) {
  if (scaling.found_inf && scaling.found_inf->item<float>() == 1) {
    return;
  }
  const float divisor = scaling.divisor ? scaling.divisor->item<float>() : 1;
  for (std::size_t i = 0; i < call.reads[0].size(); ++i) {
    update_bf16(rule,
                call.reads[0][i],
                call.reads[1][i],
                momentum.empty() ? nullptr : &momentum[i],
                rate.item<float>(),
                divisor);
  }
}

void update(const UpdateRule& rule, const Call& call) {
  const Operand& values = call.reads[0];
  const Operand& gradients = call.reads[1];
  if (rule.name == "sgd") {
    // PyTorch takes no buffer where there is no momentum.
    const Operand momentum = rule.momentum == 0 ? Operand{} : call.reads[2];
    const std::size_t rate = rule.momentum == 0 ? 2 : 3;
    const Scaling scaling = scaling_of(call, rate + 1);
    if (is_bf16_on_cpu(values)) {
      update_bf16(rule, call, momentum, call.reads[rate].front(), scaling);
      return;
    }
    // is_first_step may stay false, because the momentum buffer starts at zero.
    at::_fused_sgd_(values,
                    gradients,
                    momentum,
                    rule.weight_decay,
                    rule.momentum,
                    learning_rate(call.reads[rate].front()),
                    /*dampening=*/0,
                    /*nesterov=*/false,
                    /*maximize=*/false,
                    /*is_first_step=*/false,
                    scaling.divisor,
                    scaling.found_inf);
    return;
  }
  PACELINE_CHECK_EQ(rule.name, std::string("adamw"));
  const Scaling scaling = scaling_of(call, 6);
  const std::vector<at::Tensor> steps(values.size(), call.reads[5].front());
  at::_fused_adamw_(values,
                    gradients,
                    call.reads[2],
                    call.reads[3],
                    {},
                    steps,
                    learning_rate(call.reads[4].front()),
                    rule.beta1,
                    rule.beta2,
                    rule.weight_decay,
                    rule.epsilon,
                    /*amsgrad=*/false,
                    /*maximize=*/false,
                    scaling.divisor,
                    scaling.found_inf);
}

// Elements of a flat slice, counted from its begin.
struct Segment {
  std::int64_t begin = 0, end = 0;
  bool decays = true;
};

std::vector<Segment> segments_of(const UpdateRule& rule,
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

void run_update(const UpdateRule& rule, const Call& call) {
  const at::NoGradGuard no_grad;
  if (rule.undecayed.empty()) {
    update(rule, call);
    return;
  }
  const std::vector<Segment> segments = segments_of(rule, call.written);
  UpdateRule own = rule;
  for (const bool decays : {true, false}) {
    own.weight_decay = decays ? rule.weight_decay : 0;
    const Call part = part_of(call, segments, decays);
    if (!part.reads[0].empty()) {
      update(own, part);
    }
  }
}

void run_count(const UpdateRule& /*rule*/, const Call& call) {
  const at::NoGradGuard no_grad;
  const at::Tensor& counter = call.writes[0].front();
  counter.add_(1);
  if (call.reads.size() > 1) {
    counter.sub_(call.reads[1].front());
  }
}

void run_check(const UpdateRule& /*rule*/, const Call& call) {
  const at::NoGradGuard no_grad;
  at::Tensor found_inf = call.writes[1].front();
  found_inf.zero_();
  // This call can divide as well.  The update does it, so the divisor is one.
  at::_amp_foreach_non_finite_check_and_unscale_(
      call.writes[0], found_inf, at::ones_like(found_inf));
}

void run_rescale(const UpdateRule& /*rule*/, const Call& call) {
  const at::NoGradGuard no_grad;
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
