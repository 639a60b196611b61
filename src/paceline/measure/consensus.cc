// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/consensus.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <torch/types.h>

namespace paceline::measure {
namespace {

constexpr std::int64_t kElementsAtOnce = 1 << 20;  // 8 MiB of doubles

}  // namespace

std::optional<double> consensus_distance(engines::Channel& channel,
                                         const at::Tensor& values,
                                         const engines::PeerWait& peers) {
  const at::NoGradGuard no_grad;
  const auto options = values.options().dtype(at::kDouble);
  at::Tensor deviation = at::zeros({1}, options);
  at::Tensor norm = at::zeros({1}, options);
  for (std::int64_t begin = 0; begin < values.numel();
       begin += kElementsAtOnce) {
    const at::Tensor mine =
        values
            .narrow(0, begin, std::min(kElementsAtOnce, values.numel() - begin))
            .to(at::kDouble);
    at::Tensor mean = mine.clone();
    peers.wait_for(channel.all_reduce(mean, plan::Reduce::kSum));
    mean.div_(channel.world());
    deviation += (mine - mean).square().sum();
    norm += mean.square().sum();
  }
  peers.wait_for(channel.all_reduce(deviation, plan::Reduce::kSum));
  const auto mean_norm = norm.item<double>();
  if (!(mean_norm > 0)) {
    return std::nullopt;
  }
  return std::sqrt(deviation.item<double>() / channel.world() / mean_norm);
}

std::vector<std::int64_t> averages_by_steps_missed(
    const std::map<plan::Step, std::int64_t>& counted) {
  std::vector<std::int64_t> by_steps;
  for (const auto& [missed, averages] : counted) {
    by_steps.resize(static_cast<std::size_t>(missed) + 1, 0);
    by_steps.back() = averages;
  }
  return by_steps;
}

}  // namespace paceline::measure
