// SPDX-License-Identifier: Apache-2.0
// Divides training samples among ranks, and orders each rank's samples.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/random.h"
#include "paceline/networks/data.h"

namespace paceline::networks {
namespace {

constexpr std::uint64_t kSplitStream = 0x73706c6974;
constexpr std::uint64_t kOrderStream = 0x6f72646572;

/// Draws from a gamma distribution with shape `alpha` and scale 1.  Marsaglia and Tsang, ACM TOMS
/// 26(3), 2000; shapes below 1 use the boost of their section 6.
double gamma(double alpha, Random& random) {
  if (alpha < 1) {
    const double power = std::pow(1 - random.uniform(), 1 / alpha);
    return gamma(alpha + 1, random) * power;
  }
  const double d = alpha - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = random.normal();
    const double v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(1 - random.uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) {
      return d * v;
    }
  }
}

std::vector<std::int64_t> random_permutation(std::int64_t count, Random& random) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  shuffle(std::span(order), random);
  return order;
}

/// Draws a group with a probability proportional to its share, among the groups that have samples
/// left.
std::size_t draw_group(const std::vector<double>& shares,
                       const std::vector<std::vector<std::int64_t>>& left, Random& random) {
  double total = 0;
  for (std::size_t g = 0; g < shares.size(); ++g) {
    total += left[g].empty() ? 0 : shares[g];
  }
  std::size_t last = 0;
  double at = random.uniform() * total;
  for (std::size_t g = 0; g < shares.size(); ++g) {
    if (left[g].empty()) {
      continue;
    }
    last = g;
    at -= shares[g];
    if (at < 0) {
      break;
    }
  }
  return last;
}

}  // namespace

std::vector<std::vector<std::int64_t>> split_samples(const std::vector<std::int64_t>& groups,
                                                     const std::string& split, int ranks,
                                                     std::uint64_t seed) {
  const std::int64_t share = std::ssize(groups) / ranks;
  if (share == 0) {
    throw UsageError(fmt::format("{} samples are too few for {} ranks", groups.size(), ranks));
  }
  Random random(seed, kSplitStream);
  const auto order = random_permutation(std::ssize(groups), random);
  std::vector<std::vector<std::int64_t>> shards(static_cast<std::size_t>(ranks));
  const std::optional<double> alpha = plan::dirichlet_alpha(split);
  PACELINE_CHECK(alpha.has_value());  // the experiment was checked before
  if (*alpha == 0) {
    for (std::size_t r = 0; r < shards.size(); ++r) {
      for (std::int64_t i = 0; i < share; ++i) {
        shards[r].push_back(order[r + static_cast<std::size_t>(i) * shards.size()]);
      }
    }
    return shards;
  }
  std::map<std::int64_t, std::vector<std::int64_t>> by_group;
  for (const std::int64_t sample : order) {
    by_group[groups[static_cast<std::size_t>(sample)]].push_back(sample);
  }
  std::vector<std::vector<std::int64_t>> left;
  for (auto& [group, samples] : by_group) {
    left.push_back(std::move(samples));
  }
  for (auto& shard : shards) {
    std::vector<double> shares;
    for (std::size_t g = 0; g < left.size(); ++g) {
      // Without the addition, all remaining shares could be zero once the other groups are empty.
      shares.push_back(gamma(*alpha, random) + 1e-12);
    }
    for (std::int64_t i = 0; i < share; ++i) {
      auto& samples = left[draw_group(shares, left, random)];
      shard.push_back(samples.back());
      samples.pop_back();
    }
  }
  return shards;
}

BatchOrder::BatchOrder(std::int64_t samples, int batch, std::uint64_t seed, int rank)
    : samples_(samples), batch_(batch), seed_(seed), rank_(rank) {}

const std::vector<std::int64_t>& BatchOrder::permutation(std::int64_t epoch) {
  if (epoch != epoch_) {
    Random random(seed_, kOrderStream + (static_cast<std::uint64_t>(rank_) << 40U));
    random.seek(static_cast<std::uint64_t>(epoch) << 32U);
    kept_ = random_permutation(samples_, random);
    epoch_ = epoch;
  }
  return kept_;
}

std::vector<std::int64_t> BatchOrder::of(std::int64_t step) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = step * batch_; i < (step + 1) * batch_; ++i) {
    numbers.push_back(permutation(i / samples_)[static_cast<std::size_t>(i % samples_)]);
  }
  return numbers;
}

}  // namespace paceline::networks
