// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/training_data.h"

#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/plan/data_traits.h"

namespace paceline::measure {

TrainingData::TrainingData(const records::Configuration& configuration,
                           at::Device device,
                           at::ScalarType dtype)
    : configuration_(configuration),
      device_(device),
      dtype_(dtype),
      set_(networks::load_data(configuration.data, configuration.seed)) {
  if (set_.train.count() < configuration.batch_size) {
    throw UsageError(fmt::format("--batch-size {}: {} has {} samples",
                                 configuration.batch_size,
                                 configuration.data,
                                 set_.train.count()));
  }
}

networks::Batch TrainingData::batch_of(const networks::Samples& samples) const {
  const at::Tensor targets = samples.targets.is_floating_point()
                                 ? samples.targets.to(dtype_)
                                 : samples.targets;
  return {.input = samples.inputs.to(device_, dtype_)
                       .contiguous(configuration_.channels_last
                                       ? at::MemoryFormat::ChannelsLast
                                       : at::MemoryFormat::Contiguous),
          .target = targets.to(device_)};
}

networks::Batch TrainingData::probe() const {
  std::vector<std::int64_t> first(
      static_cast<std::size_t>(configuration_.batch_size));
  std::iota(first.begin(), first.end(), std::int64_t{0});
  return batch_of(set_.train.take(first));
}

// A regression is evaluated on the samples that were dealt, and only on these.
void TrainingData::deal(int ranks, int rank) {
  const auto shards = networks::split_samples(
      set_.groups, configuration_.split, ranks, configuration_.seed);
  const auto& mine = shards[static_cast<std::size_t>(rank)];
  own_ = set_.train.take(mine);
  order_.emplace(
      own_.count(), configuration_.batch_size, configuration_.seed, rank);
  if (plan::find_data_traits(configuration_.data)->regression) {
    std::vector<std::int64_t> all;
    for (const auto& shard : shards) {
      all.insert(all.end(), shard.begin(), shard.end());
    }
    set_.test = set_.train.take(all);
    least_loss_ = networks::least_loss(set_.test);
  }
}

networks::Batch TrainingData::batch(std::int64_t step) {
  return batch_of(own_.take(order_->of(step)));
}

}  // namespace paceline::measure
