// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "paceline/plan/comm_plan.h"

namespace paceline::runtime {

/// The flat buffers of a setup on one rank: one allocation per buffer, or one per range of a buffer
/// that a rank without model work touches.
///
/// After `adopt`, every parameter is a view of its placement, with the strides it had before
/// (channels-last weights stay channels-last).  Collectives take slices of the buffers and copy
/// nothing; several tensors that are neighbors are one slice.
class FlatMemory {
 public:
  /// What the parameters are before the first step.
  enum class Start {
    kParameters,  // those of a network
    kZeros        // zeros: of a replay, whose memory on a CPU takes a page when
                  // the page is first written
  };

  FlatMemory(const plan::Setup& setup, at::Device device, Start start = Start::kParameters);
  /// `ranges`: what to allocate of each buffer, as plan::touched_ranges says.
  FlatMemory(const plan::Setup& setup, const std::vector<std::vector<plan::Slice>>& ranges,
             at::Device device, Start start = Start::kParameters);

  /// Moves the parameters' values into their placements, makes the parameters views of them, and
  /// fills the buffers that start as the parameters; with kZeros nothing is moved.
  /// `parameters` by ParameterId; each dense, in any memory format.
  void adopt(const std::vector<at::Tensor>& parameters);

  /// Fills the buffers that start as the parameters with their values now.
  void start_from_parameters();

  /// [count] view of a slice that lies in one allocation.
  at::Tensor view(const plan::Slice& slice) const;

  /// View of `slice` with the sizes and strides of parameter `id`; the slice has exactly the
  /// parameter's elements.
  at::Tensor shaped(plan::ParameterId id, const plan::Slice& slice) const;

  /// The parameter's gradient slot, shaped; views are made once.
  const at::Tensor& gradient(plan::ParameterId id) const;

  const at::Tensor& parameter(plan::ParameterId id) const {
    return parameters_[plan::index_of(id)];
  }
  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  const plan::Setup& setup() const { return setup_; }

  /// The one-element buffer called `name`; null where there is none.
  const at::Tensor* scalar(std::string_view name) const;

 private:
  struct Range {
    plan::Elements begin = 0;
    at::Tensor values;
  };

  const Range& range_of(const plan::Slice& slice) const;

  plan::Setup setup_;
  Start start_;
  std::vector<std::vector<Range>> buffers_;  // by BufferId, ascending
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> gradients_;
};

/// PyTorch's type for a plan's.
at::ScalarType scalar_type(plan::DType dtype);
/// The plan's type for PyTorch's; UsageError where plans have none.
plan::DType plan_dtype(at::ScalarType type);

}  // namespace paceline::runtime
