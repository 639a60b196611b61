// SPDX-License-Identifier: Apache-2.0
#include "paceline/stats/steady.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "paceline/base/random.h"
#include "paceline/stats/quantile.h"

namespace paceline::stats {
namespace {

// The smallest number of samples on either side of a cut.  A series of fewer than twice as many is
// not cut.
constexpr std::size_t kLeastSegmentSamples = 4;

// Returns the mid-ranks of the samples minus their mean.  They sum to zero, and U_k (see steady.h)
// is -2 times their sum up to k.
std::vector<double> centered_ranks(std::span<const double> samples) {
  const std::size_t n = samples.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return samples[a] < samples[b]; });
  std::vector<double> ranks(n);
  for (std::size_t first = 0; first < n;) {
    std::size_t end = first;
    while (end < n && samples[order[end]] == samples[order[first]]) {
      ++end;
    }
    const double rank = static_cast<double>(first + end - 1) / 2 - static_cast<double>(n - 1) / 2;
    for (; first < end; ++first) {
      ranks[order[first]] = rank;
    }
  }
  return ranks;
}

struct Cut {
  std::size_t at = 0;
  double height = -1;  // |U_k| / sd(U_k), up to a factor common to all k
};

Cut highest_cut(std::span<const double> ranks) {
  Cut best;
  double sum = 0;
  for (std::size_t k = 1; k + kLeastSegmentSamples <= ranks.size(); ++k) {
    sum += ranks[k - 1];
    if (k < kLeastSegmentSamples) {
      continue;
    }
    const double height =
        std::abs(sum) / std::sqrt(static_cast<double>(k) * static_cast<double>(ranks.size() - k));
    if (height > best.height) {
      best = {.at = k, .height = height};
    }
  }
  return best;
}

double median_difference(std::span<const double> values, std::size_t lag) {
  std::vector<double> differences;
  for (std::size_t i = lag; i < values.size(); ++i) {
    differences.push_back(std::abs(values[i] - values[i - lag]));
  }
  return median_in_place(differences);
}

// Returns the block length with which a permutation keeps the autocorrelation.  Level shifts would
// look like correlation to the usual estimates, but they affect only few differences between
// neighbors. For AR(1) noise the ratio of typical differences at lag 1 and at a long lag is sqrt(1
// - rho).  The length is Politis and White's for that process, see block_length().
std::size_t block_between_shifts(std::span<const double> values) {
  const std::size_t n = values.size();
  const double near = median_difference(values, 1);
  const double far = median_difference(values, std::min<std::size_t>(8, n / 4));
  const double ratio = far > 0 ? near / far : 1;
  const double rho = std::clamp(1 - ratio * ratio, 0.0, 0.95);
  const double odds = 2 * rho / (1 - rho * rho);
  const double length = std::cbrt(1.5 * odds * odds * static_cast<double>(n));
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::round(length)), 1,
                                 n / kLeastSegmentSamples);
}

// Cuts a rotation of `values` into blocks of `block` neighbors (the last one shorter) and writes
// the blocks in random order.
void shuffle_blocks(std::span<const double> values, std::size_t block, Random& random,
                    std::vector<double>& shuffled) {
  const std::size_t n = values.size();
  const auto rotation = static_cast<std::size_t>(random.below(n));
  std::vector<std::size_t> order((n + block - 1) / block);
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(std::span(order), random);
  shuffled.clear();
  for (const std::size_t which : order) {
    const std::size_t end = std::min(n, (which + 1) * block);
    for (std::size_t i = which * block; i < end; ++i) {
      shuffled.push_back(values[(i + rotation) % n]);
    }
  }
}

double relative_shift(double from, double to) {
  return std::abs(from - to) / std::max(std::abs(to), 1e-300);
}

// Searches a series of step times for the last change of its level.
class LastChange {
 public:
  LastChange(std::span<const double> samples, const SteadyOptions& options)
      : samples_(samples), options_(options) {}

  // Returns the first step after the last change among the steps from `first` to `end`.
  std::optional<std::size_t> find(std::size_t first, std::size_t end) const {
    if (end - first < 2 * kLeastSegmentSamples) {
      return std::nullopt;
    }
    const auto part = samples_.subspan(first, end - first);
    const auto ranks = centered_ranks(part);
    const Cut cut = highest_cut(ranks);
    if (!is_significant(cut, ranks, first)) {
      return std::nullopt;
    }
    const std::size_t change = first + cut.at;
    if (const auto later = find(change, end)) {
      return later;
    }
    const double shift = relative_shift(median(part.first(cut.at)), median(part.subspan(cut.at)));
    return shift >= options_.least_shift ? std::optional(change) : find(first, change);
  }

 private:
  // Stops permuting as soon as the result is certain.
  bool is_significant(const Cut& cut, std::span<const double> ranks, std::size_t first) const {
    const std::size_t block = block_between_shifts(ranks);
    std::vector<double> shuffled(ranks.begin(), ranks.end());
    const auto total = static_cast<double>(options_.permutations + 1);
    const double allowed = options_.significance * total;
    double as_high = 1;  // number of permutations as high; the series itself is one
    for (std::size_t i = 0; i < options_.permutations; ++i) {
      if (as_high > allowed) {
        return false;
      }
      Random random(options_.seed, first * options_.permutations + i);
      shuffle_blocks(ranks, block, random, shuffled);
      as_high += highest_cut(shuffled).height >= cut.height ? 1 : 0;
    }
    return as_high <= allowed;
  }

  std::span<const double> samples_;
  const SteadyOptions& options_;
};

std::size_t lead_in(std::span<const double> samples, double least_shift) {
  const auto tail = samples.subspan(samples.size() / 2);
  const double center = median(tail);
  std::vector<double> off;
  for (const double sample : tail) {
    off.push_back(std::abs(sample - center));
  }
  constexpr double kNormal = 1.4826;  // factor from the MAD to the standard deviation of a normal
                                      // distribution
  const double fence = center + std::max(4 * kNormal * median(off), least_shift * std::abs(center));
  std::size_t end = 0;
  while (end < samples.size() / 2 && samples[end] > fence) {
    ++end;
  }
  return end;
}

}  // namespace

std::optional<std::size_t> first_steady_step(std::span<const double> samples,
                                             const SteadyOptions& options) {
  const std::size_t n = samples.size();
  if (n < 2) {
    return std::nullopt;
  }
  const std::size_t start = lead_in(samples, options.least_shift);
  const std::size_t steady = LastChange(samples, options).find(start, n).value_or(start);
  return 2 * (n - steady) >= n ? std::optional(steady) : std::nullopt;
}

}  // namespace paceline::stats
