// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <ATen/core/Tensor.h>

#include "paceline/base/error.h"
#include "paceline/case/case.h"
#include "paceline/networks/batch.h"
#include "paceline/networks/data.h"
#include "paceline/networks/network.h"
#include "paceline/records/run_record.h"

namespace paceline::rank {

/// Returns samples as a batch for a network.  Targets of a regression get the type `dtype` too.
networks::Batch batch_on(at::Device device, at::ScalarType dtype, bool channels_last,
                         const networks::Samples& samples);

/// The data of a case that names a data set, on one rank.
class TrainingData {
 public:
  /// Reads or makes the data.  Throws UsageError if the data cannot be read, or has fewer samples
  /// than a batch.
  TrainingData(const cases::Case& configuration, at::Device device, at::ScalarType dtype);

  /// Returns a batch of the first samples, with which a network is traced.
  networks::Batch probe() const;

  /// Deals the samples to the ranks that train, and keeps those of this rank.
  void deal(int ranks, int rank);

  /// Returns this rank's batch of a step; the first step is 0.
  networks::Batch batch(std::int64_t step);

  const networks::Samples& test() const { return set_.test; }

  /// Returns the least mean loss that a regression can have on all dealt samples; 0 for other data.
  double least_squares_loss() const { return least_squares_loss_; }

  /// Returns samples as a batch for the network.
  networks::Batch batch_of(const networks::Samples& samples) const;

 private:
  const cases::Case& configuration_;
  at::Device device_;
  at::ScalarType dtype_;
  networks::DataSet set_;
  networks::Samples own_;
  std::optional<networks::BatchOrder> order_;
  double least_squares_loss_ = 0;
};

/// Evaluates a network on test samples.  It uses a copy, because the network that trains has gates
/// and gradients.
class Evaluator {
 public:
  /// `copy` must be made as the network that trains, on the same device and of the same types.
  Evaluator(const std::shared_ptr<networks::Network>& copy, const TrainingData& data)
      : copy_(std::dynamic_pointer_cast<networks::Classifier>(copy)), data_(data) {
    PACELINE_CHECK(copy_ != nullptr);  // data are images, as is the network's input
    copy_->eval();
  }

  /// Returns loss and accuracy with the parameters and statistics that `trained` has now.
  records::Evaluation of(const networks::Network& trained);

 private:
  std::shared_ptr<networks::Classifier> copy_;
  const TrainingData& data_;
};

}  // namespace paceline::rank
