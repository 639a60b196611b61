// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "paceline/engines/engine.h"
#include "paceline/strategies/ddp.h"

namespace paceline::runtime {

/// PyTorch's own c10d::Reducer, which issues collectives of a plan in place of the executor. It
/// owns these ops (plan::Op), and they count as complete at the end of the backward pass. It is
/// driven as its Python wrapper drives it: there is one unlimited bucket in the first iteration,
/// and from the second iteration on the buckets are rebuilt in the order of gradient arrival. With
/// a static graph, buckets are rebuilt from the third iteration on, and the first iteration's
/// gradients are reduced after its backward pass. Li et al., VLDB 2020, arXiv:2006.15704.
class Reducer {
 public:
  /// `parameters` and `names` are by ParameterId.  All members of the channel must call it.
  Reducer(const std::vector<at::Tensor>& parameters, const std::vector<std::string>& names,
          engines::Channel& channel, const strategies::ReducerOptions& options);
  ~Reducer();

  /// Only the last micro-batch of a step communicates; in earlier micro-batches gradients add up.
  void before_forward(bool last_micro);
  void before_backward(bool last_micro);
  void after_backward();

  /// Bytes of each bucket as the Reducer's own logger reports them, in the order in which the
  /// buckets are reduced.
  std::vector<std::int64_t> bucket_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace paceline::runtime
