// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/weight_norms.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <torch/types.h>

#include "paceline/networks/network.h"
#include "paceline/rank/case_run.h"
#include "paceline/strategies/strategy.h"

namespace paceline::rank {
namespace {

// Largest number of elements that are sampled of a parameter.
constexpr std::int64_t kMaxSampledElements = 1 << 14;

bool matches_one_rank_training(const Trainer& trainer) {
  const cases::Case& c = trainer.configuration();
  if (!trainer.trains() || trainer.sample_flops() == 0 || c.has_tables() || !c.data.empty()) {
    return false;
  }
  return c.strategy == "none"
             ? c.ranks == 1
             : strategies::strategy_of(c).guarantee() == strategies::Guarantee::kExact;
}

std::vector<at::Tensor> sampled_weights(const Trainer& trainer) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> sample;
  for (const at::Tensor& parameter : trainer.network().parameters()) {
    if (parameter.dim() > 1) {
      const std::int64_t stride = std::max<std::int64_t>(
          1, (parameter.numel() + kMaxSampledElements - 1) / kMaxSampledElements);
      sample.push_back(parameter.detach()
                           .reshape({-1})
                           .slice(0, 0, parameter.numel(), stride)
                           .to(at::kCPU, at::kDouble, false, /*copy=*/true));
    }
  }
  return sample;
}

double norm_of(const std::vector<at::Tensor>& vectors) {
  double sum = 0;
  for (const at::Tensor& vector : vectors) {
    sum += vector.square().sum().item<double>();
  }
  return std::sqrt(sum);
}

}  // namespace

WeightNorms::WeightNorms(const Trainer& trainer) : trainer_(trainer) {
  if (matches_one_rank_training(trainer)) {
    start_ = sampled_weights(trainer);
  }
}

void WeightNorms::note_last(RankResult& result) const {
  if (start_.empty()) {
    return;
  }
  std::vector<at::Tensor> now = sampled_weights(trainer_);
  result.adapter["weights_norm_last"] = fmt::format("{}", norm_of(now));
  for (std::size_t i = 0; i < now.size(); ++i) {
    now[i] -= start_[i];
  }
  result.adapter["update_norm_last"] = fmt::format("{}", norm_of(now));
  if (const std::optional<double> loss = trainer_.last_loss()) {
    result.adapter["loss"] = fmt::format("{}", *loss);
  }
}

}  // namespace paceline::rank
