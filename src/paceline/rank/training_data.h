// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <ATen/core/Tensor.h>

#include "paceline/base/error.h"
#include "paceline/networks/batch.h"
#include "paceline/networks/data.h"
#include "paceline/networks/network.h"
#include "paceline/records/configuration.h"
#include "paceline/records/run_record.h"

namespace paceline::rank {

/// Samples as a network wants them.  The targets of a regression have its type.
networks::Batch batch_on(at::Device device, at::ScalarType dtype, bool channels_last,
                         const networks::Samples& samples);

/// The data of a case that names some, on one rank.
class TrainingData {
 public:
  /// Reads or makes the data.  Throws UsageError where it cannot be read, or
  /// is not as many samples as a batch.
  TrainingData(const records::Configuration& configuration, at::Device device,
               at::ScalarType dtype);

  /// A batch of the first samples, to trace a network with.
  networks::Batch probe() const;

  /// Deals the samples to the ranks that train.
  void deal(int ranks, int rank);

  /// What this rank trains on in a step; the first is 0.
  networks::Batch batch(std::int64_t step);

  const networks::Samples& test() const { return set_.test; }

  /// The least mean loss that a regression can have on all samples of its split; 0 for other data.
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

/// Evaluates a network on test samples, with a copy of its own: the network that trains has gates
/// and gradients.
class Evaluator {
 public:
  /// `copy`: made as the network that trains, on the same device, of its types.
  Evaluator(const std::shared_ptr<networks::Network>& copy, const TrainingData& data)
      : copy_(std::dynamic_pointer_cast<networks::Classifier>(copy)), data_(data) {
    PACELINE_CHECK(copy_ != nullptr);  // data are images, and so is its input
    copy_->eval();
  }

  /// Loss and accuracy of the parameters and statistics that `trained` has now.
  records::Evaluation of(const networks::Network& trained);

 private:
  std::shared_ptr<networks::Classifier> copy_;
  const TrainingData& data_;
};

}  // namespace paceline::rank
