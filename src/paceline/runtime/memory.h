// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "paceline/plan/comm_plan.h"

namespace paceline::runtime {

/// The flat buffers of a setup on one rank: one allocation per buffer; on a rank without model
/// work, one allocation per range of a buffer that the rank touches.
///
/// After `adopt`, every parameter is a view of its placement, with the strides it had before
/// (channels-last weights stay channels-last).  Collectives use slices of the buffers without a
/// copy; neighboring tensors form one slice.
class FlatMemory {
 public:
  /// What the buffers of the parameters hold before the first step.
  enum class Start {
    kParameters,  // the values of a network's parameters
    kZeros        // zeros, for a replay: on a CPU a page takes memory only when it is first written
  };

  FlatMemory(const plan::Setup& setup, at::Device device, Start start = Start::kParameters);
  /// `ranges`: the ranges to allocate of each buffer, as plan::touched_ranges returns them.
  FlatMemory(const plan::Setup& setup, const std::vector<std::vector<plan::Slice>>& ranges,
             at::Device device, Start start = Start::kParameters);

  /// Moves the parameters' values into their placements, makes the parameters views of these
  /// placements, and fills the buffers that start as the parameters.  With kZeros no values are
  /// moved. `parameters` is by ParameterId; each tensor is dense, in any memory format.
  void adopt(const std::vector<at::Tensor>& parameters);

  /// Copies the parameters' current values into the buffers that start as the parameters.
  void start_from_parameters();

  /// Returns a view of shape [count] of a slice that lies in one allocation.
  at::Tensor view(const plan::Slice& slice) const;

  /// Returns a view of `slice` with the sizes and strides of parameter `id`; the slice must have
  /// exactly the parameter's number of elements.
  at::Tensor parameter_view(plan::ParameterId id, const plan::Slice& slice) const;

  /// The parameter's gradient slot as a view in the parameter's shape; `adopt` makes these views.
  const at::Tensor& gradient(plan::ParameterId id) const;

  const at::Tensor& parameter(plan::ParameterId id) const {
    return parameters_[plan::index_of(id)];
  }
  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  const plan::Setup& setup() const { return setup_; }

  /// The one-element buffer called `name`; null if there is none.
  const at::Tensor* scalar(std::string_view name) const;

 private:
  struct Range {
    plan::Elements begin = 0;
    at::Tensor values;
  };

  const Range& range_of(const plan::Slice& slice) const;

  plan::Setup setup_;
  Start start_;
  std::vector<std::vector<Range>> buffers_;  // by BufferId; ranges in ascending order
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> gradients_;
};

/// Returns the PyTorch type of a plan's element type.
at::ScalarType scalar_type(plan::DType dtype);
/// Returns the plan's element type for a PyTorch type.  Throws UsageError if plans have no such
/// type.
plan::DType plan_dtype(at::ScalarType type);

}  // namespace paceline::runtime
