// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "paceline/rank/trainer.h"

namespace paceline::rank {

struct RankResult;

/// Norms of weights and of their updates, by which two training runs are compared.  They are
/// computed on a sample of the elements of all parameters with more than one dimension.
/// python/paceline/adapters/norms.py takes the same sample.
class WeightNorms {
 public:
  /// Copies the sampled weights before the first step.  Copies none if the case cannot give the
  /// same parameters as one rank that trains on the whole batch.
  explicit WeightNorms(const Trainer& trainer);

  /// Notes the norms and the loss after the last step.  No operation may be in flight.
  void note_last(RankResult& result) const;

 private:
  const Trainer& trainer_;
  std::vector<at::Tensor> start_;
};

}  // namespace paceline::rank
