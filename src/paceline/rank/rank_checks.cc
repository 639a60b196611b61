// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/rank_checks.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <torch/types.h>

#include "paceline/rank/embedding_case.h"
#include "paceline/strategies/strategy.h"

namespace paceline::rank {
namespace {

constexpr std::int64_t kElementsAtOnce = 1 << 20;  // 8 MiB of doubles

// Returns whether the measured engine all-reduces whole numbers correctly: in fp32 their sums are
// exact.
bool sums_integers_exactly(engines::Channel& channel, const engines::PeerWait& peers) {
  constexpr std::int64_t kCount = 100'003;  // number of elements, not a multiple of any small world
  const at::Tensor index = at::arange(kCount, at::kLong).remainder(251);
  const at::Tensor mine = (index * (channel.rank() + 1)).to(at::kFloat);
  peers.wait_for(channel.all_reduce(mine, plan::Reduce::kSum));
  const std::int64_t ranks = channel.world();
  const at::Tensor expected = (index * (ranks * (ranks + 1) / 2)).to(at::kFloat);
  return at::equal(mine.cpu(), expected);
}

strategies::Guarantee guarantee_of(const cases::Case& configuration) {
  return strategies::strategy_of(configuration).guarantee();
}

// Returns how far the ranks' values x are from their mean m: the root mean square over the ranks of
// |x - m| / |m|, in double precision.  Nothing if the mean is zero.
std::optional<double> consensus_distance(engines::Channel& channel, const at::Tensor& values,
                                         const engines::PeerWait& peers) {
  const at::NoGradGuard no_grad;
  const auto options = values.options().dtype(at::kDouble);
  at::Tensor deviation = at::zeros({1}, options);
  at::Tensor norm = at::zeros({1}, options);
  for (std::int64_t begin = 0; begin < values.numel(); begin += kElementsAtOnce) {
    const at::Tensor mine =
        values.narrow(0, begin, std::min(kElementsAtOnce, values.numel() - begin)).to(at::kDouble);
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

// Returns a list whose element n is the number of averages that missed the updates of the n newest
// steps.  Empty if the plan lets no average miss any.
std::vector<std::int64_t> averages_by_steps_missed(
    const std::map<plan::Step, std::int64_t>& counted) {
  std::vector<std::int64_t> by_steps;
  for (const auto& [missed, averages] : counted) {
    by_steps.resize(static_cast<std::size_t>(missed) + 1, 0);
    by_steps.back() = averages;
  }
  return by_steps;
}

}  // namespace

std::map<std::string, bool> verify(Trainer& trainer, const RankGroup& group,
                                   launch::PrefixStore& store) {
  const cases::Case& configuration = trainer.configuration();
  std::map<std::string, bool> verified;
  const strategies::Guarantee guarantee = guarantee_of(configuration);
  const bool equal_ranks =
      guarantee == strategies::Guarantee::kExact || guarantee == strategies::Guarantee::kCompressed;
  if (group.world == 1 || !equal_ranks) {
    return verified;
  }
  const auto channel = connect(group, "verify", group.world);
  if (!group.device.is_cuda()) {
    verified["integer_sums"] = sums_integers_exactly(*channel, group.peers);
  }
  if (!configuration.replay.empty() || !trainer.trains()) {
    return verified;  // there are no parameters
  }
  const std::string mine = std::to_string(trainer.parameter_digest());
  store.set(fmt::format("digest/{}", group.rank), mine);
  verified["ranks_hold_equal_parameters"] = store.wait("digest/0") == mine;
  return verified;
}

void note_averages(Trainer& trainer, const RankGroup& group, RankResult& result) {
  const cases::Case& configuration = trainer.configuration();
  std::map<plan::Step, std::int64_t> missed = trainer.executor().take_staleness();
  if (configuration.has_tables()) {
    missed = lookups_by_steps_missed(missed);
  }
  result.samples.averages_by_steps_missed = averages_by_steps_missed(missed);
  const strategies::Guarantee guarantee = guarantee_of(configuration);
  const bool may_differ = guarantee == strategies::Guarantee::kConsensus ||
                          guarantee == strategies::Guarantee::kPeriodic ||
                          guarantee == strategies::Guarantee::kLocal;
  const auto trainers = static_cast<int>(trainer.planner().training_ranks(trainer.input()));
  if (trainers == 1 || !may_differ || !configuration.replay.empty() || !trainer.trains()) {
    return;
  }
  const auto channel = connect(group, "consensus", trainers);
  const plan::BufferId values = trainer.setup().parameters.front().value.buffer;
  result.consensus_distance = consensus_distance(
      *channel, trainer.memory().view(plan::whole(trainer.setup(), values)), group.peers);
}

}  // namespace paceline::rank
