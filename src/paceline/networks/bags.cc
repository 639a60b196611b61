// SPDX-License-Identifier: Apache-2.0
#include "paceline/networks/bags.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "paceline/base/random.h"

namespace paceline::networks {
namespace {

using plan::Elements;
using strategies::EmbeddingJob;

enum class Part : std::uint64_t { kOffsets, kTargets, kInputs, kIds };

// Offsets, targets, dense inputs and the ids of each table have separate random streams in every
// step of every trainer.
Random random_stream_of(const LookupBatchKey& key, Part part, int table = 0) {
  const auto place = static_cast<std::uint64_t>(part) + static_cast<std::uint64_t>(table);
  return Random(key.seed, (static_cast<std::uint64_t>(key.step) << 40U) |
                              (static_cast<std::uint64_t>(key.trainer) << 20U) | place);
}

Elements between(Random& random, Elements least, Elements most) {
  return least + static_cast<Elements>(random.below(static_cast<std::uint64_t>(most - least + 1)));
}

// Draws from Zipf's law on 0 .. rows-1 without a table, by rejection with the integral of x^-s.
// Hoermann and Derflinger, ACM TOMACS 6(3), 1996.
class Zipf {
 public:
  Zipf(Elements rows, double exponent)
      : rows_(static_cast<double>(rows)),
        exponent_(exponent),
        first_(integral(1.5) - 1),
        last_(integral(rows_ + 0.5)),
        accepted_(2 - inverse(integral(2.5) - std::pow(2.0, -exponent))) {}

  Elements operator()(Random& random) const {
    while (true) {
      const double u = last_ + random.uniform() * (first_ - last_);
      const double x = inverse(u);
      const double k = std::clamp(std::floor(x + 0.5), 1.0, rows_);
      if (k - x <= accepted_ || u >= integral(k + 0.5) - std::pow(k, -exponent_)) {
        return static_cast<Elements>(k) - 1;
      }
    }
  }

 private:
  double integral(double x) const {
    return exponent_ == 1 ? std::log(x) : (std::pow(x, 1 - exponent_) - 1) / (1 - exponent_);
  }
  double inverse(double u) const {
    return exponent_ == 1 ? std::exp(u) : std::pow(1 + u * (1 - exponent_), 1 / (1 - exponent_));
  }

  double rows_, exponent_, first_, last_, accepted_;
};

}  // namespace

std::vector<Elements> draw_offsets(const EmbeddingJob& job, const LookupBatchKey& key) {
  Random random = random_stream_of(key, Part::kOffsets);
  const strategies::BagShape& bags = job.bags;
  const Elements lookups = between(random, bags.fewest, bags.most);
  std::vector<Elements> offsets;
  for (Elements begin = 0; begin < lookups;
       begin += between(random, bags.shortest_bag, bags.longest_bag)) {
    offsets.push_back(begin);
  }
  offsets.push_back(lookups);
  return offsets;
}

std::vector<Elements> draw_ids(const EmbeddingJob& job, const LookupBatchKey& key, int table,
                               Elements count) {
  Random random = random_stream_of(key, Part::kIds, job.bags.shared ? 0 : table);
  std::vector<Elements> ids(static_cast<std::size_t>(count));
  const Elements all = job.bags.ids > 0 ? job.bags.ids : job.rows;
  const Zipf zipf(all, job.bags.zipf);
  for (Elements& id : ids) {
    id = job.bags.zipf == 0 ? between(random, 0, all - 1) : zipf(random);
  }
  return ids;
}

Batch draw_dense_batch(const EmbeddingJob& job, const LookupBatchKey& key, const NetworkInfo& info,
                       at::ScalarType dtype) {
  const auto bags = static_cast<std::int64_t>(draw_offsets(job, key).size()) - 1;
  const auto& sample = std::get<ImageSample>(info.sample);
  const at::Tensor target = at::empty({bags}, at::kLong);
  Random targets = random_stream_of(key, Part::kTargets);
  auto* const classes = target.mutable_data_ptr<std::int64_t>();
  std::generate_n(classes, bags, [&] { return between(targets, 0, sample.classes - 1); });
  const at::Tensor input = at::empty({bags, sample.channels}, at::kFloat);
  Random inputs = random_stream_of(key, Part::kInputs);
  std::generate_n(input.mutable_data_ptr<float>(), input.numel(), [&] {
    return static_cast<float>(job.integers ? static_cast<double>(inputs.below(4))
                                           : inputs.uniform());
  });
  return {.input = input.to(dtype), .target = target, .integers = job.integers};
}

}  // namespace paceline::networks
