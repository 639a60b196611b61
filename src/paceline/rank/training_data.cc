// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/training_data.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/plan/data_traits.h"

namespace paceline::rank {
namespace {

constexpr std::int64_t kSamplesAtOnce = 512;

void copy_all(const std::vector<at::Tensor>& from, const std::vector<at::Tensor>& to) {
  PACELINE_CHECK_EQ(from.size(), to.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i].copy_(from[i]);
  }
}

}  // namespace

networks::Batch batch_on(at::Device device, at::ScalarType dtype, bool channels_last,
                         const networks::Samples& samples) {
  const at::Tensor targets =
      samples.targets.is_floating_point() ? samples.targets.to(dtype) : samples.targets;
  return {.input = samples.inputs.to(device, dtype)
                       .contiguous(channels_last ? at::MemoryFormat::ChannelsLast
                                                 : at::MemoryFormat::Contiguous),
          .target = targets.to(device)};
}

TrainingData::TrainingData(const cases::Case& configuration, at::Device device,
                           at::ScalarType dtype)
    : configuration_(configuration),
      device_(device),
      dtype_(dtype),
      set_(networks::load_data(configuration.data, configuration.seed)) {
  if (set_.train.count() < configuration.batch_size) {
    throw UsageError(fmt::format("--batch-size {}: {} has {} samples", configuration.batch_size,
                                 configuration.data, set_.train.count()));
  }
}

networks::Batch TrainingData::batch_of(const networks::Samples& samples) const {
  return batch_on(device_, dtype_, configuration_.channels_last, samples);
}

networks::Batch TrainingData::probe() const {
  std::vector<std::int64_t> first(static_cast<std::size_t>(configuration_.batch_size));
  std::iota(first.begin(), first.end(), std::int64_t{0});
  return batch_of(set_.train.take(first));
}

// A regression is evaluated on exactly the samples that were dealt to all ranks.
void TrainingData::deal(int ranks, int rank) {
  const auto shards =
      networks::split_samples(set_.groups, configuration_.split, ranks, configuration_.seed);
  const auto& mine = shards[static_cast<std::size_t>(rank)];
  own_ = set_.train.take(mine);
  order_.emplace(own_.count(), configuration_.batch_size, configuration_.seed, rank);
  if (plan::find_data_traits(configuration_.data)->regression) {
    std::vector<std::int64_t> all;
    for (const auto& shard : shards) {
      all.insert(all.end(), shard.begin(), shard.end());
    }
    set_.test = set_.train.take(all);
    least_squares_loss_ = networks::least_squares_loss(set_.test);
  }
}

networks::Batch TrainingData::batch(std::int64_t step) {
  return batch_of(own_.take(order_->of(step)));
}

records::Evaluation Evaluator::of(const networks::Network& trained) {
  const at::NoGradGuard no_grad;
  copy_all(trained.parameters(), copy_->parameters());
  copy_all(trained.buffers(), copy_->buffers());
  const networks::Samples& test = data_.test();
  const bool classes = !test.targets.is_floating_point();
  double loss = 0;
  std::int64_t right = 0;
  for (std::int64_t from = 0; from < test.count(); from += kSamplesAtOnce) {
    const std::int64_t count = std::min(kSamplesAtOnce, test.count() - from);
    const networks::Batch batch = data_.batch_of({.inputs = test.inputs.narrow(0, from, count),
                                                  .targets = test.targets.narrow(0, from, count)});
    const at::Tensor outputs = copy_->forward(batch.input);
    loss += networks::mean_loss(outputs, batch.target).item<double>() * static_cast<double>(count);
    if (classes) {
      right += outputs.argmax(1).eq(batch.target).sum().item<std::int64_t>();
    }
  }
  const auto count = static_cast<double>(test.count());
  records::Evaluation evaluation;
  loss = loss / count - data_.least_squares_loss();
  if (std::isfinite(loss)) {
    evaluation.loss = loss;
  }
  if (classes) {
    evaluation.accuracy = static_cast<double>(right) / count;
  }
  return evaluation;
}

}  // namespace paceline::rank
