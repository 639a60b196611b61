// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "paceline/rank/trainer.h"

namespace paceline::rank {

struct RankResult;

/// Norms of weights and of their updates, by which two trainings are compared. They are those of a
/// sample of the parameters of more than one dimension,
/// the one that python/paceline/adapters/norms.py takes.
class WeightNorms {
 public:
  /// Takes the weights before the first step.  Takes none where no rank ends with the parameters of
  /// one rank that trained on the whole batch.
  explicit WeightNorms(const Trainer& trainer);

  /// Notes the norms, and the loss, after the last step; nothing may be in flight.
  void note_last(RankResult& result) const;

 private:
  const Trainer& trainer_;
  std::vector<at::Tensor> start_;
};

}  // namespace paceline::rank
