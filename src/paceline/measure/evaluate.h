// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "paceline/base/error.h"
#include "paceline/measure/training_data.h"
#include "paceline/networks/network.h"
#include "paceline/records/run_record.h"

namespace paceline::measure {

/// Evaluates a network on test samples, with a copy of its own: the network
/// that trains has gates and gradients.
class Evaluator {
 public:
  /// `copy`: made as the network that trains, on the same device, of its types.
  Evaluator(const std::shared_ptr<networks::Network>& copy,
            const TrainingData& data)
      : copy_(std::dynamic_pointer_cast<networks::Classifier>(copy)),
        data_(data) {
    PACELINE_CHECK(copy_ != nullptr);  // data are images, and so is its input
    copy_->eval();
  }

  /// Loss and accuracy of the parameters and statistics that `trained` has now.
  records::Evaluation of(const networks::Network& trained);

 private:
  std::shared_ptr<networks::Classifier> copy_;
  const TrainingData& data_;
};

}  // namespace paceline::measure
