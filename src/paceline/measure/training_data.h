// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <ATen/core/Tensor.h>

#include "paceline/networks/batch.h"
#include "paceline/networks/data.h"
#include "paceline/records/configuration.h"

namespace paceline::measure {

/// The data of a case that names some, on one rank.
class TrainingData {
 public:
  /// Reads or makes the data.  Throws UsageError where it cannot be read, or
  /// is not as many samples as a batch.
  TrainingData(const records::Configuration& configuration,
               at::Device device,
               at::ScalarType dtype);

  /// A batch of the first samples, to trace a network with.
  networks::Batch probe() const;

  /// Deals the samples to the ranks that train.
  void deal(int ranks, int rank);

  /// What this rank trains on in a step; the first is 0.
  networks::Batch batch(std::int64_t step);

  const networks::Samples& test() const { return set_.test; }
  at::Device device() const { return device_; }

  /// The least mean loss that a regression can have on all samples of its
  /// split; 0 for other data.
  double least_loss() const { return least_loss_; }

  /// As the network wants them.
  networks::Batch batch_of(const networks::Samples& samples) const;

 private:
  const records::Configuration& configuration_;
  at::Device device_;
  at::ScalarType dtype_;
  networks::DataSet set_;
  networks::Samples own_;
  std::optional<networks::BatchOrder> order_;
  double least_loss_ = 0;
};

}  // namespace paceline::measure
